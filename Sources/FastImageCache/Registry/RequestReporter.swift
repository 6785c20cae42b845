import Locking

/// Makes the report of one request, right before its answer; there is one only where somebody reads it.
final class RequestReporter: Sendable {
  typealias Instant = ContinuousClock.Instant

  private let start: Instant
  private let key: ImageKey
  private let policy: LoadOptions.CachePolicy
  private let hasTable: Bool
  private let recorder: CacheRecorder
  private let made = Lock<LoadReport?>(nil)

  /// - Parameter start: The time of the call.
  init(of request: ImageRequest, since start: Instant, _ recorder: CacheRecorder) {
    (self.start, self.recorder) = (start, recorder)
    (key, policy, hasTable) = (request.key, request.policy, request.table.isStored)
  }

  /// The reporter of a request that nobody asked to report; `nil` where nobody listens to events.
  ///
  /// No initialiser: one that fails has allocated the object before.
  static func forListeners(
    of request: ImageRequest, in registry: InFlightRegistry
  ) -> RequestReporter? {
    guard registry.recorder.hasListeners else { return nil }
    return RequestReporter(
      of: request, since: registry.clock.now, registry.recorder)
  }

  /// `nil` before the answer, and where that is an error.
  var report: LoadReport? { made.withLock { $0 } }

  /// A report that is made when its request is answered.
  struct Pending: Sendable {
    let reporter: RequestReporter
    let isCoalesced: Bool
    let progress: LoadProgress

    /// Makes the report, and tells the listeners of events.
    func make(of answer: AnswerFacts) {
      reporter.answer(with: answer, isCoalesced: isCoalesced, progress)
    }
  }

  private func answer(with answer: AnswerFacts, isCoalesced: Bool, _ progress: LoadProgress) {
    let (meter, previewCount) = progress.metered
    let facts = LoadFacts(
      answer: answer, source: meter.source, policy: policy, hasTable: hasTable,
      isCoalesced: isCoalesced)
    let report = LoadReport(
      facts, meter, total: progress.clock.now - start,
      firstPreview: meter.firstPreview.map { $0 - start.ofProcess }, previewCount: previewCount)
    made.withLock { $0 = report }
    recorder.send(.loaded(entity: key.entity, format: key.format, report))
  }
}
