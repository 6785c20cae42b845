/// An id as a table file keeps it: in full, or as its SHA-256 where it is too long for the trailer.
package enum StoredID: Hashable, Sendable, CustomStringConvertible {
  case full(TableID)
  /// Only strings are ever too long.
  case hashed(sha256: [UInt8], byteCount: Int)

  /// The id, if it is kept in full.
  package var known: TableID? {
    if case .full(let id) = self { id } else { nil }
  }

  static let hashedByteCount = SHA256.byteCount + 8

  /// The short form of a string's id.
  static func hashing(_ id: TableID) -> StoredID {
    id.withText { .hashed(sha256: SHA256.hash($0), byteCount: $0.count) }
  }

  /// True when a file keeps `id` like this, in full or hashed.
  package func matches(_ id: TableID) -> Bool {
    switch self {
    case .full(let own): return own == id
    case .hashed(_, let byteCount):
      guard id.kind == .string, id.span.count == byteCount else { return false }
      return self == .hashing(id)
    }
  }

  /// False when the id cannot be the one with this digest; a hash tells nothing of the digest.
  func agrees(with digest: TableID.Digest) -> Bool {
    if case .full(let id) = self { id.digest == digest } else { true }
  }

  /// The id for people to read; for a hashed one, `sha256:` and the hash.
  package var description: String {
    switch self {
    case .full(let id): return id.description
    case .hashed(let sha256, _):
      let digits = Array("0123456789abcdef")
      return "sha256:" + String(sha256.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
  }

  // MARK: Bytes

  /// Kind in the upper three bits, byte count in the lower thirteen.
  var code: UInt16 {
    let kind =
      switch self {
      case .full(let id) where id.isFrame: Self.frameKind
      case .full(let id): marks.isEmpty ? UInt16(id.kind.rawValue) : Self.markedKind
      case .hashed: Self.hashedKind
      }
    return kind << 13 | UInt16(bytes.count)
  }

  /// What the trailer of an image with this version tells beside the id.
  var marks: SlotTrailer.Marks {
    switch known?.kind {
    case .placeholder: .placeholder
    case .damaged: .damaged
    case .damagedPlaceholder: [.placeholder, .damaged]
    default: []
    }
  }

  var bytes: [UInt8] {
    switch self {
    case .full(let id):
      switch id.kind {
      case .string: Array(id.text.utf8)
      case .uuid, .placeholder, .damaged, .damagedPlaceholder, .frame:
        Self.bytes(of: id.words.0.bigEndian) + Self.bytes(of: id.words.1.bigEndian)
      case .integer, .largeInteger: Self.bytes(of: id.words.0.littleEndian)
      }
    case .hashed(let sha256, let byteCount):
      sha256 + Self.bytes(of: UInt64(byteCount).littleEndian)
    }
  }

  /// The longest string whose length a code can hold.
  static let maximumByteCount = 0x1fff

  /// The digest of another version, of which the trailer tells more.
  private static let markedKind: UInt16 = 4
  /// The number of a kind that no id on disk has.
  private static let frameKind = UInt16(TableID.Kind.damaged.rawValue)
  private static let hashedKind: UInt16 = 7

  static func byteCount(code: UInt16) -> Int { Int(code & 0x1fff) }

  /// Reads an id of the kind and length in `code`; `nil` when the bytes are none, and when the marks of the
  /// trailer are another kind's.
  init?(code: UInt16, bytes: ArraySlice<UInt8>, marks: SlotTrailer.Marks = []) {
    let number = { (slice: ArraySlice<UInt8>) in
      slice.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
    guard bytes.count == Self.byteCount(code: code),
      (code >> 13 == Self.markedKind) != marks.isEmpty
    else { return nil }
    if code >> 13 == Self.hashedKind {
      guard bytes.count == Self.hashedByteCount,
        let byteCount = Int(exactly: number(bytes.dropFirst(SHA256.byteCount)))
      else { return nil }
      self = .hashed(sha256: Array(bytes.prefix(SHA256.byteCount)), byteCount: byteCount)
      return
    }
    switch TableID.Kind(rawValue: UInt8(code >> 13)) {
    case .string?:
      guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
      self = .full(TableID(text))
    case .uuid?, .placeholder?, .damaged?:
      guard bytes.count == 16 else { return nil }
      let words = (number(bytes.prefix(8)).byteSwapped, number(bytes.suffix(8)).byteSwapped)
      let kind: TableID.Kind =
        switch marks {
        case []: code >> 13 == Self.frameKind ? .frame : .uuid
        case .placeholder: .placeholder
        case .damaged: .damaged
        default: .damagedPlaceholder
        }
      self = .full(TableID(kind: kind, words: words))
    case .integer?:
      guard bytes.count == 8 else { return nil }
      self = .full(TableID(Int64(bitPattern: number(bytes))))
    case .largeInteger?:
      guard bytes.count == 8, number(bytes) > UInt64(Int64.max) else { return nil }
      self = .full(TableID(number(bytes)))
    case .damagedPlaceholder?, .frame?, nil:
      return nil
    }
  }

  private static func bytes(of value: UInt64) -> [UInt8] {
    withUnsafeBytes(of: value) { Array($0) }
  }
}
