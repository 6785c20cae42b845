import Foundation

/// Answers without a decode: pictures that a table has, and refusals of rings.
extension ImageLoader {
  /// Answers a request with the picture that its table has; false if the table has none for all of its
  /// waiters.
  func answerFromTable(_ request: ImageRequest, _ flight: Flight) -> Bool {
    guard let image = request.storedImage() else { return false }
    recorder.hitLate()
    // Under another policy the source has called it unchanged before.
    let side = flight.policy == .normal ? AnswerSide.table : .load
    flight.finish(
      request.key, isFetched: false, with: .success(consume image),
      AnswerFacts(side: side, isStored: true))
    return true
  }

  /// The requests for which the source may be asked: those that do not come from its own answer.
  func withoutRings(
    _ requests: [ImageRequest], _ url: URL, _ flight: Flight
  ) -> [ImageRequest] {
    var refused: Set<ImageKey> = []
    for request in requests {
      do throws(ImageCacheError) { try flight.checkRing(.source(url), for: request) } catch {
        flight.finish(request.key, isFetched: false, with: .failure(error))
        refused.insert(request.key)
      }
    }
    return requests.without(refused)
  }
}
