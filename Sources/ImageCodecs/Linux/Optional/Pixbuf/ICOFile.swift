#if Pixbuf && !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  /// The images of one ICO file.
  enum ICOFile {
    /// The place of the largest image.
    static func largest(_ bytes: RawSpan) throws(ImageDecodingError) -> Range<Int> {
      guard let count = bytes.littleEndian16(at: 4) else { throw .truncated }
      var largest: (area: Int, place: Range<Int>)?
      for index in 0..<count {
        let entry = 6 + 16 * index
        guard let width = bytes.byte(at: entry), let height = bytes.byte(at: entry + 1),
          let byteCount = bytes.littleEndian32(at: entry + 8),
          let offset = bytes.littleEndian32(at: entry + 12)
        else { throw .truncated }
        // No byte has room for 256. Of equal sizes the one with more bytes has more colours.
        let area = (width == 0 ? 256 : Int(width)) * (height == 0 ? 256 : Int(height))
        guard (area, byteCount) > (largest?.area ?? 0, largest?.place.count ?? 0) else { continue }
        largest = (area, offset..<offset + byteCount)
      }
      guard let place = largest?.place else { throw .damaged("ICO: no image") }
      guard place.upperBound <= bytes.byteCount else { throw .truncated }
      return place
    }

    /// A file of this bitmap alone, whose palette is full: gdk-pixbuf takes what its memory held before for colours
    /// that are not there.
    ///
    /// The rows are colours first and then, unless these have alpha, one bit a pixel for what is transparent.
    static func bitmap(
      _ bytes: RawSpan, in place: Range<Int>
    ) throws(ImageDecodingError) -> PixbufFile {
      let bitmap = bytes.extracting(place)
      let header = try DIBHeader(bitmap, at: 0)
      guard header.byteCount == 40, header.compression == 0 else {
        throw .unsupported("ICO: a compressed bitmap, or a header of \(header.byteCount) bytes")
      }
      let size = PixelSize(width: header.size.width, height: header.size.height / 2)
      guard size.height > 0 else { throw .damaged("ICO: an image of \(size) pixels") }
      let maskRowBytes = (size.width + 31) / 32 * 4
      let maskBytes = header.depth == 32 ? 0 : maskRowBytes
      let first = place.lowerBound + header.byteCount + header.paletteByteCount
      let (count, overflow) = (header.rowByteCount + maskBytes).multipliedReportingOverflow(
        by: size.height)
      guard !overflow, count <= place.upperBound - first else { throw .truncated }

      // gdk-pixbuf compares the directory's sides, which have one byte each, 0 for 256.
      guard size.width <= 256, size.height <= 256 else {
        throw .unsupported("ICO: a bitmap of \(size) pixels")
      }
      // Its rows of one bit have no palette.
      guard header.depth > 1 || bitmap.hasBlackAndWhite(at: header.byteCount) else {
        throw .unsupported("ICO: one bit a pixel, in colours")
      }
      let sides = [size.width, size.height].map { UInt8(truncatingIfNeeded: $0) }
      var head = Data(
        [0, 0, 1, 0, 1, 0] + sides + [UInt8](repeating: 0, count: 10) + [22, 0, 0, 0])
      head += bitmap.extracting(0..<40 + header.paletteByteCount).withUnsafeBytes { Data($0) }
      let (palette, colors) = (22 + 40, 22 + 32)
      let full = header.depth > 8 ? 0 : 4 << header.depth
      guard header.paletteByteCount <= full else { throw .damaged("ICO: too many colours") }
      head += Data(count: palette + full - head.count)
      head.replaceSubrange(colors..<colors + 4, with: [0, 0, 0, 0])
      let byteCount = UInt32(clamping: head.count - 22 + count).littleEndian
      withUnsafeBytes(of: byteCount) { head.replaceSubrange(14..<18, with: $0) }
      guard header.depth == 32 else {
        return PixbufFile(.ico, size, .separate, [.bytes(head), .place(first..<first + count)])
      }
      var pixels = bytes.extracting(first..<first + count).withUnsafeBytes { Data($0) }
      let mask = bytes.extracting(first + count..<place.upperBound)
      pixels.setAlpha(from: mask, rowBytes: maskRowBytes, width: size.width)
      return PixbufFile(.ico, size, .separate, [.bytes(head), .bytes(pixels)])
    }
  }

  extension RawSpan {
    fileprivate func hasBlackAndWhite(at offset: Int) -> Bool {
      littleEndian24(at: offset) == 0 && littleEndian24(at: offset + 4) == 0xFF_FFFF
    }
  }

  extension Data {
    /// Icons of 32 bits without any alpha are older than alpha: their mask counts, or nothing where there is none.
    fileprivate mutating func setAlpha(from mask: RawSpan, rowBytes: Int, width: Int) {
      guard stride(from: 3, to: count, by: 4).allSatisfy({ self[$0] == 0 }) else { return }
      for pixel in 0..<count / 4 {
        let (y, x) = pixel.quotientAndRemainder(dividingBy: width)
        let bits = mask.byte(at: y * rowBytes + x / 8) ?? 0
        self[4 * pixel + 3] = bits << (x % 8) & 0x80 == 0 ? 255 : 0
      }
    }
  }
#endif
