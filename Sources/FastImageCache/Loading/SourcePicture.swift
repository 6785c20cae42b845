import Foundation
import ImageCodecs
import Pixels

/// One source's picture: as it arrived, and as far as it has been decoded.
struct SourcePicture: Sendable {
  enum Content: Sendable {
    case encoded(Data, any ImageDecoder, ImageHeader)
    case bitmap
  }

  let url: URL?
  let content: Content
  /// The largest decode so far; it serves every format that needs no more than its pixels.
  var decoded: Bitmap?
  /// What that decode was asked for, in pixels; `nil` for a picture that needed none. Decoders leave
  /// out what the reduction that follows would hide, so more than this is not in it.
  var decodedSize: PixelSize?

  var encodedByteCount: Int {
    if case .encoded(let data, _, _) = content { data.count } else { 0 }
  }

  /// Width and height of the upright, complete picture in pixels.
  var fullSize: PixelSize {
    switch content {
    case .encoded(_, _, let header): header.size
    case .bitmap: decoded?.size ?? PixelSize(width: 0, height: 0)
    }
  }

  /// Whether what is decoded serves for pictures that need `size`, at most ``fullSize``.
  func isDecoded(to size: PixelSize) -> Bool {
    guard let decoded, decoded.size.width >= size.width, decoded.size.height >= size.height
    else { return false }
    guard let decodedSize else { return true }
    return isWhole(decodedSize) || !isWhole(size)
  }

  /// Whether a decode for `size` may leave nothing out.
  private func isWhole(_ size: PixelSize) -> Bool {
    size.width >= fullSize.width || size.height >= fullSize.height
  }
}
