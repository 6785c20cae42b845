public import Foundation
public import ImageCodecs
import ImageDrawing
import ImageSources
public import Pixels

extension Bitmap {
  /// Decodes an image file's bytes as the cache would: upright, and in sRGB or Display P3.
  ///
  /// ```swift
  /// let data = try Data(contentsOf: URL(fileURLWithPath: "logo.png"))
  /// let logo = try Bitmap(decoding: data, upTo: PixelSize(width: 64, height: 64))
  /// let marked = Drawing.custom { source, canvas in
  ///   try canvas.draw(source, in: canvas.bounds, scaling: .aspectFill)
  ///   try canvas.draw(logo, in: Canvas.Rect(x: 8, y: 8, width: 32, height: 32), opacity: 0.6)
  /// }
  /// ```
  ///
  /// Blocks its thread for the decode: call it away from actors, and once for an image that is drawn
  /// often. It takes the memory of the decode, and of the result where that is scaled or converted.
  /// A task that is cancelled meanwhile hears ``ImageCacheError/cancelled``.
  ///
  /// - Parameters:
  ///   - data: The bytes of a file.
  ///   - largest: The size that the result does not exceed, in pixels; a side below one counts as one. The
  ///     image keeps its proportions, and its own size where that is smaller; `nil` is every pixel.
  ///   - colorSpace: The result's.
  ///   - decoders: Asked in order; the first that recognises the bytes decodes them.
  ///   - limits: What the decode may cost. Where it would take more memory, the result is drawn from fewer of
  ///     the file's pixels, as for ``ImageFormat/Quality/balanced``.
  /// - Throws: ``ImageCacheError/undecodable(_:reason:)``, ``ImageCacheError/imageTooLarge(_:_:)``,
  ///   ``ImageCacheError/cancelled``.
  public init(
    decoding data: Data, upTo largest: PixelSize? = nil, colorSpace: ColorSpace = .sRGB,
    decoders: [any ImageDecoder] = ImageDecoders.standard, limits: DecodingLimits = DecodingLimits()
  ) throws(ImageCacheError) {
    self = try Self.decoded(data, from: nil, upTo: largest, colorSpace, decoders, limits)
  }

  /// Decodes an image file.
  ///
  /// Blocks its thread for reading and decoding: call it away from actors. A file with more bytes than
  /// ``DecodingLimits/encodedByteCount`` is refused unread.
  ///
  /// - Parameters:
  ///   - file: A `file` URL.
  ///   - largest: As with data.
  ///   - colorSpace: The result's.
  ///   - decoders: Asked in order; the first that recognises the bytes decodes them.
  ///   - limits: What the decode may cost.
  /// - Throws: As with data, and ``ImageCacheError/sourceFailed(_:underlying:)`` with an
  ///   ``ImageSourceError``.
  public init(
    contentsOf file: URL, upTo largest: PixelSize? = nil, colorSpace: ColorSpace = .sRGB,
    decoders: [any ImageDecoder] = ImageDecoders.standard, limits: DecodingLimits = DecodingLimits()
  ) throws(ImageCacheError) {
    let data: Data
    do {
      data = try FileReader.read(
        LocalPath(file), limit: limits.encodedByteCount, isCancelled: { Task.isCancelled })
    } catch is CancellationError {
      throw .cancelled
    } catch {
      throw .sourceFailed(file, underlying: error)
    }
    self = try Self.decoded(data, from: file, upTo: largest, colorSpace, decoders, limits)
  }

  private static func decoded(
    _ data: Data, from file: URL?, upTo largest: PixelSize?, _ colorSpace: ColorSpace,
    _ decoders: [any ImageDecoder], _ limits: DecodingLimits
  ) throws(ImageCacheError) -> Bitmap {
    do throws(ImageDecodingError) {
      try limits.check(encodedByteCount: data.count)
      let decoder = try decoders.decoder(for: data)
      let header = try decoder.header(of: data)
      try limits.check(header.size)
      let size =
        largest.map {
          let slot = PixelSize(width: max(1, $0.width), height: max(1, $0.height))
          return Drawing.stretch.outputSize(source: header.size, slot: slot, upTo: true)
        }
        ?? header.size
      // As for the cache's own images.
      let minimum =
        size == header.size
        ? nil
        : decoder.minimumSize(for: header, within: limits.workingByteCount) {
          min(.balanced, $0).minimumSize(for: size, of: header.size)
        }
      try limits.check(
        header, encodedByteCount: data.count,
        workingByteCount: decoder.workingByteCount(for: header, minimumSize: minimum))
      var request = DecodeRequest(
        minimumSize: minimum, limits: limits, isCancelled: { Task.isCancelled })
      request.hasMargin = true
      request.colorSpace = colorSpace
      return try decoder.decode(data, request).finished(size, colorSpace)
    } catch {
      if case .cancelled = error, Task.isCancelled { throw .cancelled }
      throw ImageCacheError(error, url: file)
    }
  }

  /// The whole image at that size and in that space.
  private func finished(
    _ size: PixelSize, _ colorSpace: ColorSpace
  ) throws(ImageDecodingError) -> Bitmap {
    if size == self.size, conversion(to: colorSpace) == nil { return self }
    guard let layout = PixelLayout(size: size, format: layout.format) else { throw .outOfMemory }
    do throws(DrawingError) {
      let bitmap = try Bitmap(
        unfilled: layout, colorSpace: colorSpace
      ) { pixels throws(DrawingError) in
        try Drawing.stretch.draw(
          self, into: pixels, layout: layout, colorSpace: colorSpace, scale: 1, upTo: true,
          isCancelled: { Task.isCancelled })
      }
      guard let bitmap else { throw .outOfMemory }
      return bitmap
    } catch {
      if case .cancelled = error { throw .cancelled }
      // A recipe fails for no other reason.
      throw .outOfMemory
    }
  }
}
