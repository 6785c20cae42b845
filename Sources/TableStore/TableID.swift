/// The id of an entity or of a version: a string, a UUID or an integer.
///
/// Ids are compared by kind and bytes: a UUID and its spelling, or two Unicode spellings of one word, are
/// different ids. One from a string copies its bytes once, so keep ids that are used often.
///
/// Invariants:
/// 1. `digest` depends on kind and bytes only, on every platform and in every process.
/// 2. For all kinds but strings `digest` is a permutation of the value, so that equal digests of
///    one kind mean equal ids.
/// 3. `bytes` is present for strings and for no other kind.
package struct TableID: Hashable, Sendable {
  /// 128 bits by which an id is found; two strings may share them, however unlikely.
  struct Digest: Hashable, Sendable {
    let low: UInt64
    let high: UInt64

    /// The id under which a placeholder of the version with this digest is stored.
    var placeholder: TableID { TableID(kind: .placeholder, words: (low, high)) }

    /// The entity of a frame behind the first, of the entity with this digest.
    func frame(_ index: Int) -> TableID {
      TableID(kind: .frame, words: (low ^ UInt64(index), high))
    }

    /// The id under which an image of a damaged file is stored that has the version with this digest.
    fileprivate func damaged(isPlaceholder: Bool) -> TableID {
      TableID(kind: isPlaceholder ? .damagedPlaceholder : .damaged, words: (low, high))
    }
  }

  /// The raw values stand on disk, but for frames, and for marked versions, whose trailer has the mark.
  package enum Kind: UInt8, Sendable {
    case string = 0
    case uuid = 1
    case integer = 2
    /// An integer above `Int64.max`.
    case largeInteger = 3
    /// The version of a placeholder: the digest of the version whose place it holds.
    case placeholder = 4
    /// The version of an image that shows a part of a damaged file: the digest of the version that it would have
    /// otherwise.
    case damaged = 5
    /// The same of a placeholder.
    case damagedPlaceholder = 6
    /// The entity of an animation's frame behind the first: the digest of the animation's entity, and the index.
    case frame = 7
  }

  let digest: Digest
  package let kind: Kind
  let bytes: IDBytes?

  /// Takes the UTF-8 of a string byte for byte; it may be empty.
  package init(_ string: String) {
    var string = string
    self = string.withUTF8 { TableID(copying: $0) }
  }

  /// - Parameter utf8: Valid UTF-8.
  init(copying utf8: UnsafeBufferPointer<UInt8>) {
    let raw = UnsafeRawBufferPointer(utf8)
    digest = Digest(
      low: LaneHash.hash(raw, seed: LaneHash.keys.1),
      high: LaneHash.hash(raw, seed: LaneHash.keys.2))
    bytes = IDBytes(copying: utf8)
    kind = .string
  }

  /// Takes the sixteen bytes of a UUID as two numbers, the first eight bytes first, each in
  /// big-endian order as RFC 9562 prints them.
  package init(uuid: (UInt64, UInt64)) {
    self.init(kind: .uuid, words: uuid)
  }

  package init(_ integer: Int64) {
    self.init(kind: .integer, words: (UInt64(bitPattern: integer), 0))
  }

  /// Equals the id of the same number as an `Int64` where there is one.
  package init(_ integer: UInt64) {
    self.init(kind: integer > UInt64(Int64.max) ? .largeInteger : .integer, words: (integer, 0))
  }

  /// An id of a kind other than string.
  init(kind: Kind, words: (UInt64, UInt64)) {
    digest = Self.permuted(words, kind)
    self.kind = kind
    bytes = nil
  }

  /// Makes an id of parts that belong together.
  init(kind: Kind, digest: Digest, bytes: IDBytes?) {
    self.kind = kind
    self.digest = digest
    self.bytes = bytes
  }

  /// The version under which a placeholder is stored, so that a lookup of this version misses it.
  package var placeholder: TableID {
    guard kind == .damaged else { return digest.placeholder }
    return Digest(low: words.0, high: words.1).placeholder.damaged
  }

  package var isPlaceholder: Bool { kind == .placeholder || kind == .damagedPlaceholder }

  /// The version under which an image of a damaged file is stored, so that a lookup of this version misses it.
  package var damaged: TableID { digest.damaged(isPlaceholder: isPlaceholder) }

  package var isDamaged: Bool { kind == .damaged || kind == .damagedPlaceholder }

  /// The entity of a frame of this entity's animation, behind the first, which the entity has itself.
  ///
  /// - Parameter index: 1 or more.
  package func frame(_ index: Int) -> TableID { digest.frame(index) }

  package var isFrame: Bool { kind == .frame }

  package static func == (first: TableID, second: TableID) -> Bool {
    first.digest == second.digest && first.kind == second.kind
      && first.span.hasSameBytes(as: second.span)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(digest.low)
    hasher.combine(digest.high)
  }

  /// The string of an id, empty for other kinds.
  var text: String { withText { String(decoding: $0, as: UTF8.self) } }

  /// The bytes of a string, none for other kinds; valid while the id lives.
  @inline(__always)
  var span: IDSpan { bytes?.span ?? IDSpan(base: nil, count: 0) }

  /// The value of an id that is no string (invariant 2 makes it recoverable).
  package var words: (UInt64, UInt64) { Self.unpermuted(digest, kind) }

  // MARK: Private

  /// A Feistel network, which is a permutation for any function in its rounds. It spreads counting
  /// numbers and similar UUIDs evenly; the kind takes part, so that equal bits of two kinds do not
  /// share a bucket.
  private static func permuted(_ words: (UInt64, UInt64), _ kind: Kind) -> Digest {
    var (low, high) = words
    for round in 0..<2 {
      low ^= scrambled(high, kind, round * 2)
      high ^= scrambled(low, kind, round * 2 + 1)
    }
    return Digest(low: low, high: high)
  }

  private static func unpermuted(_ digest: Digest, _ kind: Kind) -> (UInt64, UInt64) {
    var (low, high) = (digest.low, digest.high)
    for round in (0..<2).reversed() {
      high ^= scrambled(low, kind, round * 2 + 1)
      low ^= scrambled(high, kind, round * 2)
    }
    return (low, high)
  }

  private static func scrambled(_ word: UInt64, _ kind: Kind, _ round: Int) -> UInt64 {
    LaneHash.mix(
      word ^ LaneHash.keys.0 &+ UInt64(kind.rawValue), LaneHash.keys.3 ^ UInt64(round) << 56)
  }
}

