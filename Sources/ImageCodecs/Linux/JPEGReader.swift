#if !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  /// One pass over one JPEG file, whose bytes stay in place for this object's life.
  ///
  /// Invariant: calls come in the order `init`, `start`, `takeInScans`, `keepColumns`, `skip` and
  /// `read`; none follows one that threw.
  final class JPEGReader {
    private let reader: OpaquePointer
    private let header: fic_jpeg_header
    /// Lent to the reader, which is closed before it goes back.
    private var coefficients: SpareMemory.Block?

    var kind: LCMSConversion.Kind {
      switch header.kind {
      case .gray: .gray
      case .color: .rgb
      // Adobe's way, which browsers expect of files without Adobe's segment, too.
      case .cmyk: .cmyk
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

    deinit {
      fic_jpeg_reader_close(reader)
      if let coefficients { SpareMemory.mappings.give(coefficients) }
    }

    /// Whether damage was met so far, where parts are shown.
    var isDamaged: Bool { fic_jpeg_is_damaged(reader) }

    func imageHeader(_ orientation: Orientation) -> ImageHeader {
      let stored = PixelSize(width: Int(header.width), height: Int(header.height))
      return ImageHeader(
        size: orientation.turning(stored), isGray: kind == .gray,
        wholeImageByteCount: Int(clamping: header.coefficient_bytes))
    }

    func start(
      eighths: Int, interpolatesColors: Bool, showsPart: Bool, memoryLimit: Int
    ) throws(ImageDecodingError) -> PixelSize {
      // A scan without content costs its reader 0.35 ms a megapixel and its writer 48 bytes.
      let megapixels = Double(header.width) * Double(header.height) / 1_000_000
      let scanLimit = min(200, max(30, 1500 / megapixels))
      if header.has_several_scans { try lendCoefficients() }
      var (width, height) = (UInt32(0), UInt32(0))
      try check(
        fic_jpeg_start(
          reader, UInt32(eighths), interpolatesColors, showsPart, UInt32(scanLimit), memoryLimit,
          &width, &height))
      return PixelSize(width: Int(width), height: Int(height))
    }

    private func lendCoefficients() throws(ImageDecodingError) {
      let byteCount = Int(clamping: header.coefficient_bytes)
      guard let block = SpareMemory.mappings.take(byteCount: byteCount) else { throw .outOfMemory }
      coefficients = block
      fic_jpeg_lend(reader, block.start, byteCount)
    }

    func takeInScans(unless isCancelled: () -> Bool) throws(ImageDecodingError) {
      guard header.has_several_scans else { return }
      var isComplete = false
      while !isComplete {
        if isCancelled() { throw .cancelled }
        try check(fic_jpeg_take_in(reader, 16, &isComplete))
      }
    }

    /// Has later rows begin and end elsewhere.
    ///
    /// - Returns: The columns that rows will have: more on the left, up to a border of blocks.
    func keepColumns(_ columns: Range<Int>) throws(ImageDecodingError) -> Range<Int> {
      var (first, count) = (UInt32(columns.lowerBound), UInt32(columns.count))
      try check(fic_jpeg_keep_columns(reader, &first, &count))
      return Int(first)..<Int(first) + Int(count)
    }

    /// Passes over rows, whose bytes are read all the same.
    func skip(_ count: Int, unless isCancelled: () -> Bool) throws(ImageDecodingError) {
      let stripHeight = 512
      for first in stride(from: 0, to: count, by: stripHeight) {
        if isCancelled() { throw .cancelled }
        try check(fic_jpeg_skip_rows(reader, UInt32(min(stripHeight, count - first))))
      }
    }

    func read(
      into rows: UnsafeMutablePointer<UInt8>, rowBytes: Int, count: Int
    ) throws(ImageDecodingError) {
      try check(fic_jpeg_read_rows(reader, rows, rowBytes, UInt32(count)))
    }

    func convertInk(
      _ row: UnsafeMutablePointer<UInt8>, pixelCount: Int, _ conversion: LCMSConversion?,
      to space: ColorSpace
    ) {
      if let conversion {
        conversion.convert(row, pixelCount: pixelCount, to: space)
      } else {
        fic_rows_cmyk_to_bgrx(row, pixelCount)
      }
    }

    private func check(_ status: fic_status) throws(ImageDecodingError) {
      try status.check(.jpeg, fic_jpeg_reader_message(reader))
    }
  }
#endif
