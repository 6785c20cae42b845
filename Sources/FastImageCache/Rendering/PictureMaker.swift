import Foundation
import ImageCodecs
import ImageDrawing
import ImageSources
import LoadQueue
import Pixels
import TableStore

/// An image that was drawn for one request.
struct DrawnImage: Sendable {
  let slot: SealedSlot
  let metadata: Data
  /// False where the hook lets the image be delivered only.
  let mayBeStored: Bool
}

/// A drawn image, or the error of its request.
typealias DrawnResult = Result<DrawnImage, ImageCacheError>

/// Decodes and draws on worker threads, as many images at once as cores and memory allow.
struct PictureMaker: Sendable {
  let decoders: [any ImageDecoder]
  let limits: DecodingLimits
  let damagedImages: DamagedImagePolicy
  let workers: WorkerPool
  let recorder: CacheRecorder
  let willStore: ImageHook?

  /// Chooses the decoder by the first bytes and has it read the header; decodes nothing.
  ///
  /// - Parameter isEarlier: Whether some of the bytes are of an earlier answer. Damaged ones are refused then, since
  ///   the source has others.
  func picture(
    from response: ImageSourceResponse, url: URL?, isEarlier: Bool = false
  ) throws(ImageCacheError) -> SourcePicture {
    var picture = try header(of: response.content, url, isEarlier)
    if let metadata = response.metadata { picture.metadata = metadata }
    return picture
  }

  private func header(
    of content: ImageSourceResponse.Content, _ url: URL?, _ isEarlier: Bool
  ) throws(ImageCacheError) -> SourcePicture {
    switch content {
    case .bitmap(let bitmap):
      return SourcePicture(url: url, content: .bitmap, decoded: bitmap)
    case .arrived(let arrival):
      return try header(of: .encoded(arrival.bytes), url, isEarlier)
    case .unchanged:
      // The loader has taken the answers of sources that it had told what is kept.
      throw .undecodable(url, reason: .damaged("Nothing is kept that could be unchanged."))
    case .encoded(let data):
      do {
        try limits.check(encodedByteCount: data.count)
        let decoder = try decoders.decoder(for: data)
        let header = try decoder.header(of: data)
        try limits.check(header.size)
        var picture = SourcePicture(
          url: url, content: .encoded(data, decoder, header), decoded: nil)
        if !isEarlier { picture.damagedImages = damagedImages }
        return picture
      } catch {
        throw ImageCacheError(error, url: url)
      }
    }
  }

  /// Draws each request, after a decode if the one that is there does not suffice for all.
  ///
  /// Where one decode for all would be too large, each request gets its own; its result is an error if
  /// that is too large as well.
  ///
  /// Invariant: no result is delivered before the last request is drawn. A load that has answered one
  /// waiter is not cancelled when the others leave, and would draw their images for nobody.
  ///
  /// - Parameters:
  ///   - family: Requests that will be drawn later; the decode is large enough for them, if it can be.
  ///   - willDeliver: Called with the decode on the same worker before the first result, if there is a decode.
  ///   - deliver: Takes each result. An image is delivered on a thread of the worker that drew it,
  ///     and `deliver` may block that.
  /// - Returns: What `deliver` returned for each request, in their order.
  /// - Throws: ``ImageCacheError`` when there is nothing to draw from, or when the calling task was
  ///   cancelled.
  func draw<Value: Sendable>(
    _ requests: [ImageRequest], besides family: [ImageRequest] = [],
    from picture: inout SourcePicture, urgency: Urgency, progress: FlightProgress? = nil,
    willDeliver: (@Sendable (SourcePicture) -> Void)? = nil,
    deliver: @escaping @Sendable (ImageRequest, DrawnResult) -> Value
  ) async throws(ImageCacheError) -> [Value] {
    let deliverAll: @Sendable (SourcePicture, [DrawnResult]) -> [Value] = { picture, results in
      if picture.decoded != nil { willDeliver?(picture) }
      return zip(requests, results).map(deliver)
    }
    do throws(ImageCacheError) {
      return try await drawTogether(
        requests, besides: family, from: &picture, urgency, progress, then: deliverAll)
    } catch {
      guard case .imageTooLarge = error else { throw error }
      if !family.isEmpty {
        // Nobody waits for the family: it gets decodes of its own, later.
        return try await draw(
          requests, from: &picture, urgency: urgency, progress: progress, willDeliver: willDeliver,
          deliver: deliver)
      }
      if requests.count == 1 { return deliverAll(picture, [.failure(error)]) }
      let results = try await drawApart(requests, from: &picture, urgency, progress)
      return try await onWorker(picture.url, urgency) { [picture] _ in
        (picture, results)
      } then: {
        deliverAll($0, $1)
      }
    }
  }

