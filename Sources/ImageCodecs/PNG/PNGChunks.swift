import Pixels

/// Size, kind, colours and metadata of a PNG file, and the places of its chunks, found without decompressing one.
///
/// An optional chunk with a wrong checksum counts as left out. Decoding verifies the pixels' checksums.
struct PNGChunks {
  private(set) var size: PixelSize
  private(set) var isInterlaced: Bool
  private(set) var colors = PNGColors()

  /// The EXIF chunk's content; it may stand after the image.
  private(set) var exif: Range<Int>?

  /// The offsets of the first bytes of chunks that a decode reads. The palette may be one that colours do not need.
  private(set) var profile: Int?
  private(set) var palette: Int?
  private(set) var transparency: Int?
  private(set) var pixels: Int?

  let colorType: UInt8
  private let bitDepth: UInt8
  private var paletteCount = 0

  var hasAlpha: Bool { colorType & 4 != 0 || transparency != nil }
  var isGray: Bool { colorType & 2 == 0 && !hasAlpha }

  init(_ bytes: RawSpan) throws(ImageDecodingError) {
    // PNG, third edition, sections 5.2 and 11.2.1: eight bytes of signature, then IHDR with 13 bytes.
    guard bytes.byteCount >= 33 else { throw .truncated }
    guard bytes.bigEndian32(at: 8) == 13, bytes.has("IHDR", at: 12),
      let width = bytes.bigEndian32(at: 16), let height = bytes.bigEndian32(at: 20),
      let bitDepth = bytes.byte(at: 24), let colorType = bytes.byte(at: 25),
      let interlacing = bytes.byte(at: 28)
    else { throw .damaged("A PNG file has to begin with its header chunk.") }
    guard width > 0, height > 0, width < 1 << 31, height < 1 << 31 else {
      throw .damaged("The PNG header gives the size \(width)x\(height).")
    }
    size = PixelSize(width: width, height: height)
    self.bitDepth = bitDepth
    self.colorType = colorType
    isInterlaced = interlacing != 0

    var offset = 33
    while let length = bytes.bigEndian32(at: offset), !bytes.has("IEND", at: offset + 4) {
      if pixels == nil, bytes.has("IDAT", at: offset + 4) { pixels = offset }
      let content = offset + 8..<offset + 8 + length
      guard content.upperBound + 4 <= bytes.byteCount else { return }
      if bytes.has("eXIf", at: offset + 4) {
        if exif == nil, PNGChecksum.isRight(content, bytes) { exif = content }
      } else if pixels == nil {
        try read(content, bytes)
      }
      offset = content.upperBound + 4
    }
  }

  /// Reads a chunk before the pixels.
  private mutating func read(_ content: Range<Int>, _ bytes: RawSpan) throws(ImageDecodingError) {
    let (start, name) = (content.lowerBound - 8, content.lowerBound - 4)
    // A small first letter means that an image can be shown without the chunk; section 5.4.
    guard let letter = bytes.byte(at: name), letter & 0x20 != 0 else {
      guard bytes.has("PLTE", at: name), palette == nil, PNGChecksum.isRight(content, bytes) else {
        throw .damaged("The PNG chunk at byte \(start) is damaged, unknown or there twice.")
      }
      palette = start
      paletteCount = min(content.count / 3, 1 << min(bitDepth, 8))
      return
    }
    if bytes.has("tRNS", at: name) {
      if transparency == nil, isTransparency(content.count), PNGChecksum.isRight(content, bytes) {
        transparency = start
      }
    } else if bytes.has("iCCP", at: name) {
      if profile == nil, PNGChecksum.isRight(content, bytes) { profile = start }
    } else {
      colors.read(content, bytes)
    }
  }

  /// Whether a tRNS chunk of so many bytes fits the pixels. Before its palette it has no meaning, as in browsers.
  private func isTransparency(_ byteCount: Int) -> Bool {
    switch colorType {
    case 0: byteCount == 2
    case 2: byteCount == 6
    case 3: byteCount > 0 && byteCount <= paletteCount
    default: false
    }
  }
}
