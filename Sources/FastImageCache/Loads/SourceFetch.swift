import Foundation
import ImageSources
import LoadQueue
import TableStore

/// Asks the source for a load, and says what its answer means.
struct SourceFetch: Sendable {
  let source: any ImageSource
  let namespace: ImageID
  let renderer: ImageRenderer
  let recorder: CacheRecorder
  let encodedByteLimit: Int
  let partials: PartialDownloads

  /// Takes what earlier loads have left of the original, to be continued.
  ///
  /// - Parameter isAnew: Whether bytes that were continued turned out to be no image: all bytes are wanted again.
  func begin(
    _ requests: [ImageRequest], _ load: Load, _ original: OriginalAccess?, isAnew: Bool
  ) async -> Download {
    for request in requests { request.whenLoading?() }
    load.noteAsked()
    let query = original?.query ?? requests[0].originalQuery(in: namespace)
    return await Download.begin(
      of: query.name, for: query.owner, with: requests[0].conditions.headers, on: partials,
      and: load.storage > .none ? original?.download() : nil,
      isAnew: isAnew || load.policy == .reload,
      painter: painter(for: load))
  }

  /// Draws previews until the fetch ends; `nil` where a hook may make something else of the image.
  private func painter(for load: Load) -> PreviewPainter? {
    guard renderer.hook == nil else { return nil }
    let progress = load.progress
    return PreviewPainter(
      renderer: renderer, clock: progress.clock, progress: progress, fetch: progress.beginFetch())
  }

  /// Asks the source; the load holds the permit that the source needs.
  ///
  /// - Parameters:
  ///   - known: The kept original, for the source to be asked about.
  ///   - original: The load's part in the store of originals.
  ///   - download: What arrives, and the partial that it continues.
  /// - Throws: ``OutOfReach``, and ``ImageCacheError``.
  func image(
    at url: URL, for requests: [ImageRequest], _ load: Load, _ plan: LoadPlan,
    known: KnownOriginal?, _ original: OriginalAccess?, into download: Download
  ) async throws -> FetchedImage {
    defer { load.progress.endFetch() }
    let request = sourceRequest(url, for: requests, load, known, download)
    load.progress.measure { [knowsOriginal = known != nil] in
      $0.ask(knowsOriginal: knowsOriginal)
    }
    let start = load.progress.now
    let response: ImageSourceResponse
    do {
      defer { load.progress.measure(\.fetch, since: start) }
      response = try await load.ask(.source(url), for: requests[0]) {
        try await source.response(to: request)
      }
    } catch {
      receive(download.receivedByteCount, load)
      if error is OutOfReach { throw error }
      if let original, let known, known.isOfVersion, plan.answers(error),
        known.terms.mayAnswerRequest(requests[0].conditions.headers),
        let image = try await original.image(of: known, renderer.decoding, url: url)
      {
        return FetchedImage(image, of: known, isStale: true)
      }
      await note(refusal: error, to: requests, load, known, original)
      throw ImageCacheError.sourceFailed(url, underlying: CircularImageError(in: error) ?? error)
    }
    let byteCount = max(
      download.receivedByteCount, response.byteCount - response.earlierByteCount)
    receive(byteCount, load)
    let need = load.permit.need
    load.progress.measure { $0.source.note(response, need: need) }
    let image = try await answer(
      response, url, requests[0].conditions.headers, load, known, original, download)
    recorder.fetched(url, byteCount: byteCount, in: load.progress.now - start)
    return image
  }

  private func receive(_ byteCount: Int, _ load: Load) {
    recorder.received(byteCount: byteCount)
    load.progress.measure { $0.fetchedByteCount += byteCount }
  }

