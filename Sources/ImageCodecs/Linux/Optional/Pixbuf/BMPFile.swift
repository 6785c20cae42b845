#if Pixbuf && !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  extension PixbufFile {
    /// Reads the head of a BMP file, as MSDN has it for `BITMAPFILEHEADER` and `BITMAPV5HEADER`, and sees that all rows
    /// are there: gdk-pixbuf shows what its memory held before where they are not.
    ///
    /// gdk-pixbuf loses its place, or takes memory, where bytes stand between the head and the pixels. So it gets
    /// neither these nor any behind the pixels.
    init(bmp bytes: RawSpan) throws(ImageDecodingError) {
      let fileHeader = 14
      guard let start = bytes.littleEndian32(at: 10) else { throw .truncated }
      let header = try DIBHeader(bytes, at: fileHeader)
      let hasMasksBehind = header.compression == 3 && [40, 64].contains(header.byteCount)
      let masks = fileHeader + (hasMasksBehind ? header.byteCount : 40)
      let head =
        fileHeader + header.byteCount + header.paletteByteCount + (hasMasksBehind ? 12 : 0)
      guard start >= head else { throw .damaged("BMP: pixels at byte \(start), within the header") }
      var (count, overflow) = header.rowByteCount.multipliedReportingOverflow(
        by: header.size.height)
      guard !overflow else { throw .tooLarge("BMP: an image of \(header.size) pixels") }
      var alpha = fic_pixbuf_alpha.opaque
      switch (header.compression, header.depth) {
      case (0, _): break
      case (1, 8), (2, 4):
        // Runs that end early leave the rest transparent, so only the announced length tells whether they all came.
        count = header.pixelByteCount
        guard count > 0, bytes.byteCount - start >= count else { throw .truncated }
        try header.checkRuns(bytes.extracting(start..<start + count))
        alpha = .separate
      case (3, 16), (3, 32):
        // gdk-pixbuf does not spread fewer than four bits over a byte.
        let hasAlphaMask = header.depth == 32 && header.byteCount >= 56 && !hasMasksBehind
        for index in 0..<(hasAlphaMask ? 4 : 3) {
          let mask = bytes.littleEndian32(at: masks + 4 * index) ?? 0
          guard !(1...3).contains(mask.nonzeroBitCount) else {
            throw .unsupported("BMP: a mask of \(mask.nonzeroBitCount) bits")
          }
        }
        if header.depth == 32 { alpha = .separate }
      default:
        throw .unsupported("BMP: compression \(header.compression) of \(header.depth) bits")
      }
      guard bytes.byteCount - start >= count else { throw .truncated }
      let offset = withUnsafeBytes(of: UInt32(head).littleEndian) { Data($0) }
      self.init(
        .bmp, header.size, alpha,
        [.place(0..<10), .bytes(offset), .place(14..<head), .place(start..<start + count)])
    }
  }

  /// The header of a device-independent bitmap, of the sizes that gdk-pixbuf knows.
  struct DIBHeader {
    let byteCount: Int
    let size: PixelSize
    let depth: Int
    let compression: Int
    /// What the header says the pixels take; 0 for nothing said.
    let pixelByteCount: Int
    let colorCount: Int
    let paletteByteCount: Int

    /// Rows that are not compressed are multiples of four bytes.
    var rowByteCount: Int { (size.width * depth + 31) / 32 * 4 }

    init(_ bytes: RawSpan, at start: Int) throws(ImageDecodingError) {
      guard let byteCount = bytes.littleEndian32(at: start) else { throw .truncated }
      guard [12, 40, 52, 56, 64, 108, 124].contains(byteCount) else {
        throw .unsupported("BMP: a header of \(byteCount) bytes")
      }
      guard start + byteCount <= bytes.byteCount else { throw .truncated }
      func short(_ offset: Int) -> Int { bytes.littleEndian16(at: start + offset) ?? 0 }
      func long(_ offset: Int) -> Int { bytes.littleEndian32(at: start + offset) ?? 0 }
      let isOld = byteCount == 12
      let (width, height) = isOld ? (short(4), short(6)) : (long(4), long(8))
      depth = isOld ? short(10) : short(14)
      compression = isOld ? 0 : long(16)
      pixelByteCount = isOld ? 0 : long(20)
      let named = isOld ? 0 : long(32)
      // Rows from top to bottom have a negative height.
      let rows =
        isOld
        ? Int(Int16(truncatingIfNeeded: height)) : Int(Int32(truncatingIfNeeded: height))
      size = PixelSize(width: width, height: abs(rows))
      guard (1...(isOld ? Int(Int16.max) : Int(Int32.max))).contains(width), rows != 0 else {
        throw .damaged("BMP: an image of \(width) x \(rows) pixels")
      }
      guard [1, 4, 8, 16, 24, 32].contains(depth) else {
        throw .unsupported("BMP: \(depth) bits a pixel")
      }
      colorCount = depth > 8 ? 0 : named == 0 ? 1 << depth : named
      guard colorCount <= 256 else { throw .damaged("BMP: a palette of \(colorCount) colours") }
      paletteByteCount = colorCount * (isOld ? 3 : 4)
      self.byteCount = byteCount
    }

    /// Follows the runs: gdk-pixbuf believes a step of any length, and writes where it leads.
    func checkRuns(_ codes: RawSpan) throws(ImageDecodingError) {
      var (x, y, at) = (0, 0, 0)
      while let count = codes.byte(at: at), let value = codes.byte(at: at + 1) {
        at += 2
        switch (count, value) {
        case (0, 0): (x, y) = (0, y + 1)
        case (0, 1): return
        case (0, 2):
          guard let right = codes.byte(at: at), let up = codes.byte(at: at + 1) else {
            throw .truncated
          }
          (x, y, at) = (x + Int(right), y + Int(up), at + 2)
          guard x <= size.width, y < size.height else { throw .damaged("BMP: a step outside") }
        case (0, _):
          // An even number of bytes.
          at += (Int(value) * depth + 15) / 16 * 2
          x = min(x + Int(value), size.width)
        default: x = min(x + Int(count), size.width)
        }
        // gdk-pixbuf ends here, too.
        if y >= size.height { return }
      }
    }
  }
#endif
