import ImageSources
import Locking

/// The loader's side of ``InFlightRegistry``: all that a load asks and tells.
extension Flight {
  /// Hands out the requests that wait and were not handed out yet, the oldest first.
  func take() -> [ImageRequest] {
    registry.state.withLock { $0.board.take(id) }
  }

  /// Hands out a request for an image that joined with another address than the flight's.
  func takeAlternate(for key: ImageKey) -> ImageRequest? {
    registry.state.withLock { $0.board.takeAlternate(key, of: id) }
  }

  /// Whether ``take()`` would hand out a request.
  var hasRequests: Bool {
    registry.state.withLock { $0.board.hasRequests(id) }
  }

  /// Whether the flight has not ended.
  var isUnderWay: Bool {
    registry.state.withLock { $0.board.isUnderWay(id) }
  }

  /// Whether the flight has waiters.
  var isWanted: Bool {
    registry.state.withLock { $0.board.isWanted(id) }
  }

  /// Whether the flight has waiters for an image.
  func isWanted(for key: ImageKey) -> Bool {
    registry.state.withLock { $0.board.isWanted(id, for: key) }
  }

  /// Notes that the source is asked now: a reload that comes from here on asks anew.
  func noteAsked() { registry.state.withLock { $0.board.noteAsked(id) } }

  /// Whether the flight's original may be kept; see ``FlightBoard/keepsOriginal(of:_:)``.
  func keepsOriginal(of entity: ImageID) -> Bool {
    registry.state.withLock { $0.board.keepsOriginal(of: entity, id) }
  }

  /// Answers all waiters for one image of the flight.
  ///
  /// - Parameter isFetched: Whether the image was made of the flight's fetch.
  func finish(
    _ key: ImageKey, isFetched: Bool, with outcome: consuming InFlightRegistry.Outcome,
    _ facts: AnswerFacts = .table
  ) {
    let waiters = registry.step { $0.board.finish(key, of: id, isFetched: isFetched) }
    if case .failure(let error) = outcome, !waiters.isEmpty { registry.recorder.failed(key, error) }
    registry.answer(waiters, outcome, facts)
  }

  /// Ends the flight unless ``take()`` would hand out a request.
  func retire() -> Bool {
    registry.step { $0.board.retire(id) }
  }

  /// Ends the flight and answers all its waiters.
  ///
  /// - Parameter error: Asked only if there is a waiter: most flights that fail were given up before.
  func fail(with error: @autoclosure () -> ImageCacheError) {
    let (waiters, requests) = registry.step { $0.board.fail(id) }
    if waiters.isEmpty { return }
    let error = error()
    for request in requests { registry.recorder.failed(request.key, error) }
    registry.answer(waiters, .failure(error))
  }
}
