import Foundation
import TableStore

/// The public key of a certificate, as pins name it.
enum CertificateKey {
  private static let sequence: UInt8 = 0x30
  private static let version: UInt8 = 0xA0
  /// Serial number, kind of signature, issuer, validity and subject stand before the key.
  private static let fieldsBefore = 5

  /// The SHA-256 of the key's information.
  ///
  /// - Parameter certificate: X.509 in DER; RFC 5280, section 4.1.
  /// - Returns: `nil` for other bytes.
  static func hash(of certificate: Data) -> Data? {
    let bytes = [UInt8](certificate)
    guard let outer = Value(bytes, in: 0..<bytes.count), outer.tag == sequence,
      let inner = Value(bytes, in: outer.content), inner.tag == sequence,
      var field = Value(bytes, in: inner.content)
    else { return nil }
    let count = field.tag == version ? fieldsBefore + 1 : fieldsBefore
    for _ in 0..<count {
      guard let next = Value(bytes, in: field.content.upperBound..<inner.content.upperBound) else {
        return nil
      }
      field = next
    }
    guard field.tag == sequence else { return nil }
    return Data(SHA256.hash(Array(bytes[field.start..<field.content.upperBound])))
  }

  /// A value of ITU-T X.690, section 8.1, with a tag of one byte and a definite length.
  private struct Value {
    let tag: UInt8
    let start: Int
    let content: Range<Int>

    init?(_ bytes: [UInt8], in range: Range<Int>) {
      guard range.count >= 2 else { return nil }
      start = range.lowerBound
      tag = bytes[start]
      let first = Int(bytes[start + 1])
      var (length, begin) = (first, start + 2)
      if first & 0x80 != 0 {
        let width = first & 0x7F
        guard (1...3).contains(width), range.upperBound - begin >= width else { return nil }
        length = bytes[begin..<begin + width].reduce(0) { $0 << 8 | Int($1) }
        begin += width
      }
      guard length <= range.upperBound - begin else { return nil }
      content = begin..<begin + length
    }
  }
}