  private func sourceRequest(
    _ url: URL, for requests: [ImageRequest], _ load: Load, _ known: KnownOriginal?,
    _ download: Download
  ) -> ImageSourceRequest {
    var request = ImageSourceRequest(
      url: url, urgency: load.urgency, byteCountLimit: encodedByteLimit,
      permit: ReachingPermit(
        permit: load.permit, scope: requests[0].conditions.scope, progress: load.progress),
      firstEntity: requests.first?.key.entity
    ) { [progress = load.progress] step in
      // Not the load: a source may keep its request, and the load leads to the source.
      progress.report(ImageProgress(step))
    }
    let conditions = requests[0].conditions
    (request.account, request.avoids) = (conditions.account, conditions.avoids)
    request.headers = conditions.headers
    request.acceptedTypes = renderer.decoding.acceptedTypes
    // A partial is younger than a kept original, whose server sent it as another one.
    request.known = download.known ?? known
    request.measure = { [progress = load.progress] times in
      progress.measure { $0.network = $0.network.map { $0 + times } ?? times }
    }
    request.makeBuffer = { [download, encodedByteLimit] in
      download.begin($0, continuing: $1, byteCountLimit: encodedByteLimit)
    }
    if load.policy == .reload,
      !request.headers.keys.contains(where: { $0.lowercased() == "cache-control" })
    {
      // For the caches on the way: RFC 9111 section 5.2.1.4.
      request.headers["Cache-Control"] = "no-cache"
    }
    return request
  }

  /// The meaning of the source's answer for the load.
  ///
  /// - Parameter headers: The fields that the requests ask for.
  private func answer(
    _ response: ImageSourceResponse, _ url: URL, _ headers: [String: String], _ load: Load,
    _ known: KnownOriginal?, _ kept: OriginalAccess?, _ download: Download
  ) async throws -> FetchedImage {
    // Otherwise the source was told of the partial.
    if download.known == nil, let known, known.isWhole, let newer = response.newerTerms(of: known) {
      var terms = known.terms.confirmed(by: newer)
      terms.recordRequest(headers)
      if let kept, let body = known.body { await kept.confirm(terms, body: body) }
      // Sent whole once more, it has arrived for nothing.
      download.finish()
      return FetchedImage(
        try renderer.decoding.image(from: .encoded(known.bytes), url: url, isEarlier: true),
        of: known,
        byteOrigin: .unchanged, isStale: false)
    }
    // Another request's answer may differ without a change.
    let mayDiffer = known?.terms.mayAnswerRequest(headers) == true || load.policy != .useCache
    var (original, isContinued) = (response.original, response.isContinued)
    var earlierByteCount = response.earlierByteCount
    if let whole = download.known, whole.isWhole, let newer = response.newerTerms(of: whole) {
      // An earlier load had all bytes, and ended before they were decoded.
      (original, isContinued) = ((whole.bytes, whole.terms.confirmed(by: newer)), true)
      if case .unchanged = response.content { earlierByteCount = whole.bytes.count }
    }
    let image = try renderer.decoding.image(
      from: isContinued ? original.map { .encoded($0.bytes) } ?? response : response, url: url,
      isEarlier: isContinued)
    original?.terms.recordRequest(headers)
    // Files and data URLs are as near as a store is.
    let isKept = load.permit.need == .network
    return FetchedImage(
      image: image, origin: mayDiffer ? .changed : .source,
      byteOrigin: earlierByteCount == 0
        ? .source
        : .resumed(after: earlierByteCount, of: max(earlierByteCount, response.byteCount)),
      isContinued: isContinued, original: isKept ? original : nil,
      download: response.buffer == nil ? nil : download.disk)
  }

  /// Notes a server's refusal to say whether a kept original is still the present one. Tables keep its images as stale
  /// ones.
  private func note(
    refusal error: any Error, to requests: [ImageRequest], _ load: Load,
    _ known: KnownOriginal?, _ original: OriginalAccess?
  ) async {
    guard load.policy != .useCache || known != nil, let status = error.refusingStatus,
      let original,
      await original.refuse(status: status, known: known, urgency: load.urgency)
    else { return }
    for request in requests {
      for table in request.tables.all {
        // A table that cannot be marked keeps its image.
        _ = try? await table.write { store throws(TableError) in
          try store.markStale(request.key.entity.tableID)
        }
      }
    }
  }
}

/// The permit of a load, for its source: none of a resource that the requests do not allow.
struct ReachingPermit: SourcePermit {
  let permit: LoadPermit
  let scope: LoadOptions.Scope
  /// Hears that the source is asked.
  var progress: LoadProgress?