  /// Draws each request from a decode of its own.
  private func drawApart(
    _ requests: [ImageRequest], from picture: inout SourcePicture, _ urgency: Urgency,
    _ progress: FlightProgress?
  ) async throws(ImageCacheError) -> [DrawnResult] {
    var results: [DrawnResult] = []
    for request in requests {
      do throws(ImageCacheError) {
        results += try await drawTogether(
          [request], besides: [], from: &picture, urgency, progress, then: { $1 })
      } catch {
        if case .cancelled = error { throw error }
        // The others have their images, or their own errors.
        results.append(.failure(error))
      }
    }
    return results
  }

  /// Draws all requests from one decode, and hands the results to `finish` on the same worker.
  private func drawTogether<Value: Sendable>(
    _ requests: [ImageRequest], besides family: [ImageRequest], from picture: inout SourcePicture,
    _ urgency: Urgency, _ progress: FlightProgress?,
    then finish: @escaping @Sendable (SourcePicture, [DrawnResult]) -> Value
  ) async throws(ImageCacheError) -> Value {
    try await withDecode(of: &picture, for: requests + family, urgency, progress) {
      source, bitmap, isCancelled throws(ImageDecodingError) in
      if let willStore {
        try ask(willStore, about: bitmap, &source, for: requests, besides: family, isCancelled)
      }
      progress?.report(.drawing)
      let start = ThreadTime.now
      let results = requests.map { draw($0, bitmap, of: source, isCancelled) }
      let drawn = ThreadTime.now
      progress?.measureOnWorker { $0.draw += drawn - start }
      return results
    } then: {
      finish($0, $1)
    }
  }

  /// Decodes for the formats of an entity that has no id yet, and has the hook look at the image.
  func name(
    _ willStore: @escaping ImageHook, _ picture: inout SourcePicture,
    for requests: [ImageRequest], _ urgency: Urgency
  ) async throws(ImageCacheError) -> (id: ImageID?, answer: HookAnswer) {
    try await withDecode(of: &picture, for: requests, urgency, nil) {
      source, bitmap, isCancelled throws(ImageDecodingError) in
      var image = StoredImage(
        try bitmap.shown(in: requests.colorSpace), of: source, for: requests, isNamed: false)
      return Self.run(willStore, &image, isCancelled).map {
        (id: image.imageID, answer: HookAnswer(image, of: bitmap))
      }
    } then: {
      $1
    }.get()
  }

