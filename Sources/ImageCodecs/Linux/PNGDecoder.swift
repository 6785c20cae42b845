#if !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  /// PNG by libpng, row by row.
  ///
  /// An image much larger than wanted is averaged down by a whole factor while its rows pass by,
  /// so that a huge one takes the memory of a small one. Interlaced ones are decoded whole.
  struct PNGDecoder: ImageDecoder {
    func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
      try data.lendBytes { bytes throws(ImageDecodingError) in
        let chunks = try PNGChunks(bytes.bytes)
        return header(chunks, Orientation(exif: bytes.bytes, in: chunks.exif))
      }
    }

    func workingByteCount(for header: ImageHeader, minimumSize: PixelSize?) -> Int {
      let buffers = rowBufferByteCount(header.size)
      guard header.wholeImageByteCount == 0 else {
        return header.wholeImageByteCount.addingClamped(buffers)
      }
      let factor = RowAverage.factor(of: header.size, for: minimumSize)
      return PixelLayout.byteCount(
        size: header.size.reduced(by: factor), format: header.isGray ? .gray8 : .bgra32
      ).addingClamped(buffers)
    }

    func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
      try data.lendBytes { bytes throws(ImageDecodingError) in
        try decode(bytes, request, showsPart: request.damagedImages == .showPart)
      }.bitmap
    }

    func header(_ chunks: PNGChunks, _ orientation: Orientation) -> ImageHeader {
      var whole = 0
      if chunks.isInterlaced {
        let format: PixelFormat = chunks.isGray ? .gray8 : .bgra32
        whole = PixelLayout.byteCount(size: chunks.size, format: format)
        // Turning takes a second image.
        if orientation != .up { whole = whole.addingClamped(whole) }
      }
      return ImageHeader(
        size: orientation.turning(chunks.size), hasAlpha: chunks.hasAlpha, isGray: chunks.isGray,
        wholeImageByteCount: whole)
    }

    /// - Parameters:
    ///   - isCut: Whether the file ends within its rows, and is not interlaced.
    ///   - showsPart: Whether a file that is cut or damaged gives an image all the same.
    func decode(
      _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest, isCut: Bool = false,
      showsPart: Bool = false
    ) throws(ImageDecodingError) -> DecodedPreview {
      let chunks = try PNGChunks(bytes.bytes)
      let orientation = Orientation(exif: bytes.bytes, in: chunks.exif)
      let header = header(chunks, orientation)
      try request.limits.check(
        header, encodedByteCount: bytes.count,
        workingByteCount: workingByteCount(for: header, minimumSize: request.minimumSize))

      let reader = try PNGReader(bytes, chunks, request.limits, isCut: isCut)
      // Gray pixels cannot be transparent.
      if isCut, reader.isInterlaced || reader.format == .gray8 {
        throw .unsupported("PNG: top rows of a gray file, or of an interlaced one")
      }
      let factor =
        reader.isInterlaced ? 1 : RowAverage.factor(of: header.size, for: request.minimumSize)
      let size = header.size.reduced(by: factor)
      let format = isCut ? .bgra32 : reader.format
      let topRows = isCut || showsPart ? TopRows(format, endsAtDamage: showsPart) : nil
      let average =
        factor > 1
        ? try RowAverage(size: reader.size, format: reader.format, factor: factor) : nil
      func readRows(
        _ rows: UnsafeMutablePointer<UInt8>, _ rowBytes: Int, _ count: Int
      ) throws(ImageDecodingError) {
        if let average {
          try average.write(rows, rowBytes, count, unless: request.isCancelled) {
            row throws(ImageDecodingError) in try reader.read(row, 0, 1)
          }
        } else {
          try reader.read(rows, rowBytes, count)
        }
      }
      var bitmap = try Bitmap.decoding(
        size: size, format: format,
        edges: orientation.edges(of: header.size, reducedBy: Double(factor), to: size),
        conversion: chunks.colors.conversion(profile: reader.profile, kind: reader.profileKind)
      ) { pixels, layout throws(ImageDecodingError) in
        let target = try UprightRows(pixels, layout: layout, orientation: orientation)
        if reader.isInterlaced {
          try readWhole(reader, pixels, layout, target, orientation, topRows, request)
        } else if let topRows {
          let width = target.storedSize.width
          try target.fill(unless: request.isCancelled) {
            rows, rowBytes, count throws(ImageDecodingError) in
            try topRows.write(rows, rowBytes, count, width: width) {
              row, _ throws(ImageDecodingError) in try readRows(row, rowBytes, 1)
            }
          }
        } else {
          try target.fill(unless: request.isCancelled, readRows)
        }
      }
      bitmap.isDamaged = topRows?.hasEnded == true
      return try topRows?.preview(bitmap, of: orientation.turning(size).height)
        ?? DecodedPreview(bitmap)
    }

    /// Seven passes over one whole image: the result itself, unless it has to be turned. Where parts are shown, the
    /// pixels of each pass stand for those of later ones, too.
    private func readWhole(
      _ reader: PNGReader, _ pixels: UnsafeMutableRawBufferPointer, _ layout: PixelLayout,
      _ target: UprightRows, _ orientation: Orientation, _ topRows: TopRows?,
      _ request: DecodeRequest
    ) throws(ImageDecodingError) {
      let size = reader.size
      var rowBytes = layout.rowBytes
      var scratch: ScratchMemory?
      var rows = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self)
      if orientation != .up {
        rowBytes = size.width * layout.format.bytesPerPixel
        let memory = try ScratchMemory(byteCount: rowBytes * size.height)
        rows = memory.start
        scratch = memory
      }
      guard let rows else { throw .outOfMemory }
      if topRows != nil { layout.format.writeBlank(rows, rowBytes, size.height, width: size.width) }
      for _ in 0..<7 {
        for first in stride(from: 0, to: size.height, by: UprightRows.stripHeight) {
          if request.isCancelled() { throw .cancelled }
          let (strip, count) = (
            rows + first * rowBytes, min(UprightRows.stripHeight, size.height - first)
          )
          guard let topRows else {
            try reader.readPass(strip, rowBytes, count)
            continue
          }
          try topRows.readUnlessEnded(count) { () throws(ImageDecodingError) in
            try reader.readPass(strip, rowBytes, count, fillsBlocks: true)
          }
        }
      }
      reader.premultiply(rows, rowBytes, size.height, width: size.width)
      if let scratch {
        target.place(scratch.start, rowBytes: rowBytes, first: 0, count: size.height)
      }
    }
  }

  extension PNGChunks {
    fileprivate var places: fic_png_chunks {
      fic_png_chunks(
        profile: profile ?? 0, palette: colorType == 3 ? palette ?? 0 : 0,
        transparency: transparency ?? 0, pixels: pixels ?? 0)
    }
  }

  /// One pass over one PNG file, whose bytes stay in place for this object's life.
  ///
  /// Invariant: no call follows one that threw.
  final class PNGReader {
    /// A profile or a palette in a larger chunk is no profile or an error, as with libpng's own default.
    private static let chunkLimit = 8 << 20
    private static let profileLimit = 4 << 20

    private let reader: OpaquePointer
    private let header: fic_png_header

    var size: PixelSize { PixelSize(width: Int(header.width), height: Int(header.height)) }
    var isInterlaced: Bool { header.interlaced }
    var format: PixelFormat {
      header.bytes_per_pixel == 1 ? .gray8 : header.has_alpha ? .bgra32 : .bgrx32
    }
    /// The kind of profile that fits the file's pixels.
    var profileKind: LCMSConversion.Kind {
      header.is_gray ? format == .gray8 ? .gray : .grayAsColor : .rgb
    }
    var profile: Data? {
      guard let start = header.profile, header.profile_count <= Self.profileLimit else {
        return nil
      }
      return Data(bytes: start, count: header.profile_count)
    }

    /// - Parameter isCut: Whether the bytes may end early; rows are those of an interlaced image's passes then.
    init(
      _ bytes: UnsafeRawBufferPointer, _ chunks: PNGChunks, _ limits: DecodingLimits,
      isCut: Bool = false
    ) throws(ImageDecodingError) {
      guard let start = bytes.start else { throw .truncated }
      guard let reader = fic_png_reader_create() else { throw .outOfMemory }
      self.reader = reader
      var header = fic_png_header()
      let status = fic_png_start(
        reader, start, bytes.count, chunks.places,
        UInt32(clamping: min(limits.sideLength, Int(Int32.max))), Self.chunkLimit, isCut, &header)
      self.header = header
      try check(status)
      guard size == chunks.size, isInterlaced == chunks.isInterlaced else {
        throw .damaged("PNG: the header cannot be read in one way only.")
      }
    }

    deinit { fic_png_reader_close(reader) }

    /// Writes the next rows, multiplied by alpha.
    func read(
      _ rows: UnsafeMutablePointer<UInt8>, _ rowBytes: Int, _ count: Int
    ) throws(ImageDecodingError) {
      try readPass(rows, rowBytes, count)
      premultiply(rows, rowBytes, count, width: size.width)
    }

    /// Writes one pass's pixels of the next rows, not yet multiplied.
    ///
    /// - Parameter fillsBlocks: Whether each pixel is written to the places of those of later passes, too.
    func readPass(
      _ rows: UnsafeMutablePointer<UInt8>, _ rowBytes: Int, _ count: Int, fillsBlocks: Bool = false
    ) throws(ImageDecodingError) {
      try check(fic_png_read_rows(reader, rows, rowBytes, UInt32(count), fillsBlocks))
    }

    func premultiply(
      _ rows: UnsafeMutablePointer<UInt8>, _ rowBytes: Int, _ count: Int, width: Int
    ) {
      guard header.has_alpha else { return }
      for row in 0..<count { fic_rows_premultiply(rows + row * rowBytes, width) }
    }

    private func check(_ status: fic_status) throws(ImageDecodingError) {
      try status.check(.png, fic_png_reader_message(reader))
    }
  }
#endif
