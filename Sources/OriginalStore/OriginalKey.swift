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
    var subject: [UInt8] = []
    subject.reserveCapacity(SHA256.byteCount + id.capacity)
    subject.append(
      contentsOf: audience.isEmpty ? Self.everyone : SHA256.hash(Array(audience.utf8)))
    id.appendKindAndBytes(to: &subject)
    self.subject = subject
    digest = subject.withUnsafeBytes { OriginalDigest(ofSubject: $0) }
  }

  /// The SHA-256 of the audience.
  package var audienceHash: ArraySlice<UInt8> { subject.prefix(SHA256.byteCount) }

  private static let everyone = SHA256.hash([])
}

extension OriginalDigest {
  init(ofSubject subject: UnsafeRawBufferPointer) {
    let hash = SHA256.words(of: subject)
    // In the order in which a hash is printed, so that a file is called as the hash begins.
    self.init(
      low: UInt64(hash[0]) << 32 | UInt64(hash[1]), high: UInt64(hash[2]) << 32 | UInt64(hash[3]))
  }

  /// The name of the original's file: 32 hexadecimal digits.
  package var fileName: String {
    String(unsafeUninitializedCapacity: 32) { room in
      Self.put(low, in: room.baseAddress)
      Self.put(high, in: room.baseAddress.map { $0 + 16 })
      return 32
    }
  }

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

  /// Sixteen hexadecimal digits.
  static func digits(_ number: UInt64) -> String {
    String(unsafeUninitializedCapacity: 16) { room in
      put(number, in: room.baseAddress)
      return 16
    }
  }

  private static func put(_ number: UInt64, in room: UnsafeMutablePointer<UInt8>?) {
    guard let room else { return }
    for index in 0..<16 {
      let digit = UInt8(truncatingIfNeeded: number &>> UInt64(60 - index * 4)) & 15
      (room + index).initialize(to: digit < 10 ? 0x30 + digit : 0x57 + digit)
    }
  }
}

extension TableID {
  /// The kind in one byte, then the bytes: the UTF-8 of a string, a UUID as it is printed, an integer
  /// in little-endian order.
  package var kindAndBytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(capacity)
    appendKindAndBytes(to: &bytes)
    return bytes
  }

  func appendKindAndBytes(to bytes: inout [UInt8]) {
    bytes.append(kind.rawValue)
    switch kind {
    case .string: withText { bytes.append(contentsOf: $0) }
    // No original is a placeholder's version, nor a damaged picture's.
    case .uuid, .placeholder, .damaged, .damagedPlaceholder:
      bytes.put(words.0.byteSwapped)
      bytes.put(words.1.byteSwapped)
    case .integer, .largeInteger: bytes.put(words.0)
    }
  }

  /// As many bytes as `kindAndBytes` has, or a few more.
  fileprivate var capacity: Int { 1 + withText { max($0.count, 16) } }

  /// Reads what `kindAndBytes` writes; `nil` for anything else.
  init?(kindAndBytes bytes: UnsafeRawBufferPointer) {
    guard let kind = bytes.first else { return nil }
    let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
    switch (kind, rest.count) {
    case (0, _): self.init(validating: rest)
    case (1, 16): self = TableID(uuid: (rest.large(0).byteSwapped, rest.large(8).byteSwapped))
    case (2, 8): self = TableID(Int64(bitPattern: rest.large(0)))
    case (3, 8) where rest.large(0) > UInt64(Int64.max): self = TableID(rest.large(0))
    default: return nil
    }
  }
}