  /// Decodes an image, unless the decode that is there suffices, and works with the decode on the same worker.
  ///
  /// - Parameter requests: The decode is large enough for all of these.
  private func withDecode<Work: Sendable, Value: Sendable>(
    of picture: inout SourcePicture, for requests: [ImageRequest],
    _ urgency: Urgency, _ progress: FlightProgress?,
    _ body:
      @escaping @Sendable (inout SourcePicture, Bitmap, @escaping @Sendable () -> Bool)
      throws(ImageDecodingError) -> Work,
    then finish: @escaping @Sendable (SourcePicture, Work) -> Value
  ) async throws(ImageCacheError) -> Value {
    let minimum = minimumSize(for: requests, of: picture)
    let source = picture
    // A hook may look anywhere.
    let region =
      willStore == nil
      ? requests.region(of: source.fullSize) : PictureRegion(source.fullSize)
    let colorSpace = requests.colorSpace
    let needsDecode = !source.isDecoded(to: minimum, showing: region, in: colorSpace)
    if needsDecode { try check(source, minimumSize: minimum) }
    let queued = progress?.clock.now
    let (worked, value) = try await onWorker(
      source.url, urgency,
      byteCount: byteCount(of: source, needsDecode ? minimum : nil, colorSpace)
    ) { isCancelled throws(ImageDecodingError) in
      // From here on the process keeps memory that it could give back.
      MemoryPressureWatch.shared.start()
      if let progress, let queued {
        let waited = progress.clock.now - queued
        progress.measureOnWorker { $0.wait += waited }
      }
      if needsDecode { progress?.report(.decoding) }
      let start = ThreadTime.now
      let bitmap = try decode(source, to: minimum, region, colorSpace, needsDecode, isCancelled)
      let decoded = ThreadTime.now
      if needsDecode { progress?.measureOnWorker { $0.decode += decoded - start } }
      var picture = source
      picture.decoded = bitmap
      if needsDecode {
        (picture.decodedSize, picture.decodedColorSpace) = (minimum, colorSpace)
        picture.answers = [:]
      }
      let work = try body(&picture, bitmap, isCancelled)
      return (picture, work)
    } then: { picture, work in
      (picture, finish(picture, work))
    }
    picture = worked
    return value
  }

  // MARK: The hook

  /// Has the hook look at a decode, once for each entity of some requests.
  private func ask(
    _ willStore: ImageHook, about bitmap: Bitmap,
    _ picture: inout SourcePicture, for requests: [ImageRequest], besides family: [ImageRequest],
    _ isCancelled: @Sendable () -> Bool
  ) throws(ImageDecodingError) {
    let missing = requests.filter { picture.answers[$0.key.entity] == nil }
    guard !missing.isEmpty else { return }
    let shown = try bitmap.shown(in: (requests + family).colorSpace)
    for request in missing where picture.answers[request.key.entity] == nil {
      let own = (requests + family).filter { $0.key.entity == request.key.entity }
      var image = StoredImage(shown, of: picture, for: own, isNamed: true)
      picture.answers[request.key.entity] = Self.run(willStore, &image, isCancelled).map {
        HookAnswer(image, of: bitmap)
      }
      if !picture.mayBeStored(for: request.key.entity) { picture.isRefused = true }
    }
  }

  private static func run(
    _ willStore: ImageHook, _ image: inout StoredImage,
    _ isCancelled: @Sendable () -> Bool
  ) -> Result<Void, ImageCacheError> {
    do { return .success(try willStore(&image)) } catch {
      if isCancelled() { return .failure(.cancelled) }
      return .failure(.willStoreFailed(entity: image.imageID, underlying: error))
    }
  }

  /// Draws one request from a decode, or from what the hook has made of it.
  private func draw(
    _ request: ImageRequest, _ bitmap: Bitmap, of picture: SourcePicture,
    _ isCancelled: @Sendable () -> Bool
  ) -> DrawnResult {
    (picture.answers[request.key.entity]?.map(Optional.some) ?? .success(nil)).flatMap { answer in
      let metadata = answer?.metadata ?? picture.metadata
      return draw(
        request, answer?.bitmap ?? bitmap, of: answer?.bitmap?.size ?? picture.fullSize,
        metadata: metadata, isCancelled
      ).map {
        DrawnImage(slot: $0, metadata: metadata, mayBeStored: answer?.isStored ?? true)
      }
    }
  }

  /// The size at which an image has to be decoded for all requests, at most its own.
  private func minimumSize(
    for requests: [ImageRequest], of picture: SourcePicture
  ) -> PixelSize {
    switch picture.content {
    case .encoded(_, let decoder, let header): minimumSize(for: requests, decoder, header)
    // There is nothing to decode.
    case .bitmap: picture.fullSize
    }
  }

