/// A TIFF structure of EXIF metadata within other bytes; EXIF 2.32, section 4.5.
///
/// Reads the first two directories and follows no other pointer, so reading always ends. Offsets count from the
/// structure's beginning.
struct ExifBlock {
  /// A number of 16 or 32 bits.
  enum Kind: Int {
    case short = 3
    case long = 4
  }

  private static let entryLimit = 512
  private static let thumbnailOffsetTag = 0x0201
  private static let thumbnailByteCountTag = 0x0202

  private let range: Range<Int>
  private let isLittle: Bool

  /// - Parameters:
  ///   - bytes: The bytes of the file or more.
  ///   - range: The place of the metadata: a TIFF structure, perhaps after `Exif\0\0`.
  /// - Returns: `nil` for bytes that do not begin as such a structure does.
  init?(_ bytes: RawSpan, in range: Range<Int>?) {
    guard var range, range.lowerBound >= 0, range.upperBound <= bytes.byteCount else { return nil }
    if bytes.extracting(range).has("Exif\0\0", at: 0) {
      range = range.lowerBound + 6..<range.upperBound
    }
    let block = bytes.extracting(range)
    isLittle = block.has("II", at: 0)
    guard isLittle || block.has("MM", at: 0) else { return nil }
    self.range = range
    guard short(2, bytes) == 42 else { return nil }
  }

  /// The number that a directory has for a tag; `nil` if it has none, several, or one of another kind.
  func number(_ tag: Int, _ kind: Kind, inDirectory directory: Int, _ bytes: RawSpan) -> Int? {
    guard let count = short(directory, bytes) else { return nil }
    for index in 0..<min(count, Self.entryLimit) {
      let entry = directory + 2 + 12 * index
      guard short(entry, bytes) == tag else { continue }
      guard short(entry + 2, bytes) == kind.rawValue, long(entry + 4, bytes) == 1 else {
        return nil
      }
      return kind == .short ? short(entry + 8, bytes) : long(entry + 8, bytes)
    }
    return nil
  }

  /// The offset of the first directory, which is about the image.
  func firstDirectory(_ bytes: RawSpan) -> Int? { long(4, bytes) }

  /// The JPEG file that the second directory names: a thumbnail.
  ///
  /// - Returns: Its place among all bytes; `nil` if there is none within the structure.
  func thumbnail(_ bytes: RawSpan) -> Range<Int>? {
    guard let first = firstDirectory(bytes), let count = short(first, bytes),
      count <= Self.entryLimit, let second = long(first + 2 + 12 * count, bytes),
      let offset = number(Self.thumbnailOffsetTag, .long, inDirectory: second, bytes),
      let byteCount = number(Self.thumbnailByteCountTag, .long, inDirectory: second, bytes),
      byteCount > 3, offset + byteCount <= range.count
    else { return nil }
    let start = range.lowerBound + offset
    guard bytes.bigEndian16(at: start) == 0xFFD8, bytes.byte(at: start + 2) == 0xFF else {
      return nil
    }
    return start..<start + byteCount
  }

  func short(_ offset: Int, _ bytes: RawSpan) -> Int? {
    let block = bytes.extracting(range)
    return isLittle ? block.littleEndian16(at: offset) : block.bigEndian16(at: offset)
  }

  func long(_ offset: Int, _ bytes: RawSpan) -> Int? {
    let block = bytes.extracting(range)
    return isLittle ? block.littleEndian32(at: offset) : block.bigEndian32(at: offset)
  }
}
