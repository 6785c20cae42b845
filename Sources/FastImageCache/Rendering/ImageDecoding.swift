import Foundation
import ImageCodecs
import Pixels

/// The one decode that some requests share.
struct DecodePlan: Sendable {
  /// The requests that are drawn from it at once.
  let requests: [ImageRequest]
  /// Those that are drawn from it later.
  let family: [ImageRequest]
  /// The size at which the image has to be decoded for all of them, at most its own.
  let size: PixelSize
  /// The part of the image that has to be there.
  let region: ImageRegion
  /// The widest colour space of all of them.
  let colorSpace: ColorSpace
  /// Whether the image is the first frame of an animation, which a file's still need not be.
  var isFrame = false
  /// The private memory that the decode takes; 0 where the image is decoded already.
  var byteCount = 0
  /// Why the image must not be decoded at this size.
  var refusal: ImageCacheError?
}

/// Chooses decoders and decodes, on the calling thread.
struct ImageDecoding: Sendable {
  let decoders: [any ImageDecoder]
  /// The `Accept` of requests to web servers.
  let acceptedTypes: String
  /// They hold for decoders too that do not look at them. No decode takes more than all decodes together may.
  let limits: DecodingLimits
  let damagedImages: DamagedImagePolicy
  let recorder: CacheRecorder

  /// Chooses the decoder by the first bytes and has it read the header; decodes nothing.
  ///
  /// - Parameter isEarlier: Whether some of the bytes are of an earlier answer. Damaged ones are refused then, since
  ///   the source has others.
  func image(
    from response: ImageSourceResponse, url: URL?, isEarlier: Bool = false
  ) throws(ImageCacheError) -> SourceImage {
    var image: SourceImage
    if let bitmap = response.bitmap {
      image = SourceImage(url: url, content: .bitmap, decoded: bitmap)
    } else {
      image = try header(of: try bytes(of: response, url), url)
    }
    if !isEarlier { image.damagedImages = damagedImages }
    if let metadata = response.metadata { image.metadata = metadata }
    return image
  }

  /// The size of an upright image, whatever the limits; decodes nothing.
  func size(
    of response: ImageSourceResponse, url: URL?
  ) throws(ImageCacheError) -> PixelSize {
    if let bitmap = response.bitmap { return bitmap.size }
    let bytes = try bytes(of: response, url)
    do { return try decoders.decoder(for: bytes).header(of: bytes).size } catch {
      throw ImageCacheError(error, url: url)
    }
  }

  private func bytes(
    of response: ImageSourceResponse, _ url: URL?
  ) throws(ImageCacheError) -> Data {
    guard let data = response.encodedData else {
      // The loader has taken the answers of sources that it had told what is kept.
      throw .undecodable(url, reason: .damaged("Nothing is kept that could be unchanged."))
    }
    return data
  }

  private func header(of data: Data, _ url: URL?) throws(ImageCacheError) -> SourceImage {
    do {
      try limits.check(encodedByteCount: data.count)
      let decoder = try decoders.decoder(for: data)
      let header = try decoder.header(of: data)
      try limits.check(header.size)
      return SourceImage(url: url, content: .encoded(data, decoder, header))
    } catch {
      throw ImageCacheError(error, url: url)
    }
  }

  /// Has the decoder look for frames behind the first.
  func motion(of image: SourceImage) -> SourceMotion {
    guard case .encoded(let data, let decoder, _) = image.content,
      let decoder = decoder as? any AnimationDecoder
    else { return .still }
    do throws(ImageDecodingError) {
      guard let header = try decoder.animation(of: data, within: limits) else { return .still }
      if header.isCut, image.damagedImages == .refuse { throw .truncated }
      guard header.workingByteCount <= limits.workingByteCount else {
        throw .tooLarge(
          "Reading the frames takes \(header.workingByteCount) bytes of memory. The limit is "
            + "\(limits.workingByteCount).")
      }
      return .frames(
        SourceFrames(
          bytes: data, decoder: decoder,
          timeline: AnimationTimeline(
            frameDurations: header.frameDurations, loopCount: header.loopCount),
          workingByteCount: header.workingByteCount,
          keptByteCount: 8 * (image.fullSize.pixelCount ?? 0),
          isCut: header.isCut, nonce: .random(in: .min ... .max)))
    } catch {
      return .refused(ImageCacheError(error, url: image.url))
    }
  }

