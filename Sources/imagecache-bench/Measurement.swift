import CommandSupport

/// Times an operation: in batches, so that reading the clock costs little against what is timed,
/// and after a warm-up, so that caches and allocators are in the state that lasts.
struct Measurement: Sendable {
  /// What a scenario found, in nanoseconds for one operation.
  struct Outcome: Sendable {
    /// One value for each run: the mean of its batch.
    let nanoseconds: Distribution
    /// Operations in a run.
    let batchSize: Int
  }

  /// Operations timed together.
  let batchSize: Int

  /// Batches that count.
  let runCount: Int

  /// Batches before those.
  let warmUpCount: Int

  init(batchSize: Int, runCount: Int, warmUpCount: Int? = nil) {
    self.batchSize = batchSize
    self.runCount = runCount
    self.warmUpCount = warmUpCount ?? max(runCount / 10, 1)
  }

  /// - Parameter operation: Receives the number of the operation, counted over all batches.
  func run(_ operation: (Int) throws -> Void) throws -> Outcome {
    var values: [Double] = []
    values.reserveCapacity(runCount)
    var number = 0
    for run in -warmUpCount..<runCount {
      try Task.checkCancellation()
      let start = ContinuousClock.now
      for _ in 0..<batchSize {
        try operation(number)
        number += 1
      }
      if run >= 0 { values.append(perOperation(since: start)) }
    }
    return Outcome(nanoseconds: Distribution(values), batchSize: batchSize)
  }

  /// The same for an operation that may suspend; it runs where the caller runs.
  nonisolated(nonsending) func run(
    _ operation: nonisolated(nonsending) (Int) async throws -> Void
  ) async throws -> Outcome {
    var values: [Double] = []
    values.reserveCapacity(runCount)
    var number = 0
    for run in -warmUpCount..<runCount {
      try Task.checkCancellation()
      let start = ContinuousClock.now
      for _ in 0..<batchSize {
        try await operation(number)
        number += 1
      }
      if run >= 0 { values.append(perOperation(since: start)) }
    }
    return Outcome(nanoseconds: Distribution(values), batchSize: batchSize)
  }

  private func perOperation(since start: ContinuousClock.Instant) -> Double {
    (ContinuousClock.now - start) / .nanoseconds(1) / Double(batchSize)
  }
}
