import Foundation
import ImageCodecs
import ImageSources
import Pixels

/// One source's image: its encoded bytes, and its largest decode so far.
struct SourceImage: Sendable {
  enum Content: Sendable {
    case encoded(Data, any ImageDecoder, ImageHeader)
    case bitmap
  }

  let url: URL?
  let content: Content
  /// The largest decode so far, for every format that needs no more than its pixels.
  var decoded: Bitmap?
  /// The size that this decode was made for; `nil` for an image that needed none. Decoders leave out
  /// details that the reduction to this size would hide.
  var decodedSize: PixelSize?
  /// The colours that this decode was made for: a decoder may have cut those beyond.
  var decodedColorSpace = ColorSpace.sRGB
  /// Whether the decode is an animation's first frame.
  var decodedIsFrame = false
  /// What is known of frames behind the first; `nil` where no request has asked.
  var motion: SourceMotion?
  /// What becomes of the bytes if they are damaged.
  var damagedImages = DamagedImagePolicy.refuse
  /// The metadata that is stored beside the pixels of each format.
  var metadata = Data()
  /// The way on which the image came, for the hook.
  var way = StoredImage.Origin.load
  /// What the hook has made of the decode, by entity.
  var answers: [ImageID: Result<HookAnswer, ImageCacheError>] = [:]
  /// Whether the hook failed for an entity, or forbade to store its image.
  var isRefused = false

  /// Whether the hook, where there is one, lets the image of an entity be stored.
  func mayBeStored(for entity: ImageID) -> Bool {
    answers[entity].map { (try? $0.get().isStored) == true } ?? true
  }

  /// The size of the upright, complete image in pixels.
  var fullSize: PixelSize {
    switch content {
    case .encoded(_, _, let header): header.size
    case .bitmap: decoded?.size ?? PixelSize(width: 0, height: 0)
    }
  }

  /// The same for the slots that are drawn from it; `nil` for an image that was stored by hand.
  var sourceSize: PixelSize? { way == .storedByHand ? nil : fullSize }

  /// The frames that one of the requests wants; `nil` where the image has none.
  func frames(for requests: [ImageRequest]) -> SourceFrames? {
    guard case .frames(let frames) = motion, requests.contains(where: \.wantsFrames) else {
      return nil
    }
    return frames
  }

  /// Whether the decode suffices for a plan.
  func isDecoded(as plan: DecodePlan) -> Bool {
    decodedIsFrame == plan.isFrame
      && isDecoded(to: plan.size, showing: plan.region, in: plan.colorSpace)
  }

  /// Whether the decode suffices for formats that need `size`, at most ``fullSize``, of a region, and the
  /// colours of a space.
  func isDecoded(
    to size: PixelSize, showing region: ImageRegion, in colorSpace: ColorSpace
  ) -> Bool {
    // The bitmap of a source is all there is.
    guard let decoded, let decodedSize else { return decoded != nil }
    // A conversion that is still to be done leads to any space.
    if decoded.colorConversion == nil, colorSpace != .sRGB, decodedColorSpace == .sRGB {
      return false
    }
    let edges = decoded.edges
    let enough = mayLackFrequencies ? DecodeMargin.filteredSize(for: size) : size
    let hasPixels =
      Int(edges.width.rounded(.up)) >= min(enough.width, fullSize.width)
      && Int(edges.height.rounded(.up)) >= min(enough.height, fullSize.height)
    // A decoder may have answered with fewer pixels that are averages.
    let isAsked = decodedSize.width >= size.width && decodedSize.height >= size.height
    // And it may have left out what lies beside an earlier region.
    return (hasPixels || isAsked) && decoded.shows(region, of: fullSize)
      && (isWhole(decodedSize) || !isWhole(size))
  }

  /// Whether the decode needs a larger margin than one that was scaled smoothly.
  private var mayLackFrequencies: Bool {
    guard case .encoded(let data, _, _) = content else { return false }
    return EncodedImageType(firstBytes: data) == .jpeg
  }

  /// Whether a decode for `size` leaves no details out.
  private func isWhole(_ size: PixelSize) -> Bool {
    size.width >= fullSize.width || size.height >= fullSize.height
  }
}

/// The frames of a source's image behind the first.
enum SourceMotion: Sendable {
  case still
  case frames(SourceFrames)
  /// They cannot be had, though the image moves.
  case refused(ImageCacheError)
}

/// The frames of an animation that is there in encoded bytes.
struct SourceFrames: Sendable {
  let bytes: Data
  let decoder: any AnimationDecoder
  let timeline: AnimationTimeline
  let workingByteCount: Int
  /// What a reader holds between two frames, about: two canvases.
  let keptByteCount: Int
  /// Whether frames are missing at the end.
  let isCut: Bool
  /// For the frames of this load.
  let nonce: UInt64

  /// Reads the first frame.
  func first(_ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
    guard var bitmap = try decoder.frames(of: bytes, request).next() else { throw .truncated }
    if isCut { bitmap.isDamaged = true }
    return bitmap
  }
}
