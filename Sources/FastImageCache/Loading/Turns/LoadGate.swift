import Locking

/// Bounds how many loads hold encoded bytes at the same time.
///
/// A load passes a gate before it asks its source and leaves once its pictures are drawn. So a
/// thousand rows scrolled by cost the memory of a few files, not of a thousand: files that are read
/// faster than they are decoded wait outside, unread.
///
/// Invariants:
/// 1. `waiting` holds exactly the loads that wait in `admission`; who takes one out, under the lock,
///    answers it, outside the lock.
/// 2. A load that was admitted leaves exactly once; see ``LoadPermit``.
/// 3. A load's cancellation is set before the lock is taken to withdraw it, and read under the lock
///    when it comes to wait: so a cancelled load either never waits or is withdrawn.
final class LoadGate: Sendable {
  private struct State {
    var admission: Admission
    var waiting: [Admission.JobID: @Sendable (Bool) -> Void] = [:]
  }

  private let state: Lock<State>

  init(width: Int) {
    state = Lock(State(admission: Admission(width: width, byteBudget: 0)))
  }

  /// Loads that wait for their turn at this moment, and those that were let in.
  var counts: (waiting: Int, inside: Int) {
    state.withLock { ($0.waiting.count, $0.admission.runningCount) }
  }

  /// Runs `body` when its turn comes, the most urgent load first.
  ///
  /// - Parameter willWait: Called if the turn does not come at once.
  /// - Throws: `CancellationError` when the task is cancelled while it waits, and what `body`
  ///   throws.
  func pass<Value>(
    urgency: Urgency, willWait: () -> Void = {}, _ body: () async throws -> Value
  ) async throws -> Value {
    let id = try await enter(urgency, willWait: willWait)
    defer { leave(id) }
    return try await body()
  }

  /// Waits for a turn, the most urgent load first; whoever was let in leaves once.
  ///
  /// - Throws: `CancellationError` when the task is cancelled while it waits.
  func enter(
    _ urgency: Urgency, willWait: () -> Void = {}
  ) async throws -> Admission.JobID {
    let id = state.withLock { $0.admission.makeJobID() }
    let cancellation = Cancellation()
    let observation = urgency.observe { self.move(id, urgency) }
    let isAdmitted = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if !admits(id, urgency, cancellation, continuation) { willWait() }
      }
    } onCancel: {
      cancellation.set()
      withdraw(id)
    }
    urgency.endObservation(observation)
    guard isAdmitted else { throw CancellationError() }
    return id
  }

  func leave(_ id: Admission.JobID) {
    resume { $0.admission.finish(id) }
  }

  /// Answers the continuation at once, or has it wait: `false` says so.
  private func admits(
    _ id: Admission.JobID, _ urgency: Urgency, _ cancellation: Cancellation,
    _ continuation: CheckedContinuation<Bool, Never>
  ) -> Bool {
    var isRefused = false
    var waits = false
    resume { state in
      isRefused = cancellation.isSet
      guard !isRefused else { return [] }
      state.waiting[id] = { continuation.resume(returning: $0) }
      // A load declares no bytes, so that no budget can refuse it.
      let started = try? state.admission.submit(id, priority: urgency.priority, byteCount: 0)
      waits = started?.contains(id) != true
      return started ?? []
    }
    if isRefused { continuation.resume(returning: false) }
    return !waits
  }

  private func move(_ id: Admission.JobID, _ urgency: Urgency) {
    // Read under the lock, so that the last of several changes is the one that stays.
    resume { $0.admission.move(id, to: urgency.priority) }
  }

  private func withdraw(_ id: Admission.JobID) {
    var refused: (@Sendable (Bool) -> Void)?
    resume { state in
      guard let started = state.admission.withdraw(id) else { return [] }
      refused = state.waiting.removeValue(forKey: id)
      return started
    }
    refused?(false)
  }

  /// Applies an event and lets those in whom it admits.
  private func resume(_ event: (inout State) -> [Admission.JobID]) {
    let admitted = state.withLock { state in
      event(&state).compactMap { state.waiting.removeValue(forKey: $0) }
    }
    for answer in admitted { answer(true) }
  }
}
