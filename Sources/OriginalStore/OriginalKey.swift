package import TableStore

/// Names one original: the id of its source, and the audience that may see it.
///
/// Keys are compared in full, audiences by their SHA-256. The digest finds an original and makes its
/// file's name; a file proves that it is the key's by holding the key's `subject`.
package struct OriginalKey: Hashable, Sendable {
  package let id: TableID
  package let digest: OriginalDigest
  /// What the digest is the SHA-256 of, and what stands in each file of this key: the SHA-256 of the
  /// audience, then kind and bytes of the id.
  let subject: [UInt8]

  /// - Parameter audience: The exact bytes count; empty for everyone.
  package init(_ id: TableID, audience: String) {
    self.id = id
    subject =
      (audience.isEmpty ? Self.everyone : SHA256.hash(Array(audience.utf8))) + id.kindAndBytes
    digest = OriginalDigest(ofSubject: subject)
  }

  /// The SHA-256 of the audience.
  package var audienceHash: ArraySlice<UInt8> { subject.prefix(SHA256.byteCount) }

  private static let everyone = SHA256.hash([])
}

extension OriginalDigest {
  init(ofSubject subject: [UInt8]) {
    let hash = SHA256.hash(subject)
    // In the order in which a hash is printed, so that a file is called as the hash begins.
    self = hash.withUnsafeBytes {
      OriginalDigest(low: $0.large(0).byteSwapped, high: $0.large(8).byteSwapped)
    }
  }

  /// The name of the original's file: 32 hexadecimal digits.
  package var fileName: String { Self.digits(low) + Self.digits(high) }

  /// Reads the name of an original's file; `nil` for all others.
  init?(fileName: some StringProtocol) {
    guard fileName.utf8.count == 32,
      let low = UInt64(fileName.prefix(16), radix: 16),
      let high = UInt64(fileName.suffix(16), radix: 16)
    else { return nil }
    self.init(low: low, high: high)
    // Capitals and signs are numbers too, and no names.
    guard self.fileName == fileName else { return nil }
  }

  /// Where the hashes of this original's files begin, so that they hold under no other name.
  var seed: UInt64 { low ^ high }

  static func digits(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

extension TableID {
  /// The kind in one byte, then the bytes: the UTF-8 of a string, a UUID as it is printed, an integer
  /// in little-endian order.
  package var kindAndBytes: [UInt8] {
    var bytes: [UInt8] = []
    switch value {
    case .string(let text):
      bytes.append(0)
      bytes.append(contentsOf: text.utf8)
    case .uuid(let first, let last):
      bytes.append(1)
      bytes.put(first.byteSwapped)
      bytes.put(last.byteSwapped)
    case .integer(let number):
      bytes.append(2)
      bytes.put(UInt64(bitPattern: number))
    case .largeInteger(let number):
      bytes.append(3)
      bytes.put(number)
    }
    return bytes
  }

  /// Reads what `kindAndBytes` writes; `nil` for anything else.
  init?(kindAndBytes bytes: UnsafeRawBufferPointer) {
    guard let kind = bytes.first else { return nil }
    let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
    switch (kind, rest.count) {
    case (0, _):
      guard let text = String(validating: rest, as: UTF8.self) else { return nil }
      self = TableID(text)
    case (1, 16): self = TableID(uuid: (rest.large(0).byteSwapped, rest.large(8).byteSwapped))
    case (2, 8): self = TableID(Int64(bitPattern: rest.large(0)))
    case (3, 8) where rest.large(0) > UInt64(Int64.max): self = TableID(rest.large(0))
    default: return nil
    }
  }
}
