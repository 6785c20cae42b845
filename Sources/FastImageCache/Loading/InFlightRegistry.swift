/// Joins requests by source URL: one load, whatever the number of entities, formats and waiters.
///
/// ``FlightBoard`` decides; this actor keeps what cannot be decided by: the continuations, the
/// streams and the running tasks.
///
/// Invariants, true whenever no method of the actor is running:
/// 1. `waiters` holds exactly the waiters that stand on the board.
/// 2. Whoever removes a waiter from `waiters` answers it, at once and only once.
/// 3. `flights` holds exactly the flights on the board; a task that has left it finds its results
///    unwanted, since numbers are never used again.
package actor InFlightRegistry {
  package typealias Outcome = Result<CachedImage, ImageCacheError>

  private enum Waiter {
    case caller(CheckedContinuation<Outcome, Never>)
    case listener(AsyncStream<ImageProgress>.Continuation)
  }

  private struct Waiting {
    let waiter: Waiter
    /// Where a listener hears of steps until it is answered.
    let progress: FlightProgress?
  }

  private struct Running {
    let flight: Flight
    let task: Task<Void, Never>
    var requests: [ImageKey: ImageRequest] = [:]
  }

  private var board = FlightBoard()
  private var waiters: [WaiterID: Waiting] = [:]
  private var flights: [FlightID: Running] = [:]
  private var lastWaiter = 0
  private var isClosed = false
  private let loader: ImageLoader

  package init(loader: ImageLoader) { self.loader = loader }

  // MARK: Waiting

  /// Waits for a picture, starting its load if nobody else has.
  package func image(for request: ImageRequest, priority: TaskPriority) async -> Outcome {
    let waiter = makeWaiter()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled {
          continuation.resume(returning: .failure(.cancelled))
        } else {
          enter(waiter, .caller(continuation), request, priority)
        }
      }
    } onCancel: {
      // Cannot run before the waiter has entered: the actor does not suspend until then.
      Task { await self.leave(waiter) }
    }
  }

  /// Adds a stream that wants the picture as much as a caller does, until nobody reads it.
  package func addListener(
    _ listener: AsyncStream<ImageProgress>.Continuation, for request: ImageRequest,
    priority: TaskPriority
  ) {
    let waiter = makeWaiter()
    enter(waiter, .listener(listener), request, priority)
    // Set after entering, since a stream that was dropped meanwhile calls the handler at once.
    listener.onTermination = { [weak self] reason in
      guard case .cancelled = reason else { return }
      Task { await self?.leave(waiter) }
    }
  }

  private func makeWaiter() -> WaiterID {
    lastWaiter += 1
    return WaiterID(number: lastWaiter)
  }

  private func enter(
    _ id: WaiterID, _ waiter: Waiter, _ request: ImageRequest, _ priority: TaskPriority
  ) {
    if isClosed { return answer(waiter, .failure(.closed)) }
    // A load may have ended between the caller's look into the table and this line.
    if let image = request.table.cachedImage(for: request.key) {
      loader.journal.hitLate()
      return answer(waiter, .success(image))
    }
    let joined = board.join(
      id, key: request.key, origin: request.origin, priority: priority,
      version: { request.sourceID(inFormat: $0) })
    if joined.isNewFlight { start(joined.flight, for: request, priority) }
    if joined.isNewProduct { flights[joined.flight]?.requests[request.key] = request }
    if !joined.isNewFlight { loader.journal.joined(request) }
    let flight = flights[joined.flight]?.flight
    if let raised = joined.raisedPriority { flight?.urgency.raise(to: raised) }
    if case .listener(let stream) = waiter {
      flight?.progress.add(stream, for: id)
      waiters[id] = Waiting(waiter: waiter, progress: flight?.progress)
    } else {
      waiters[id] = Waiting(waiter: waiter, progress: nil)
    }
  }

  private func start(_ id: FlightID, for request: ImageRequest, _ priority: TaskPriority) {
    let flight = Flight(id: id, url: request.url, urgency: Urgency(priority))
    // The task is this registry's: it is cancelled when the last waiter leaves, or at close.
    let task = Task(name: "image load \(id.number)", priority: priority) { [loader] in
      await loader.run(flight, for: self)
    }
    flights[id] = Running(flight: flight, task: task)
  }

  private func leave(_ id: WaiterID) {
    guard let left = board.leave(id) else { return }
    answer([id], .failure(.cancelled))
    if left.cancelsFlight { cancel(left.flight) }
  }

  private func cancel(_ id: FlightID) {
    guard let running = flights.removeValue(forKey: id) else { return }
    running.task.cancel()
    for request in running.requests.values { loader.journal.cancelled(request) }
  }

  // MARK: The loader's side

  /// What the flight has to deliver and was not told yet, oldest wish first.
  package func take(_ id: FlightID) -> [ImageRequest] {
    board.take(id).compactMap { flights[id]?.requests[$0] }
  }

  /// Whether the flight was asked for something that it was not told yet.
  package func hasRequests(_ id: FlightID) -> Bool { board.hasRequests(id) }

  /// Whether the result may be stored.
  package func storesResult(_ key: ImageKey, of id: FlightID) -> Bool {
    board.storesResult(key, of: id)
  }

  /// Answers all who wait for one picture of a flight.
  package func finish(_ key: ImageKey, of id: FlightID, with outcome: Outcome) {
    answer(board.finish(key, of: id), outcome)
    flights[id]?.requests[key] = nil
  }

  /// Ends a flight unless something new was asked of it.
  package func retire(_ id: FlightID) -> Bool {
    guard board.retire(id) else { return false }
    flights[id] = nil
    return true
  }

  /// Ends a flight and tells all who still wait for it.
  package func fail(_ id: FlightID, with error: ImageCacheError) {
    answer(board.fail(id), .failure(error))
    flights[id] = nil
  }

  // MARK: The cache's side

  /// Answers everybody who waits for a picture that was stored by hand.
  package func satisfy(_ key: ImageKey, with image: CachedImage) {
    let (waiting, abandoned) = board.supersede(key)
    answer(waiting, .success(image))
    for id in abandoned { flights.removeValue(forKey: id)?.task.cancel() }
  }

  /// Keeps loads under way from storing what is being removed.
  package func forbidStoring(_ removal: Removal) { board.forbidStoring(removal) }

  /// Cancels all flights and answers all waiters; later ones are refused.
  package func close() {
    isClosed = true
    let (ids, waiting) = board.failAll()
    let running = ids.compactMap { flights.removeValue(forKey: $0) }
    for flight in running { flight.task.cancel() }
    answer(waiting, .failure(.closed))
  }

  /// Flights and waiters under way; both are zero when nothing was left behind.
  package var load: (flights: Int, waiters: Int) { (board.flightCount, waiters.count) }

  private func answer(_ ids: [WaiterID], _ outcome: Outcome) {
    for id in ids {
      guard let waiting = waiters.removeValue(forKey: id) else { continue }
      // Before the answer, so that no late step follows the last event.
      waiting.progress?.remove(id)
      answer(waiting.waiter, outcome)
    }
  }

  private nonisolated func answer(_ waiter: Waiter, _ outcome: Outcome) {
    switch waiter {
    case .caller(let continuation):
      continuation.resume(returning: outcome)
    case .listener(let stream):
      switch outcome {
      case .success(let image): stream.yield(.finished(image))
      case .failure(let error): stream.yield(.failed(error))
      }
      stream.finish()
    }
  }
}
