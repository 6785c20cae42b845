package import Foundation

/// A path as a file system has it: bytes, which need not be UTF-8.
///
/// `URL.path` is empty where they are not, and `URL.pathComponents` drop U+FEFF on Linux.
package struct LocalPath: Hashable, Sendable {
  /// Without a zero at the end.
  package let bytes: [UInt8]

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The path that a file's URL names.
  ///
  /// - Throws: ``ImageSourceError/unsupportedScheme(_:)`` for a URL that is no file's, and
  ///   ``ImageSourceError/unreadable(path:reason:)`` for a file of another machine.
  package init(_ url: URL) throws(ImageSourceError) {
    guard url.isFileURL else { throw .unsupportedScheme(url.scheme ?? "") }
    var bytes = url.absoluteURL.path(percentEncoded: true).utf8.percentDecoded
    // As `URL.path` does it: a folder's URL ends with a slash.
    while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    self.bytes = bytes
    // RFC 8089 section 2: a host other than this machine would need a protocol to reach it.
    guard ["", "localhost"].contains(url.host?.lowercased() ?? "") else {
      throw .unreadable(path: text, reason: "The file is on another host, \(url.host ?? "").")
    }
  }

  /// The path for messages, with U+FFFD for bytes that are not UTF-8.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The URL that names this path, which is absolute, and no other.
  package var url: URL {
    URL(string: "file://" + percentEncoded) ?? URL(fileURLWithPath: text)
  }

  /// Unreserved characters of RFC 3986 and slashes as they are, and all other bytes in hexadecimal.
  package var percentEncoded: String {
    bytes.reduce(into: "") { result, byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"),
        UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
        result.unicodeScalars.append(UnicodeScalar(byte))
      default:
        result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
  }

  package func appending(_ name: [UInt8]) -> LocalPath {
    LocalPath(bytes + (bytes.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]) + name)
  }

  /// The path for a system call, which reads it up to its first zero.
  package var characters: [CChar] { bytes.map { CChar(bitPattern: $0) } + [0] }
}

extension Collection<UInt8> {
  /// The bytes with `%41` turned into `A`, and a percent sign without two digits left as it is (WHATWG's URL
  /// standard, section 1.3).
  var percentDecoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    var rest = self[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%"), let high = rest.first?.hexDigit,
        let low = rest.dropFirst().first?.hexDigit
      else {
        bytes.append(byte)
        continue
      }
      bytes.append(high << 4 | low)
      rest = rest.dropFirst(2)
    }
    return bytes
  }
}

extension UInt8 {
  fileprivate var hexDigit: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
