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

    /// The same work with another preparation.
    func prepared(by prepare: @escaping () async throws -> Void) -> Contender {
      Contender(prepare: prepare, turn: turn)
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
    try await rounds(roundCount: roundCount, warmUpCount: warmUpCount).map { Distribution($0) }
  }

  /// The same, with the values of each contender in the order of the rounds: quotients of two values
  /// of one round are steadier than those of medians on a machine whose speed changes.
  nonisolated(nonsending) func rounds(
    roundCount: Int, warmUpCount: Int = 1
  ) async throws -> [[Double]] {
    var values = [[Double]](repeating: [], count: contenders.count)
    for round in 0..<(warmUpCount + roundCount) {
      // In another order each time: one that always followed the same contender would always find the
      // processor's caches as that one leaves them.
      for index in contenders.indices.shuffled() {
        try Task.checkCancellation()
        try await contenders[index].prepare()
        let value = try await contenders[index].turn()
        if round >= warmUpCount { values[index].append(value) }
      }
    }
    return values
  }

  /// Takes part with `batch` of `total` things in each turn.
  static func contender(
    of total: Int, batch: Int, _ body: @escaping (Range<Int>) throws -> Void
  ) -> Contender {
    var turn = 0
    return Contender {
      let slice = slice(of: total, turn: turn, count: batch)
      turn += 1
      return try time(slice.count) { try body(slice) }
    }
  }

  /// The things of one turn; turns go through all of them, and begin again at the end.
  static func slice(of total: Int, turn: Int, count: Int) -> Range<Int> {
    let count = min(count, total)
    let start = turn * count % (total - count + 1)
    return start..<(start + count)
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
