public import Foundation
public import Pixels

/// Size and kind of an encoded image, known before it is decoded.
public struct ImageHeader: Hashable, Sendable {
  /// Width and height in pixels once the image stands upright.
  public var size: PixelSize

  /// Whether the file announces transparency.
  public var hasAlpha: Bool

  /// Whether the image has one gray value a pixel and is decoded to ``PixelFormat/gray8``.
  public var isGray: Bool

  /// Bytes that the decoder holds at whatever size it decodes to, because the file does not store
  /// its pixels from top to bottom: progressive JPEG, interlaced PNG, lossless WebP. Zero where
  /// rows come one after the other.
  public var wholeImageByteCount: Int

  /// Bytes beside those that the decoder gives back before it makes its result.
  package var temporaryByteCount = 0

  /// Images of the result's size that the decoder may hold besides it.
  package var layerCount = 0

  /// Whether the image is decoded at its full size, whatever size is asked for.
  package var isDecodedWhole = false

  /// The kind of file; `nil` in what a decoder returns.
  public private(set) var type: EncodedImageType?

  /// The times that the bytes bring the whole image, coarse to fine: the scans of a progressive JPEG file, the seven
  /// passes of an interlaced PNG file, and one of any other.
  public private(set) var scanCount = 1

  /// The whole frames that the bytes have; one of an image that does not move.
  public private(set) var frameCount = 1

  /// The space of the image's colours; `nil` where it is neither of the library's, or stands behind the bytes.
  ///
  /// A file without a profile counts as sRGB, and so does one whose profile is broken.
  public private(set) var colorSpace: ColorSpace?

  /// Creates a header, as a decoder of your own returns it.
  public init(
    size: PixelSize, hasAlpha: Bool = false, isGray: Bool = false, wholeImageByteCount: Int = 0
  ) {
    self.size = size
    self.hasAlpha = hasAlpha
    self.isGray = isGray
    self.wholeImageByteCount = wholeImageByteCount
  }

  /// Reads the head of an image file with ``ImageDecoders/standard``, without decoding a pixel.
  ///
  /// ```swift
  /// let header = try ImageHeader(of: Data(contentsOf: photo.url))
  /// print(header.type?.rawValue ?? "", header.size, header.frameCount)
  /// ```
  ///
  /// It goes through the whole file for scans and frames, so it takes up to some milliseconds. The first kilobytes of a
  /// file suffice as a rule: the counts are then those of the bytes.
  ///
  /// - Parameter data: The file, or its beginning.
  /// - Throws: ``ImageDecodingError/truncated`` where the bytes end before the size does, and
  ///   ``ImageDecodingError/unknownType``, ``ImageDecodingError/unsupported(_:)``, ``ImageDecodingError/damaged(_:)``
  ///   or ``ImageDecodingError/tooLarge(_:)`` as the decoder of the file does.
  public init(of data: Data) throws(ImageDecodingError) {
    let decoder = try ImageDecoders.standard.decoder(for: data)
    self = try decoder.header(of: data)
    type = EncodedImageType(firstBytes: data)
    scanCount = Self.scanCount(of: data, type)
    frameCount = Self.frameCount(of: data, decoder)
    // The rest of the header holds without its colours.
    colorSpace = try? (decoder as? any SystemDecoder)?.colorSpace(of: data)
  }

  private static func scanCount(of data: Data, _ type: EncodedImageType?) -> Int {
    switch type {
    case .jpeg:
      var watch = JPEGScanWatch(settles: false)
      _ = watch.receive(data)
      return max(watch.scanCount, 1)
    case .png:
      return data.withUnsafeBytes { (try? PNGChunks($0.bytes))?.isInterlaced == true } ? 7 : 1
    default: return 1
    }
  }

  /// One where the frames are damaged, too: the first is shown then.
  private static func frameCount(of data: Data, _ decoder: any ImageDecoder) -> Int {
    var limits = DecodingLimits()
    (limits.frameCount, limits.animationPixelCount) = (.max, .max)
    (limits.pixelCount, limits.sideLength, limits.workingByteCount) = (.max, .max, .max)
    let animation = try? (decoder as? any AnimationDecoder)?.animation(of: data, within: limits)
    return animation?.frameCount ?? 1
  }
}