  /// Plans one decode for requests, and for others that are drawn from it later.
  ///
  /// - Parameter isWhole: Whether all of the image has to be there, since a hook may look anywhere.
  func plan(
    _ requests: [ImageRequest], besides family: [ImageRequest], of image: SourceImage,
    isWhole: Bool
  ) -> DecodePlan {
    let (all, fullSize) = (requests + family, image.fullSize)
    var size = fullSize
    // Frames are drawn at full size, and the first one like the others: else it would look sharper or softer.
    let frames = image.frames(for: all)
    if case .encoded(_, let decoder, let header) = image.content, frames == nil {
      size = minimumSize(for: all, decoder, header)
    }
    var plan = DecodePlan(
      requests: requests, family: family, size: size,
      region: isWhole || frames != nil ? ImageRegion(fullSize) : all.region(of: fullSize),
      colorSpace: all.colorSpace)
    plan.isFrame = frames != nil
    if case .encoded(let data, let decoder, let header) = image.content,
      !image.isDecoded(as: plan)
    {
      plan.byteCount =
        frames?.workingByteCount ?? decoder.workingByteCount(for: header, minimumSize: size)
      do {
        try limits.check(
          header, encodedByteCount: data.count, workingByteCount: plan.byteCount)
      } catch {
        plan.refusal = ImageCacheError(error, url: image.url)
      }
    }
    return plan
  }

  /// The size for the wishes of all formats; where its decode would exceed the memory, for smaller margins.
  private func minimumSize(
    for requests: [ImageRequest], _ decoder: any ImageDecoder, _ header: ImageHeader
  ) -> PixelSize {
    decoder.minimumSize(for: header, within: limits.workingByteCount) {
      requests.sourceSize(of: header.size, atMost: $0)
    }
  }

  func request(
    _ plan: DecodePlan, _ isCancelled: @escaping @Sendable () -> Bool
  ) -> DecodeRequest {
    var request = DecodeRequest(
      minimumSize: plan.size, limits: limits, isCancelled: isCancelled)
    request.hasMargin = true
    (request.region, request.colorSpace) = (plan.region, plan.colorSpace)
    return request
  }

  /// Decodes an image as it is planned, unless the decode that is there suffices.
  func decode(
    _ image: inout SourceImage, _ plan: DecodePlan, _ progress: LoadProgress?,
    _ isCancelled: @escaping @Sendable () -> Bool
  ) throws(ImageCacheError) -> Bitmap {
    if let decoded = image.decoded, image.isDecoded(as: plan) { return decoded }
    guard case .encoded(let data, let decoder, _) = image.content else {
      preconditionFailure("A source's bitmap is decoded.")
    }
    progress?.report(.decoding)
    var request = request(plan, isCancelled)
    request.damagedImages = image.damagedImages
    request.settings = plan.requests.first?.conditions.decoderSettings ?? [:]
    let (start, worked) = (ContinuousClock.now, ThreadTime.now)
    let bitmap: Bitmap
    do throws(ImageDecodingError) {
      if let frames = image.frames(for: plan.requests) {
        bitmap = try frames.first(request)
      } else {
        bitmap = try decoder.decode(data, request)
      }
    } catch {
      if case .tooLarge = error, !plan.family.isEmpty, !isCancelled() {
        // The decoder takes more than it has told. The family gets decodes of its own, later.
        let isWhole = plan.region == ImageRegion(image.fullSize)
        let smaller = self.plan(plan.requests, besides: [], of: image, isWhole: isWhole)
        return try decode(&image, smaller, progress, isCancelled)
      }
      throw ImageCacheError(error, url: image.url)
    }
    let decode = ThreadTime.now - worked
    recorder.decoded(image.url, size: bitmap.size, in: ContinuousClock.now - start)
    progress?.measureOnWorker { $0.decode += decode }
    image.decoded = bitmap
    (image.decodedSize, image.decodedColorSpace) = (plan.size, plan.colorSpace)
    image.decodedIsFrame = plan.isFrame
    image.answers = [:]
    return bitmap
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
    let sizes = map { $0.sourceSize(of: fullSize, atMost: margin) }
    return PixelSize(
      width: sizes.map(\.width).max() ?? 1, height: sizes.map(\.height).max() ?? 1)
  }

  /// The widest colour space of all of these.
  fileprivate var colorSpace: ColorSpace {
    contains { $0.format.colorSpace == .displayP3 } ? .displayP3 : .sRGB
  }

  /// The pixels of a source that any of these shows.
  fileprivate func region(of fullSize: PixelSize) -> ImageRegion {
    let regions = map {
      $0.entity.drawing(for: $0.format).sourceRegion(
        source: fullSize, slot: $0.format.size, upTo: $0.format.keepsProportions)
    }
    return regions.dropFirst().reduce(regions.first ?? ImageRegion(fullSize)) { $0.union($1) }
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
