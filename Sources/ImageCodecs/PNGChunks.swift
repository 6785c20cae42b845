import Pixels

/// Size, kind and metadata of a PNG file, found without decompressing a chunk.
///
/// Decoding proves the checksums, which are ignored here.
struct PNGChunks {
  private(set) var size: PixelSize
  private(set) var colorType: UInt8
  private(set) var isInterlaced: Bool
  private(set) var hasTransparentColor = false

  /// The EXIF chunk's content; it may stand after the picture.
  private(set) var exif: Range<Int>?

  var hasAlpha: Bool { colorType & 4 != 0 || hasTransparentColor }
  var isGray: Bool { colorType & 2 == 0 && !hasAlpha }

  init(_ bytes: RawSpan) throws(ImageDecodingError) {
    // PNG 1.2, sections 3 and 4.1: eight bytes of signature, then IHDR with 13 bytes.
    guard bytes.byteCount >= 33 else { throw .truncated }
    guard bytes.bigEndian32(at: 8) == 13, bytes.has("IHDR", at: 12),
      let width = bytes.bigEndian32(at: 16), let height = bytes.bigEndian32(at: 20),
      let colorType = bytes.byte(at: 25), let interlacing = bytes.byte(at: 28)
    else { throw .damaged("A PNG file has to begin with its header chunk.") }
    guard width > 0, height > 0, width < 1 << 31, height < 1 << 31 else {
      throw .damaged("The PNG header gives the size \(width)x\(height).")
    }
    size = PixelSize(width: width, height: height)
    self.colorType = colorType
    isInterlaced = interlacing != 0

    var offset = 33
    while let length = bytes.bigEndian32(at: offset), offset + 12 + length <= bytes.byteCount,
      !bytes.has("IEND", at: offset + 4)
    {
      let content = offset + 8..<offset + 8 + length
      if bytes.has("tRNS", at: offset + 4) {
        hasTransparentColor = true
      } else if bytes.has("eXIf", at: offset + 4), exif == nil {
        exif = content
      }
      offset += 12 + length
    }
  }
}
