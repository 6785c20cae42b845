import CommandSupport

/// The cache and its peers, measured in turns.
///
/// Other work of the machine, its caches and its clock then meet all of them alike. Only ratios
/// within one contest mean something.
struct Contest {
  /// One way to do the work.
  struct Contender {
    /// Called before each turn, untimed. A hypervisor pages out data that was unused for seconds,
    /// so a hot turn touches its data here.
    let prepare: () async throws -> Void

    /// One turn; returns what one operation took, in nanoseconds unless the scenario says otherwise.
    let turn: () async throws -> Double

    init(
      prepare: @escaping () async throws -> Void = {}, turn: @escaping () async throws -> Double
    ) {
      self.prepare = prepare
      self.turn = turn
    }
  }

  private let contenders: [Contender]

  init(_ contenders: [Contender]) { self.contenders = contenders }

  /// - Parameters:
  ///   - roundCount: Turns of each contender that count.
  ///   - warmUpCount: Turns of each before those.
  /// - Returns: One distribution for each contender, in their order.
  nonisolated(nonsending) func run(
    roundCount: Int, warmUpCount: Int = 1
  ) async throws -> [Distribution] {
    var values = [[Double]](repeating: [], count: contenders.count)
    for round in 0..<(warmUpCount + roundCount) {
      // Another contender begins each time, so that none always follows the same one.
      for place in contenders.indices {
        try Task.checkCancellation()
        let index = (place + round) % contenders.count
        try await contenders[index].prepare()
        let value = try await contenders[index].turn()
        if round >= warmUpCount { values[index].append(value) }
      }
    }
    return values.map { Distribution($0) }
  }

  /// Nanoseconds for one of `count` operations.
  static func time(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return nanoseconds(since: start) / Double(count)
  }

  /// The same for work that may suspend; it runs where the caller runs.
  nonisolated(nonsending) static func time(
    _ count: Int, _ body: nonisolated(nonsending) () async throws -> Void
  ) async rethrows -> Double {
    let start = ContinuousClock.now
    try await body()
    return nanoseconds(since: start) / Double(count)
  }

  static func nanoseconds(since start: ContinuousClock.Instant) -> Double {
    (ContinuousClock.now - start) / .nanoseconds(1)
  }
}
