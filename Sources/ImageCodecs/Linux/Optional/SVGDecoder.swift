#if SVG && !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  /// SVG by librsvg, which is loaded at the first such image, drawn at the size that is wanted.
  ///
  /// An image has no pixels of its own. ``SVGMarkup`` refuses what it does not know: other files, `data:` addresses,
  /// and what no size bounds. Only its counts bound the time; a drawing cannot be cancelled.
  struct SVGDecoder: ImageDecoder {
    func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
      try data.lendBytes { bytes throws(ImageDecodingError) in try SVGReader(bytes).header }
    }

    /// Groups within each other may each be drawn apart first.
    func workingByteCount(for header: ImageHeader, minimumSize: PixelSize?) -> Int {
      let size = header.size.drawn(for: minimumSize)
      return PixelLayout.byteCount(size: size, format: .bgra32)
        .multipliedClamped(by: 2 + header.layerCount).addingClamped(header.temporaryByteCount)
    }

    func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
      try data.lendBytes { bytes throws(ImageDecodingError) in
        try request.limits.check(encodedByteCount: bytes.count)
        let reader = try SVGReader(bytes)
        let header = reader.header
        try request.limits.check(
          header, encodedByteCount: bytes.count,
          workingByteCount: workingByteCount(for: header, minimumSize: request.minimumSize))
        if request.isCancelled() { throw .cancelled }
        let size = header.size.drawn(for: request.minimumSize)
        let bitmap = try Bitmap.decoding(
          size: size, format: .bgra32, edges: ImageEdges(filling: size, fullSize: header.size)
        ) { pixels, layout throws(ImageDecodingError) in
          guard let start = pixels.baseAddress, pixels.count >= layout.byteCount else {
            throw .outOfMemory
          }
          try reader.draw(start.assumingMemoryBound(to: UInt8.self), layout)
        }
        if request.isCancelled() { throw .cancelled }
        return bitmap
      }
    }
  }

  /// One SVG file.
  private final class SVGReader {
    /// librsvg's objects for each byte of the file, and for fonts.
    private static let bytesPerByte = 64
    private static let fixedByteCount = 4 << 20

    private let reader: OpaquePointer
    let header: ImageHeader

    init(_ bytes: UnsafeRawBufferPointer) throws(ImageDecodingError) {
      guard let start = bytes.start else { throw .truncated }
      let markup = try SVGMarkup(bytes)
      guard let reader = fic_svg_reader_create() else { throw .outOfMemory }
      var (width, height) = (0.0, 0.0)
      let status = fic_svg_read_header(reader, start, bytes.count, &width, &height)
      do throws(ImageDecodingError) {
        try status.check(.svg, fic_svg_reader_message(reader))
        var header = ImageHeader(
          size: try PixelSize(drawing: width, by: height, of: .svg), hasAlpha: true)
        header.temporaryByteCount = bytes.count.multipliedClamped(by: Self.bytesPerByte)
          .addingClamped(Self.fixedByteCount)
        header.layerCount = markup.depth * (markup.useCount > 0 ? 2 : 1)
        self.header = header
      } catch {
        // An object without all of its parts has no `deinit`.
        fic_svg_reader_close(reader)
        throw error
      }
      self.reader = reader
    }

    deinit { fic_svg_reader_close(reader) }

    func draw(
      _ rows: UnsafeMutablePointer<UInt8>, _ layout: PixelLayout
    ) throws(ImageDecodingError) {
      // cairo's own limit of a side.
      guard layout.size.width < 1 << 15, layout.size.height < 1 << 15 else {
        throw .tooLarge("SVG: an image is drawn with at most 32767 pixels a side.")
      }
      try fic_svg_draw(
        reader, rows, layout.rowBytes, UInt32(layout.size.width), UInt32(layout.size.height)
      ).check(.svg, fic_svg_reader_message(reader))
    }
  }

  extension SVGDecoder: SystemDecoder {
    var types: [EncodedImageType] { [.svg] }

    func colorSpace(of data: Data) -> ColorSpace? { .sRGB }
  }
#endif
