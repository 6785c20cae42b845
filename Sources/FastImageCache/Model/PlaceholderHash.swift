public import Foundation
public import ImageDrawing
public import Pixels

/// A few bytes that describe an image, which a server sends along with its URL: what a view shows in its first frame.
///
/// ```swift
/// struct Post: ImageEntity {
///   let url: URL
///   let thumbHash: Data
///
///   var imageID: ImageID { ImageID(url) }
///   func sourceURL(for format: ImageFormat) -> URL? { url }
///   var placeholderHash: PlaceholderHash? { .thumbHash(thumbHash) }
/// }
/// ```
@nonexhaustive public enum PlaceholderHash: Hashable, Sendable {
  /// The bytes of a [ThumbHash](https://github.com/evanw/thumbhash), which servers send as base64.
  case thumbHash(Data)

  /// The text of a [BlurHash](https://github.com/woltapp/blurhash).
  case blurHash(String)

  /// The longer side of a drawn hash, in pixels: its waves are far longer.
  private static let side = 32.0

  /// Draws the hash, 32 pixels along the longer side; to be shown larger, with smooth scaling.
  ///
  /// For any thread: it takes less than 0.2 ms. The result is kept nowhere.
  ///
  /// - Parameter proportions: The size of the image or of its place, in any unit, of which a BlurHash knows nothing.
  ///   A ThumbHash has proportions of its own, and ignores these.
  /// - Throws: ``BitmapError/invalidHash(_:)``; ``BitmapError/invalidSize(_:)`` for a BlurHash and a side below one;
  ///   ``BitmapError/outOfMemory(byteCount:)``.
  public func makeBitmap(proportions: PixelSize) throws(BitmapError) -> Bitmap {
    switch self {
    case .thumbHash(let bytes): return try Bitmap(thumbHash: bytes)
    case .blurHash(let text):
      guard proportions.isPositive else { throw .invalidSize(proportions) }
      let scale = Self.side / Double(max(proportions.width, proportions.height))
      func pixels(_ side: Int) -> Int { max(Int((Double(side) * scale).rounded()), 1) }
      return try Bitmap(
        blurHash: text,
        size: PixelSize(width: pixels(proportions.width), height: pixels(proportions.height)))
    }
  }
}

extension Bitmap {
  /// The [ThumbHash](https://github.com/evanw/thumbhash) of the image, for ``init(thumbHash:)``: some 25 bytes.
  ///
  /// Cost: a copy of at most 100 x 100 pixels, and about a millisecond: call it away from actors.
  ///
  /// - Throws: ``DrawingError/outOfMemory``.
  public func thumbHash() throws(DrawingError) -> Data { Data(try makeThumbHash()) }
}
