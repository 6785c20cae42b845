package import Foundation

/// A kind of encoded picture, told by its first bytes alone: file names and servers' content types
/// are often wrong, and some are wrong on purpose.
package enum EncodedImageType: String, CaseIterable, Hashable, Sendable {
  case jpeg = "JPEG"
  case png = "PNG"
  case webp = "WebP"
  case gif = "GIF"
  case heif = "HEIF"
  case avif = "AVIF"
  case tiff = "TIFF"
  case bmp = "BMP"

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
      // ISO/IEC 14496-12: the major brand follows the box's name.
      let brands = ["heic", "heix", "heim", "heis", "hevc", "mif1", "msf1"]
      guard bytes.count >= 12 else { return nil }
      let brand = String(decoding: bytes[8..<12], as: UTF8.self)
      if brand == "avif" || brand == "avis" {
        self = .avif
      } else if brands.contains(brand) {
        self = .heif
      } else {
        return nil
      }
    } else if bytes.starts(with: [0x49, 0x49, 42, 0]) || bytes.starts(with: [0x4D, 0x4D, 0, 42]) {
      self = .tiff
    } else if has("BM"), bytes.count >= 14, bytes[6..<10].allSatisfy({ $0 == 0 }) {
      self = .bmp
    } else {
      return nil
    }
  }
}
