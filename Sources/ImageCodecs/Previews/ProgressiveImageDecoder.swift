public import Foundation
public import Pixels

/// A decoder that makes previews of files of which some bytes have arrived.
///
/// The cache hands each byte of a download to a scanner once, and lets the decoder decode the bytes up to
/// some of the stages that the scanner finds. Nothing is kept between two previews.
///
/// ```swift
/// struct Sketch: PreviewScanner {
///   private var byteCount = 0
///
///   mutating func receive(_ bytes: Data) -> [PreviewStage] {
///     defer { byteCount += bytes.count }
///     let isThere = byteCount < 1000 && byteCount + bytes.count >= 1000
///     return isThere ? [PreviewStage(.frame, byteCount: 1000)] : []
///   }
/// }
/// ```
public protocol ProgressiveImageDecoder: ImageDecoder {
  /// A scanner for the bytes of one file, from the first one on.
  ///
  /// - Parameter byteCount: The announced number of the file's bytes, which may be wrong; `nil` if none was.
  func makePreviewScanner(of byteCount: Int?) -> any PreviewScanner

  /// Decodes the image as far as a stage shows it, upright and in the same colours as
  /// ``ImageDecoder/decode(_:_:)`` does; where the stage is settled for that decode, at the same size, too.
  /// Any other result may be smaller. It takes no more memory than
  /// ``ImageDecoder/workingByteCount(for:minimumSize:)`` and a copy of the bytes.
  ///
  /// ``ImageDecoder/header(of:)`` reads the header of the same bytes.
  ///
  /// - Parameters:
  ///   - bytes: The file's first ``PreviewStage/byteCount`` bytes.
  ///   - stage: The stage at which they end.
  ///   - request: The size, the limits and the cancellation.
  /// - Throws: ``ImageDecodingError``; the stage has no preview then.
  func decodePreview(
    _ bytes: Data, at stage: PreviewStage, _ request: DecodeRequest
  ) throws(ImageDecodingError) -> DecodedPreview
}

/// An image as far as a stage of its file shows it.
public struct DecodedPreview: Sendable {
  /// The pixels.
  public var bitmap: Bitmap

  /// The part of the image's pixels that they come from, up to 1; of top rows, the part of all rows. For a
  /// decoder that may find no more in a stage than in the one before: of two previews of the same part the
  /// second is not shown, nor is a frame behind a thumbnail that has as many pixels. `nil` if each stage is better
  /// than the one before.
  public var part: Double?

  /// Creates a preview.
  public init(_ bitmap: Bitmap, part: Double? = nil) { (self.bitmap, self.part) = (bitmap, part) }
}

/// Finds stages in the bytes of one file.
public protocol PreviewScanner: Sendable {
  /// Looks at the next bytes, on the thread that delivers them: it returns at once.
  ///
  /// - Returns: Of each kind the newest stage that ends in these bytes or the bytes before, if it was not
  ///   returned before.
  mutating func receive(_ bytes: Data) -> [PreviewStage]
}

/// A place in a file after which a better preview can be made.
public struct PreviewStage: Hashable, Sendable {
  /// The part of the image that a stage shows.
  @nonexhaustive public enum Kind: CaseIterable, Comparable, Hashable, Sendable {
    /// Its top rows, as the file stores them; the others are transparent.
    case rows

    /// A small image that the file has beside its own.
    case embedded

    /// All of it, coarser.
    case frame
  }

  /// The part of the image that the stage shows.
  public var kind: Kind

  /// The number of bytes from the file's first one to the stage's end.
  public var byteCount: Int

  /// The reduction from which on the rest of the file changes nothing: with 8, a decode at an eighth of the
  /// image's size has the pixels of the whole file's; `nil` if the rest may change every decode.
  public var settledReduction: Int?

  /// Creates a stage.
  public init(_ kind: Kind, byteCount: Int, settledReduction: Int? = nil) {
    (self.kind, self.byteCount) = (kind, byteCount)
    self.settledReduction = settledReduction
  }

  /// The parts of an image's bytes at which its top rows are shown.
  static let rowParts = [0.25, 0.5, 0.75]

  /// Whether the rest of the file cannot change a decode of this size.
  package func isSettled(_ size: PixelSize, of fullSize: PixelSize) -> Bool {
    guard let settledReduction, settledReduction > 0 else { return false }
    return size.width - 1 <= (fullSize.width - 1) / settledReduction
      && size.height - 1 <= (fullSize.height - 1) / settledReduction
  }
}

extension DecodeRequest {
  /// Whether a preview that was decoded for this request has the pixels that the whole file will have.
  package func isSettled(_ bitmap: Bitmap, at stage: PreviewStage, of fullSize: PixelSize) -> Bool {
    // The size of the whole image, of which the bitmap may have a part.
    let size = PixelSize(
      width: Int(bitmap.edges.width.rounded(.up)), height: Int(bitmap.edges.height.rounded(.up)))
    let minimum = minimumSize ?? fullSize
    let wanted = hasMargin ? DecodeMargin.averagedSize(for: minimum) : minimum
    // A stage of few details has a smaller frame, and no more to show.
    return size.width >= wanted.width && size.height >= wanted.height
      && stage.isSettled(size, of: fullSize)
  }
}