  /// The size for the wishes of all formats; where its decode would exceed the memory, for smaller margins.
  func minimumSize(
    for requests: [ImageRequest], _ decoder: any ImageDecoder, _ header: ImageHeader
  ) -> PixelSize {
    decoder.minimumSize(for: header, within: min(limits.workingByteCount, workers.byteBudget)) {
      requests.sourceSize(of: header.size, atMost: $0)
    }
  }

  /// Refuses a decode beyond the limits, or beyond what all decodes together may take.
  ///
  /// The limits hold for decoders too that do not look at them.
  private func check(
    _ source: SourcePicture, minimumSize: PixelSize
  ) throws(ImageCacheError) {
    guard case .encoded(let data, _, let header) = source.content else { return }
    var limits = limits
    limits.workingByteCount = min(limits.workingByteCount, workers.byteBudget)
    do throws(ImageDecodingError) {
      try limits.check(
        header, encodedByteCount: data.count,
        workingByteCount: source.workingByteCount(minimumSize: minimumSize))
    } catch {
      throw ImageCacheError(error, url: source.url)
    }
  }

  /// The private memory of a job that decodes, if there is a size to decode to, and shows the hook the decode.
  private func byteCount(
    of source: SourcePicture, _ minimumSize: PixelSize?, _ colorSpace: ColorSpace
  ) -> Int {
    let working = minimumSize.map { source.workingByteCount(minimumSize: $0) } ?? 0
    let mayConvert =
      minimumSize != nil
      || source.decoded.map { $0.colorConversion != nil || $0.colorSpace != colorSpace } == true
    guard willStore != nil, mayConvert else { return working }
    // A source's bitmap may be larger than the budget; its copy is made alone then.
    let copied = source.decoded?.size ?? minimumSize ?? source.fullSize
    return max(working, min(working + copied.width * copied.height * 4, workers.byteBudget))
  }

  private func onWorker<Work: Sendable, Value: Sendable>(
    _ url: URL?, _ urgency: Urgency, byteCount: Int = 0,
    _ body: @escaping WorkerPool.Job<Work, ImageDecodingError>,
    then finish: @escaping @Sendable (Work) -> Value
  ) async throws(ImageCacheError) -> Value {
    do throws(JobError<ImageDecodingError>) {
      return try await workers.run(urgency: urgency, byteCount: byteCount, body, then: finish)
    } catch {
      switch error {
      case .cancelled: throw .cancelled
      case .refused(let refusal): throw .imageTooLarge(url, "\(refusal)")
      case .failed(let failure): throw ImageCacheError(failure, url: url)
      }
    }
  }

  private func decode(
    _ source: SourcePicture, to minimum: PixelSize, _ region: PictureRegion,
    _ colorSpace: ColorSpace, _ needsDecode: Bool, _ isCancelled: @escaping @Sendable () -> Bool
  ) throws(ImageDecodingError) -> Bitmap {
    switch source.content {
    case .encoded(let data, let decoder, _) where needsDecode:
      let start = ContinuousClock.now
      var request = DecodeRequest(
        minimumSize: minimum, limits: limits, isCancelled: isCancelled)
      request.hasMargin = true
      request.region = region
      request.colorSpace = colorSpace
      request.damagedImages = source.damagedImages
      let bitmap = try decoder.decode(data, request)
      recorder.decoded(source.url, size: bitmap.size, in: ContinuousClock.now - start)
      return bitmap
    default:
      guard let decoded = source.decoded else {
        preconditionFailure("A picture that needs no decode is decoded.")
      }
      return decoded
    }
  }

