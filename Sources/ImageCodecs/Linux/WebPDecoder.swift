#if !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  /// WebP by libwebp; of an animation the first frame.
  struct WebPDecoder: ImageDecoder {
    func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
      try data.lendBytes { bytes throws(ImageDecodingError) in
        try WebPReader(bytes, mayBeCut: true).imageHeader
      }
    }

    func workingByteCount(for header: ImageHeader, minimumSize: PixelSize?) -> Int {
      PixelLayout.byteCount(
        size: Self.size(of: header, for: minimumSize), format: .bgra32
      ).addingClamped(header.wholeImageByteCount).addingClamped(rowBufferByteCount(header.size))
    }

    func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
      try data.lendBytes { bytes throws(ImageDecodingError) in try decode(bytes, request) }
    }

    private func decode(
      _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(ImageDecodingError) -> Bitmap {
      let showsPart = request.damagedImages == .showPart
      let reader = try WebPReader(bytes, mayBeCut: showsPart)
      let header = reader.imageHeader
      try request.limits.check(
        header, encodedByteCount: bytes.count,
        workingByteCount: workingByteCount(for: header, minimumSize: request.minimumSize))

      let size = Self.size(of: header, for: request.minimumSize)
      var isDamaged = false
      var bitmap = try Bitmap.decoding(
        size: size, format: header.hasAlpha ? .bgra32 : .bgrx32,
        edges: ImageEdges(filling: size, fullSize: header.size),
        conversion: LCMSConversion.shared(profile: reader.profile, kind: .rgb)
      ) { pixels, layout throws(ImageDecodingError) in
        guard reader.orientation != .up else {
          isDamaged = try reader.decode(
            pixels, layout, showsPart: showsPart, unless: request.isCancelled)
          return
        }
        let target = try UprightRows(pixels, layout: layout, orientation: reader.orientation)
        guard let stored = PixelLayout(size: target.storedSize, format: layout.format) else {
          throw .outOfMemory
        }
        let whole = try ScratchMemory(byteCount: stored.byteCount)
        isDamaged = try reader.decode(
          UnsafeMutableRawBufferPointer(start: whole.start, count: stored.byteCount), stored,
          showsPart: showsPart, unless: request.isCancelled)
        target.place(
          whole.start, rowBytes: stored.rowBytes, first: 0, count: stored.size.height)
      }
      bitmap.isDamaged = isDamaged
      return bitmap
    }

    /// libwebp's own scaler averages exactly to any size, edge to edge; worth it from half the size on.
    static func size(of header: ImageHeader, for minimumSize: PixelSize?) -> PixelSize {
      let size = header.size
      guard let minimumSize, !header.isDecodedWhole else { return size }
      let width = max(minimumSize.width, 1)
      let height = max(minimumSize.height, 1)
      guard width <= size.width / 2, height <= size.height / 2 else { return size }
      if size.width * height <= size.height * width {
        return PixelSize(
          width: width, height: (size.height * width).dividedRoundingUp(by: size.width))
      }
      return PixelSize(
        width: (size.width * height).dividedRoundingUp(by: size.height), height: height)
    }
  }

  /// One pass over one WebP file, whose bytes stay in place for this object's life.
  ///
  /// Invariant: no call follows one that threw.
  final class WebPReader {
    private static let profileLimit = 4 << 20

    /// Decoding pauses after this many bytes, or a thirty-second of the file, to ask whether to
    /// go on: a few milliseconds of work.
    private static let stepByteCount = 16 << 10

    let orientation: Orientation
    private let reader: OpaquePointer
    private let header: fic_webp_header

    private var canvas: PixelSize {
      PixelSize(width: Int(header.width), height: Int(header.height))
    }

    var coversCanvas: Bool {
      header.frame_width == header.width && header.frame_height == header.height
    }

    var profile: Data? {
      guard let start = header.profile, header.profile_count <= Self.profileLimit else {
        return nil
      }
      return Data(bytes: start, count: header.profile_count)
    }

    /// A lossless image keeps four bytes a pixel and up to one for its transforms. The alpha of a
    /// lossy image is stored without loss, and takes a byte more. Turning takes a second image.
    ///
    /// Two kinds are decoded whole. A frame that covers only a part of its canvas keeps its
    /// position only at full size. In a lossy image with alpha, libwebp's scaler would mix
    /// colours of transparent pixels into the visible ones.
    var imageHeader: ImageHeader {
      let pixel = header.is_lossless || header.has_alpha ? 5 : 0
      let turning = orientation == .up ? 0 : 4
      // Sides have at most 24 bits (RFC 9649), so nothing overflows.
      var result = ImageHeader(
        size: orientation.turning(canvas), hasAlpha: header.has_alpha,
        wholeImageByteCount: canvas.width * canvas.height * (pixel + turning))
      result.isDecodedWhole = !coversCanvas || (header.has_alpha && !header.is_lossless)
      return result
    }

    init(_ bytes: UnsafeRawBufferPointer, mayBeCut: Bool) throws(ImageDecodingError) {
      guard let start = bytes.start else { throw .truncated }
      guard let reader = fic_webp_reader_create() else { throw .outOfMemory }
      self.reader = reader
      var header = fic_webp_header()
      let status = fic_webp_read_header(reader, start, bytes.count, mayBeCut, &header)
      self.header = header
      let exif = UnsafeRawBufferPointer(start: header.exif, count: header.exif_count)
      orientation = Orientation(exif: exif.bytes, in: 0..<exif.count)
      try status.check(.webp)
    }

    deinit { fic_webp_reader_close(reader) }

    /// - Parameter showsPart: Whether the rows that can be read suffice, if there are any.
    /// - Returns: Whether bytes are missing.
    func decode(
      _ pixels: UnsafeMutableRawBufferPointer, _ layout: PixelLayout, showsPart: Bool,
      unless isCancelled: () -> Bool
    ) throws(ImageDecodingError) -> Bool {
      guard let start = pixels.baseAddress, pixels.count >= layout.byteCount else {
        throw .outOfMemory
      }
      var offset = 0
      var size = layout.size
      if showsPart {
        layout.format.writeBlank(
          start.assumingMemoryBound(to: UInt8.self), layout.rowBytes, layout.size.height,
          width: layout.size.width)
      }
      if !coversCanvas {
        memset(start, 0, layout.byteCount)
        offset = Int(header.frame_y) * layout.rowBytes + Int(header.frame_x) * 4
        size = PixelSize(width: Int(header.frame_width), height: Int(header.frame_height))
      }
      try fic_webp_start(
        reader, start.assumingMemoryBound(to: UInt8.self) + offset, layout.rowBytes,
        layout.byteCount - offset, UInt32(size.width), UInt32(size.height)
      ).check(.webp)

      do throws(ImageDecodingError) {
        try Self.decode(reader, byteCount: header.frame_count, unless: isCancelled)
      } catch {
        guard showsPart, error.isDamage, fic_webp_rows_written(reader) > 0 else { throw error }
        return true
      }
      return header.is_cut
    }

    /// Decodes the encoded bytes of one frame, step by step.
    static func decode(
      _ reader: OpaquePointer, byteCount: Int, unless isCancelled: () -> Bool
    ) throws(ImageDecodingError) {
      let step = max(stepByteCount, byteCount / 32)
      var count = 0
      var isComplete = false
      while !isComplete {
        if isCancelled() { throw .cancelled }
        count = min(count + step, byteCount)
        try fic_webp_decode(reader, count, &isComplete).check(.webp)
      }
    }
  }
#endif
