import Foundation
import ImageSources

/// Requests that need no source: their images are in a table, or their entities have images of their own.
extension LoadRun {
  /// Serves the requests whose image is in the table, or comes from the entity.
  ///
  /// - Parameter image: What the load has fetched, if it has.
  /// - Returns: The other requests; none if no request is left to be answered, since all may leave while an entity works
  ///   on its answer.
  func askEntities(
    _ requests: [ImageRequest], after image: FetchedImage? = nil
  ) async throws -> [ImageRequest] {
    // Where the source has to be asked, not before it has called the table's images unchanged.
    let tablesAnswer = load.policy == .useCache || image?.isUnchanged == true
    var served: Set<ImageKey> = []
    for request in requests {
      // Its family's load stored the image a moment before the request joined.
      if tablesAnswer, answerFromTable(request) {
        served.insert(request.key)
        continue
      }
      // No source will be asked.
      if load.url == nil { request.whenLoading?() }
      do {
        guard let answer = try await askEntity(of: request) else { continue }
        request.whenLoading?()
        var picture = try steps.maker.decoding.picture(from: answer, url: nil)
        try await draw([request], from: &picture)
      } catch {
        try Task.checkCancellation()
        let failure = ImageCacheError(loadEndedBy: error, url: nil)
        load.finish(request.key, isFetched: false, with: .failure(failure))
      }
      served.insert(request.key)
    }
    return load.isWanted ? requests.without(served) : []
  }

  /// The entity's own image.
  ///
  /// - Throws: The entity's error, and that of ``Load/ask(_:for:_:)``.
  private func askEntity(of request: ImageRequest) async throws -> ImageSourceResponse? {
    let start = load.progress.now
    let answer = try await load.ask(.picture(request.key), for: request) {
      try await request.entity.providedImage(for: request.format)
    }
    if answer != nil { load.progress.measure(\.fetch, since: start) }
    return answer
  }

  /// Answers a request with the image that its table has; false if the table has none.
  func answerFromTable(_ request: ImageRequest) -> Bool {
    guard let image = request.storedImage() else { return false }
    steps.recorder.hitLate()
    // Under another policy the source has called it unchanged before.
    let side = load.policy == .useCache ? AnswerSide.table : .load
    load.finish(
      request.key, isFetched: false, with: .success(consume image),
      AnswerFacts(side: side, isStored: true))
    return true
  }
}

extension [ImageRequest] {
  /// The requests for other images; most often all, and then nothing is allocated.
  func without(_ keys: Set<ImageKey>) -> [ImageRequest] {
    keys.isEmpty ? self : filter { !keys.contains($0.key) }
  }
}
