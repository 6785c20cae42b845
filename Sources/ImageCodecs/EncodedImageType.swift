package import Foundation

/// A kind of encoded image, told by its first bytes alone: file names and servers' content types
/// are often wrong, and some are wrong on purpose.
@nonexhaustive public enum EncodedImageType: String, CaseIterable, Hashable, Sendable {
  case jpeg = "JPEG"
  case png = "PNG"
  case webp = "WebP"
  case gif = "GIF"
  case heif = "HEIF"
  case avif = "AVIF"
  case tiff = "TIFF"
  case bmp = "BMP"
  case ico = "ICO"
  case svg = "SVG"
  case pdf = "PDF"

  /// - Parameter firstBytes: Up to 64 bytes from the start of the file.
  package init?(firstBytes: Data) {
    let bytes = Array(firstBytes.prefix(64))
    func has(_ text: StaticString, at offset: Int = 0) -> Bool {
      bytes.dropFirst(offset).starts(
        with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
    if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      self = .png
    } else if has("RIFF"), has("WEBP", at: 8) {
      self = .webp
    } else if has("GIF87a") || has("GIF89a") {
      self = .gif
    } else if has("ftyp", at: 4) {
      self.init(brands: Self.brands(of: bytes))
    } else if bytes.starts(with: [0x49, 0x49, 42, 0]) || bytes.starts(with: [0x4D, 0x4D, 0, 42]) {
      self = .tiff
    } else if has("BM"), bytes.count >= 14, bytes[6..<10].allSatisfy({ $0 == 0 }) {
      self = .bmp
    } else if bytes.starts(with: [0, 0, 1, 0]), bytes.count >= 22, bytes[5] == 0, bytes[4] > 0,
      bytes[9] == 0
    {
      // Up to 255 icons, and of the first the reserved byte.
      self = .ico
    } else if has("%PDF-") {
      self = .pdf
    } else if Self.beginsSVG(bytes) {
      self = .svg
    } else {
      return nil
    }
  }

  /// Whether the first bytes are XML with `svg` as its first element, or end before that element.
  private static func beginsSVG(_ bytes: [UInt8]) -> Bool {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let text = String(
      decoding: bytes.starts(with: mark) ? bytes.dropFirst(3) : bytes[...], as: UTF8.self)
    guard let first = text.first, first == "<" || first.isWhitespace,
      let match = text.prefixMatch(of: /\s*(<\?xml[^>]*(>|$)\s*)?/)
    else { return false }
    let rest = text[match.range.upperBound...]
    guard match.1 != nil else { return rest.hasPrefix("<svg") }
    // What follows a declaration may stand behind these bytes.
    return ["<svg", "<!DOCTYPE svg", "<!--", "<?xml-"].contains {
      rest.hasPrefix($0) || $0.hasPrefix(rest)
    }
  }

  /// The major brand of a file type box, and those of the compatible ones that these bytes hold;
  /// ISO/IEC 14496-12, section 4.3.
  private static func brands(of bytes: [UInt8]) -> [String] {
    guard bytes.count >= 12 else { return [] }
    let boxEnd = bytes[0..<4].reduce(0) { $0 << 8 | Int($1) }
    let end = min(boxEnd, bytes.count)
    let offsets = [8] + Array(stride(from: 16, through: end - 4, by: 4))
    return offsets.map { String(decoding: bytes[$0..<$0 + 4], as: UTF8.self) }
  }

  /// `mif1` and `msf1` say that there are still images and sequences, and not which codec they need:
  /// the compatible brands do.
  private init?(brands: [String]) {
    let neutral: Set = ["mif1", "msf1"]
    let kinds: [String: Self] = [
      "avif": .avif, "avis": .avif, "heic": .heif, "heix": .heif, "heim": .heif, "heis": .heif,
      "hevc": .heif, "hevx": .heif,
    ]
    guard let major = brands.first else { return nil }
    if let kind = kinds[major] {
      self = kind
    } else if neutral.contains(major) {
      self = brands.lazy.compactMap { kinds[$0] }.first ?? .heif
    } else {
      return nil
    }
  }
}
