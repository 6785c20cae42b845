#if !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  /// JPEG by libjpeg-turbo, at 1/8, 2/8, 4/8 or 8/8 of the size: the scales at which its transform
  /// is vectorised, so that a smaller result is never the slower one.
  struct JPEGDecoder: ImageDecoder {
    func recognizes(_ firstBytes: Data) -> Bool {
      EncodedImageType(firstBytes: firstBytes) == .jpeg
    }

    func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
      try data.lendBytes { bytes throws(ImageDecodingError) in
        let reader = try JPEGReader(bytes)
        let segments = JPEGSegments(bytes.bytes)
        return reader.imageHeader(Orientation(exif: bytes.bytes, in: segments.exif))
      }
    }

    func workingByteCount(for header: ImageHeader, minimumSize: PixelSize?) -> Int {
      let eighths = Self.eighths(of: header.size, for: minimumSize)
      return PixelLayout.byteCount(
        size: header.size.scaled(toEighths: eighths), format: header.isGray ? .gray8 : .bgrx32
      ).addingClamped(header.wholePictureByteCount).addingClamped(rowBufferByteCount(header.size))
    }

    func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
      try data.lendBytes { bytes throws(ImageDecodingError) in
        let thumbnail = try request.sufficientThumbnail { size throws(ImageDecodingError) in
          var request = request
          request.minimumSize = size
          return try decodeThumbnail(in: bytes, request)
        }
        if let thumbnail { return thumbnail }
        return try decode(bytes, request).bitmap
      }
    }

    /// - Parameters:
    ///   - turn: The turn that brings the picture upright; `nil` for the file's own.
    ///   - isCut: Whether the file ends within its rows.
    private func decode(
      _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest, turned turn: Orientation? = nil,
      profile otherProfile: Data? = nil,
      isCut: Bool = false
    ) throws(ImageDecodingError) -> DecodedPreview {
      let reader = try JPEGReader(bytes)
      let segments = JPEGSegments(bytes.bytes)
      let orientation = turn ?? Orientation(exif: bytes.bytes, in: segments.exif)
      let header = reader.imageHeader(orientation)
      let working = workingByteCount(for: header, minimumSize: request.minimumSize)
      try request.limits.check(
        header, encodedByteCount: bytes.count, workingByteCount: working)
      // Gray pixels cannot be transparent.
      if isCut, header.isGray || header.wholePictureByteCount > 0 {
        throw .unsupported("JPEG: top rows of a gray file, or of one with several scans")
      }

      let conversion = LCMSConversion.shared(
        profile: segments.profile(bytes) ?? otherProfile, kind: reader.kind)
      let eighths = Self.eighths(of: header.size, for: request.minimumSize)
      let scaled = try reader.start(
        eighths: eighths,
        interpolatesColors: !Self.isMuchReduced(header.size, for: request.minimumSize),
        memoryLimit: header.wholePictureByteCount + rowBufferByteCount(header.size)
      )
      // Newer libraries read lossless files without scaling them, and need more memory than was
      // declared.
      guard orientation.turning(scaled) == header.size.scaled(toEighths: eighths) else {
        throw .unsupported("JPEG: a file that cannot be decoded at \(eighths)/8 of its size")
      }
      try reader.takeInScans(unless: request.isCancelled)
      let isInk = reader.kind.isInk
      func readRows(
        _ rows: UnsafeMutablePointer<UInt8>, _ rowBytes: Int, _ count: Int
      ) throws(ImageDecodingError) {
        try reader.read(into: rows, rowBytes: rowBytes, count: count)
        guard isInk else { return }
        for row in 0..<count {
          reader.convertInk(rows + row * rowBytes, pixelCount: scaled.width, conversion)
        }
      }
      let size = orientation.turning(scaled)
      let topRows = isCut ? TopRows() : nil
      let bitmap = try Bitmap.decoding(
        size: size, format: isCut ? .bgra32 : header.isGray ? .gray8 : .bgrx32,
        edges: orientation.edges(of: header.size, reducedBy: 8 / Double(eighths), to: size),
        conversion: isInk ? nil : conversion
      ) { pixels, layout throws(ImageDecodingError) in
        let target = try UprightRows(pixels, layout: layout, orientation: orientation)
        try target.fill(unless: request.isCancelled) {
          rows, rowBytes, count throws(ImageDecodingError) in
          guard let topRows else { return try readRows(rows, rowBytes, count) }
          try topRows.write(rows, rowBytes, count, width: scaled.width) {
            row throws(ImageDecodingError) in try readRows(row, rowBytes, 1)
          }
        }
      }
      if let topRows { return try topRows.preview(bitmap, of: scaled.height) }
      try reader.finish()
      return DecodedPreview(bitmap)
    }

    /// The smallest scale whose result is not below the minimum in either dimension.
    static func eighths(of size: PixelSize, for minimumSize: PixelSize?) -> Int {
      guard let minimumSize else { return 8 }
      return [1, 2, 4].first {
        let scaled = size.scaled(toEighths: $0)
        return scaled.width >= minimumSize.width && scaled.height >= minimumSize.height
      } ?? 8
    }

    /// Whether the caller will average several pixels into one, which hides the squares of coarsely
    /// stored colours.
    ///
    /// Callers ask for twice the size that they show, where the picture has it (see
    /// ``DecodeRequest``). A caller that asks for less than the whole picture therefore shows at
    /// most half of its size.
    static func isMuchReduced(_ size: PixelSize, for minimumSize: PixelSize?) -> Bool {
      guard let minimumSize else { return false }
      return minimumSize.width < size.width && minimumSize.height < size.height
    }
  }

  extension JPEGDecoder: ProgressiveImageDecoder {
    func makePreviewScanner(of byteCount: Int?) -> any PreviewScanner {
      JPEGScanWatch(settles: true, of: byteCount)
    }

    func decodePreview(
      _ bytes: Data, at stage: PreviewStage, _ request: DecodeRequest
    ) throws(ImageDecodingError) -> DecodedPreview {
      switch stage.kind {
      case .frame: DecodedPreview(try decode(bytes.closedAsJPEG(), request))
      case .rows:
        try bytes.lendBytes { bytes throws(ImageDecodingError) in
          try decode(bytes, request, isCut: true)
        }
      case .embedded:
        try bytes.lendBytes { bytes throws(ImageDecodingError) in
          DecodedPreview(try decodeThumbnail(in: bytes, request))
        }
      }
    }

    /// Decodes the thumbnail in the head of a file. It takes no more memory than its picture would.
    private func decodeThumbnail(
      in bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(ImageDecodingError) -> Bitmap {
      let segments = JPEGSegments(bytes.bytes)
      let metadata = segments.exif
      let orientation = Orientation(exif: bytes.bytes, in: metadata)
      let header = try JPEGReader(bytes).imageHeader(orientation)
      try request.limits.check(header.size)
      guard let place = ExifBlock(bytes.bytes, in: metadata)?.thumbnail(bytes.bytes) else {
        throw .unsupported("JPEG: a file without a thumbnail")
      }
      var request = request
      let wanted = request.minimumSize ?? header.size
      let working = workingByteCount(for: header, minimumSize: wanted)
      request.minimumSize = nil
      request.limits.workingByteCount = min(request.limits.workingByteCount, working)
      let thumbnail = try decode(
        UnsafeRawBufferPointer(rebasing: bytes[place]), request,
        // A thumbnail without a profile has its picture's colours.
        turned: orientation, profile: segments.profile(bytes)
      ).bitmap
      guard let checked = EmbeddedThumbnail.check(thumbnail, of: header.size, wanted: wanted) else {
        throw .unsupported("JPEG: a thumbnail of another picture, or too small a one")
      }
      return checked
    }
  }

  extension PixelSize {
    /// libjpeg rounds up.
    fileprivate func scaled(toEighths eighths: Int) -> PixelSize {
      guard eighths < 8 else { return self }
      return PixelSize(
        width: (width * eighths).dividedRoundingUp(by: 8),
        height: (height * eighths).dividedRoundingUp(by: 8))
    }
  }

  /// One pass over one JPEG file, whose bytes stay in place for this object's life.
  ///
  /// Invariant: calls come in the order `init`, `start`, `takeInScans`, `read`, `finish`; none
  /// follows one that threw.
  private final class JPEGReader {
    private let reader: OpaquePointer
    private let header: fic_jpeg_header

    var kind: LCMSConversion.Kind {
      switch header.kind {
      case .gray: .gray
      case .color: .rgb
      case .cmyk: header.ink_is_inverted ? .invertedCMYK : .cmyk
      }
    }

    init(_ bytes: UnsafeRawBufferPointer) throws(ImageDecodingError) {
      guard let start = bytes.start else { throw .truncated }
      guard let reader = fic_jpeg_reader_create() else { throw .outOfMemory }
      self.reader = reader
      var header = fic_jpeg_header()
      let status = fic_jpeg_read_header(reader, start, bytes.count, &header)
      self.header = header
      try check(status)
    }

    deinit { fic_jpeg_reader_close(reader) }

    func imageHeader(_ orientation: Orientation) -> ImageHeader {
      let stored = PixelSize(width: Int(header.width), height: Int(header.height))
      return ImageHeader(
        size: orientation.turning(stored), isGray: kind == .gray,
        wholePictureByteCount: Int(clamping: header.coefficient_bytes))
    }

    func start(
      eighths: Int, interpolatesColors: Bool, memoryLimit: Int
    ) throws(ImageDecodingError) -> PixelSize {
      // A scan without content costs its reader 0.35 ms a megapixel and its writer 48 bytes.
      let megapixels = Double(header.width) * Double(header.height) / 1_000_000
      let scanLimit = min(200, max(30, 1500 / megapixels))
      var (width, height) = (UInt32(0), UInt32(0))
      try check(
        fic_jpeg_start(
          reader, UInt32(eighths), interpolatesColors, UInt32(scanLimit), memoryLimit, &width,
          &height))
      return PixelSize(width: Int(width), height: Int(height))
    }

    func takeInScans(unless isCancelled: () -> Bool) throws(ImageDecodingError) {
      guard header.has_several_scans else { return }
      var isComplete = false
      while !isComplete {
        if isCancelled() { throw .cancelled }
        try check(fic_jpeg_take_in(reader, 16, &isComplete))
      }
    }

    func read(
      into rows: UnsafeMutablePointer<UInt8>, rowBytes: Int, count: Int
    ) throws(ImageDecodingError) {
      try check(fic_jpeg_read_rows(reader, rows, rowBytes, UInt32(count)))
    }

    func convertInk(
      _ row: UnsafeMutablePointer<UInt8>, pixelCount: Int, _ conversion: LCMSConversion?
    ) {
      if let conversion {
        conversion.convert(row, pixelCount: pixelCount)
      } else {
        fic_rows_cmyk_to_bgrx(row, pixelCount, header.ink_is_inverted)
      }
    }

    func finish() throws(ImageDecodingError) { try check(fic_jpeg_finish(reader)) }

    private func check(_ status: fic_status) throws(ImageDecodingError) {
      try status.check(.jpeg, fic_jpeg_reader_message(reader))
    }
  }
#endif