  func acquire(_ need: LoadNeed) async throws {
    guard scope.covers(need) else { throw OutOfReach() }
    try await permit.acquire(need)
    // A request to a web server goes out now, perhaps long after the load came for its turn.
    progress?.noteAsked()
  }

  func giveUp() { permit.giveUp() }
}

/// An image as a load found it: kept, or as the source's answer.
struct FetchedImage {
  enum Origin: Hashable, Sendable {
    /// Bytes of an earlier load. They are dropped if they turn out to be no image.
    case kept
    case source
    /// The source's, which differ from those of earlier images.
    case changed
  }

  var image: SourceImage
  let origin: Origin
  /// For those who follow the load.
  let byteOrigin: ByteOrigin
  /// Whether the kept original was stale.
  var isStale = false
  /// How the store knows kept bytes again.
  var keptBody: UInt64?
  /// Whether some of the source's bytes are of an earlier answer. Then they are asked for once more if
  /// they turn out to be no image.
  var isContinued = false
  /// The original for the store, once the image is decoded.
  var original: (bytes: Data, terms: ResponseMetadata)?
  /// What of it may be on disk.
  var download: OriginalDownload?

  /// Whether the source called the kept original the present one: then images in tables answer, whatever the policy.
  var isUnchanged: Bool { byteOrigin == .unchanged }
}

extension FetchedImage {
  /// The image of a kept original.
  init(
    _ image: SourceImage, of kept: KnownOriginal, byteOrigin: ByteOrigin = .original,
    isStale: Bool
  ) {
    self.init(
      image: image, origin: .kept, byteOrigin: byteOrigin, isStale: isStale,
      keptBody: kept.body)
  }
}

extension ImageSourceResponse {
  /// The bytes, to be kept, with their terms.
  ///
  /// None where something stands beside the pixels: the next image of the same bytes would lack it.
  fileprivate var original: (bytes: Data, terms: ResponseMetadata)? {
    guard metadata == nil else { return nil }
    return switch content {
    case .encoded(let bytes): (bytes, ResponseMetadata(received: Date()))
    case .arrived(let buffer): (buffer.bytes, buffer.terms)
    case .bitmap, .unchanged: nil
    }
  }

  /// The terms of an answer that says, or shows by its bytes, that an original is the present one.
  fileprivate func newerTerms(of known: KnownOriginal) -> ResponseMetadata? {
    if case .unchanged(let terms) = content, metadata == nil { return terms }
    return original.flatMap { $0.bytes == known.bytes ? $0.terms : nil }
  }

  fileprivate var buffer: DownloadBuffer? {
    if case .arrived(let buffer) = content { buffer } else { nil }
  }

  /// Whether some of the bytes are of an earlier answer.
  fileprivate var isContinued: Bool { buffer?.isContinued == true }

  /// How many of the first bytes earlier loads have left.
  fileprivate var earlierByteCount: Int { buffer?.earlierByteCount ?? 0 }

  /// The bytes that are there.
  fileprivate var byteCount: Int {
    switch content {
    case .encoded(let bytes): bytes.count
    case .arrived(let buffer): buffer.byteCount
    case .bitmap, .unchanged: 0
    }
  }
}

extension Error {
  /// The status of a server that has the original no more, or not for this account.
  var refusingStatus: Int? {
    if let failure = self as? ImageSourceChain.Failure {
      return failure.errors.last?.refusingStatus
    }
    guard case .httpStatus(let status)? = self as? ImageSourceError else { return nil }
    return [401, 403, 404, 410].contains(status) ? status : nil
  }
}

extension LoadPlan {
  /// Whether the recalled original answers after this error of the source.
  ///
  /// Of a chain the last source's error counts: the others had nothing.
  fileprivate func answers(_ error: any Error) -> Bool {
    if let failure = error as? ImageSourceChain.Failure {
      return failure.errors.last.map(answers) ?? false
    }
    return switch error as? ImageSourceError {
    case .network, .networkRefused, .offline, .timedOut: answersFailures || answersUnreachable
    // The server, or one between, failed: RFC 5861 section 4.
    case .httpStatus(500), .httpStatus(502...504), .truncatedBody: answersFailures
    default: false
    }
  }
}