extension TableID: CustomStringConvertible {
  /// The string itself, the UUID as RFC 9562 prints it in capitals, or the integer.
  package var description: String {
    switch kind {
    case .string: text
    case .integer: String(Int64(bitPattern: words.0))
    case .largeInteger: String(words.0)
    case .uuid: uuidDescription
    case .placeholder: "placeholder"
    case .damaged: "damaged"
    case .damagedPlaceholder: "damaged placeholder"
    case .frame: "frame"
    }
  }

  private var uuidDescription: String {
    let digits = [words.0, words.1].map { word in
      let hex = String(word, radix: 16, uppercase: true)
      return String(repeating: "0", count: 16 - hex.count) + hex
    }.joined()
    var parts: [Substring] = []
    var rest = Substring(digits)
    for count in [8, 4, 4, 4, 12] {
      parts.append(rest.prefix(count))
      rest = rest.dropFirst(count)
    }
    return parts.joined(separator: "-")
  }
}

extension TableID {
  /// Lends the UTF-8 of a string; nothing for other kinds.
  package func withText<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    withExtendedLifetime(bytes) {
      body(UnsafeRawBufferPointer(start: span.base, count: span.count))
    }
  }

  /// Takes the UTF-8 of a string byte for byte; `nil` for other bytes.
  package init?(validating utf8: UnsafeRawBufferPointer) {
    // Most ids are addresses, which need no string between.
    if utf8.allSatisfy({ $0 < 0x80 }) {
      self = utf8.withMemoryRebound(to: UInt8.self) { TableID(copying: $0) }
    } else if let text = String(validating: utf8, as: UTF8.self) {
      self.init(text)
    } else {
      return nil
    }
  }

  /// The start of a hash that is the same on every platform and in every process.
  package var stableHash: UInt64 { digest.low }

  /// Such a hash of three ids in their order.
  package static func hash(_ first: TableID, _ second: TableID, _ third: TableID) -> UInt64 {
    LaneHash.hash(
      first.digest.low, first.digest.high, second.digest.low, second.digest.high,
      third.digest.low, third.digest.high, 0, 0)
  }
}

/// The key of an image: its entity and its version.
package struct TableKey: Hashable, Sendable {
  package let entity: TableID
  package let version: TableID

  package init(entity: TableID, version: TableID) {
    self.entity = entity
    self.version = version
  }

  /// The key of the same image where its file is damaged.
  package var damaged: TableKey { TableKey(entity: entity, version: version.damaged) }
}

/// A key that retains nothing, so that a lookup counts no references. It is only lent, because it
/// is valid while another owner retains its ids.
struct TableKeyView {
  let entity: TableID.Digest
  let version: TableID.Digest
  let entityKind: TableID.Kind
  let versionKind: TableID.Kind
  let entityBytes: IDSpan
  let versionBytes: IDSpan

  /// Retains the ids during `body`; the compiler may release a parameter after its last use.
  @inline(__always)
  static func lending<Result>(
    _ entity: TableID, _ version: TableID, _ body: (TableKeyView) -> Result
  ) -> Result {
    withExtendedLifetime(entity) {
      withExtendedLifetime(version) { body(TableKeyView(entity: entity, version: version)) }
    }
  }

  @inline(__always)
  private init(entity: TableID, version: TableID) {
    self.entity = entity.digest
    self.version = version.digest
    entityKind = entity.kind
    versionKind = version.kind
    entityBytes = entity.span
    versionBytes = version.span
  }

  var hasStrings: Bool { entityKind == .string || versionKind == .string }
}