  /// Draws one request from a bitmap, on the calling thread.
  ///
  /// - Parameter isPreview: Whether the drawing counts for nothing.
  func draw(
    _ request: ImageRequest, _ bitmap: Bitmap, of fullSize: PixelSize, metadata: Data = Data(),
    isPreview: Bool = false, _ isCancelled: @Sendable () -> Bool
  ) -> Result<SealedSlot, ImageCacheError> {
    let start = ContinuousClock.now
    let format = request.format
    let drawing = request.entity.drawing(for: format)
    do {
      let size = drawing.outputSize(
        source: fullSize, slot: format.size, upTo: format.keepsProportions)
      let slot = try request.table.drawSlot(
        for: request.key, size: size, metadata: metadata, isDamaged: bitmap.isDamaged
      ) { bytes, layout in
        try drawing.draw(
          bitmap, into: bytes, layout: layout, colorSpace: format.colorSpace, scale: format.scale,
          upTo: format.keepsProportions, isCancelled: isCancelled)
      }
      if !isPreview {
        recorder.drew(in: ContinuousClock.now - start)
        if bitmap.isDamaged { recorder.drewDamaged(request.key) }
      }
      return .success(slot)
    } catch {
      // A closure may throw any error when it is cancelled.
      if isCancelled() { return .failure(.cancelled) }
      // What a closure throws is its user's own: one wrapping says all.
      let reason = if case .closureFailed(let own)? = error as? DrawingError { own } else { error }
      return .failure(
        .drawingFailed(entity: request.key.entity, format: format.name, underlying: reason))
    }
  }
}

extension ImageRequest {
  /// The size at which the source has to be decoded for this request.
  fileprivate func sourceSize(of fullSize: PixelSize, atMost margin: DecodeMargin) -> PixelSize {
    let drawn = entity.drawing(for: format).minimumSourceSize(
      source: fullSize, slot: format.size, upTo: format.keepsProportions)
    return min(format.quality.margin, margin).minimumSize(for: drawn, of: fullSize)
  }
}

extension [ImageRequest] {
  /// The size at which a source has to be decoded for all of these, at most its own.
  fileprivate func sourceSize(of fullSize: PixelSize, atMost margin: DecodeMargin) -> PixelSize {
    map { $0.sourceSize(of: fullSize, atMost: margin) }
      .reduce(PixelSize(width: 1, height: 1)) { $0.union($1) }
  }

  /// The widest colour space of all of these.
  var colorSpace: ColorSpace {
    contains { $0.format.colorSpace == .displayP3 } ? .displayP3 : .sRGB
  }

  /// The pixels of a source that any of these shows.
  func region(of fullSize: PixelSize) -> PictureRegion {
    let regions = map {
      $0.entity.drawing(for: $0.format).sourceRegion(
        source: fullSize, slot: $0.format.size, upTo: $0.format.keepsProportions)
    }
    return regions.dropFirst().reduce(regions.first ?? PictureRegion(fullSize)) { $0.union($1) }
  }
}

extension SourcePicture {
  fileprivate func workingByteCount(minimumSize: PixelSize) -> Int {
    guard case .encoded(_, let decoder, let header) = content else { return 0 }
    return decoder.workingByteCount(for: header, minimumSize: minimumSize)
  }
}

extension Bitmap {
  /// The bitmap in sRGB, or in the widest space of the formats if its colours are others.
  fileprivate func shown(in space: ColorSpace) throws(ImageDecodingError) -> Bitmap {
    if colorConversion == nil, [.sRGB, space].contains(colorSpace) { return self }
    do { return try inColorSpace(space) } catch { throw .outOfMemory }
  }
}

extension PixelSize {
  fileprivate func union(_ other: PixelSize) -> PixelSize {
    PixelSize(width: max(width, other.width), height: max(height, other.height))
  }
}

extension ImageCacheError {
  /// What a decoder throws for a task that was cancelled does not come here; one that calls itself
  /// cancelled for nobody could not read the image.
  init(_ error: ImageDecodingError, url: URL?) {
    switch error {
    case .tooLarge(let text): self = .imageTooLarge(url, text)
    default: self = .undecodable(url, reason: error)
    }
  }

  /// Whether the bytes make no image here, however often they are decoded.
  var blamesBytes: Bool {
    switch self {
    case .undecodable(_, reason: .outOfMemory), .undecodable(_, reason: .cancelled): false
    case .undecodable: true
    default: false
    }
  }
}
