import TableStore

/// The bytes of one original's file: the content exactly as it was delivered, a trailer, and a proof
/// at the very end. `Docs/OriginalFormat.md` says every byte.
///
/// ```
/// trailer:   0  width, 4    4  height, 4    8  stored, 8    16  flags, 4
///           20  bytes of the subject, 4   24  of the entity, 4   28  of the terms, 4
///           32  subject, entity, terms
/// proof:     0  magic, 8    8  version, 4   12  bytes of the trailer, 4   16  of the content, 8
///           24  content hash, 8   32  trailer hash, 8   40  zeros, 16   56  hash of the 56 before
/// ```
///
/// Invariants:
/// 1. Each hash starts from the name of the file, and the trailer's from the content's as well. So
///    bytes under another's name, or behind another's content, prove nothing.
/// 2. The counts in the proof add up to the file's length: no byte of a file is left unproven.
enum OriginalFile {
  /// What a file proved of itself; the content are its first bytes.
  struct Proof: Equatable {
    let contentByteCount: Int
    let contentHash: UInt64
    let trailer: OriginalTrailer
  }

  /// `FICbytes`, the first letter in the lowest byte.
  static let magic: UInt64 = 0x7365_7479_6243_4946
  static let version: UInt32 = 1
  static let proofByteCount = 64
  /// A file that says it is longer is not read: it would take so much memory.
  static let maximumByteCount = 1 << 30

  /// Trailer and proof, which stand behind the content.
  static func tail(
    of content: UnsafeRawBufferPointer, _ trailer: OriginalTrailer, _ digest: OriginalDigest
  ) -> (bytes: [UInt8], contentHash: UInt64) {
    let contentHash = LaneHash.hash(content, seed: digest.seed)
    var bytes = trailer.bytes
    let trailerByteCount = bytes.count
    let trailerHash = bytes.withUnsafeBytes { LaneHash.hash($0, seed: contentHash) }
    bytes.put(magic)
    bytes.put(version)
    bytes.put(UInt32(trailerByteCount))
    bytes.put(UInt64(content.count))
    bytes.put(contentHash)
    bytes.put(trailerHash)
    bytes.put(UInt64(0))
    bytes.put(UInt64(0))
    let hash = bytes.withUnsafeBytes {
      LaneHash.hash($0.part(trailerByteCount..<trailerByteCount + 56), seed: digest.seed)
    }
    bytes.put(hash)
    return (bytes, contentHash)
  }

  /// Proves a whole file; `nil` for anything but a file that was written under this name.
  ///
  /// - Parameter subject: The one that is expected, if any; an equal one shares its memory.
  static func proof(
    of file: UnsafeRawBufferPointer, under digest: OriginalDigest, for subject: [UInt8]? = nil
  ) -> Proof? {
    guard file.count >= proofByteCount else { return nil }
    let proof = file.part(file.count - proofByteCount..<file.count)
    guard proof.large(0) == magic, proof.small(8) == version, proof.large(40) == 0,
      proof.large(48) == 0,
      proof.large(56) == LaneHash.hash(proof.part(0..<56), seed: digest.seed)
    else { return nil }
    let trailerByteCount = Int(proof.small(12))
    // The file's length bounds the trailer; what is left has to be the content (invariant 2).
    let contentByteCount = file.count - proofByteCount - trailerByteCount
    guard contentByteCount >= 0, proof.large(16) == UInt64(contentByteCount) else { return nil }
    let trailer = file.part(contentByteCount..<file.count - proofByteCount)
    let contentHash = proof.large(24)
    guard LaneHash.hash(trailer, seed: contentHash) == proof.large(32),
      LaneHash.hash(file.part(0..<contentByteCount), seed: digest.seed) == contentHash,
      let read = OriginalTrailer(reading: trailer, for: subject)
    else { return nil }
    return Proof(contentByteCount: contentByteCount, contentHash: contentHash, trailer: read)
  }
}

/// The key and the facts of an original, as they stand in its file and beside a partial.
struct OriginalTrailer: Equatable {
  let subject: [UInt8]
  let facts: OriginalFacts

  static let fixedByteCount = 32
  static let maximumTermsByteCount = 4 << 10
  /// Of an id; addresses on the web are seldom longer than 2 KiB.
  static let maximumIDByteCount = 16 << 10
  private static let maximumSubjectByteCount = SHA256.byteCount + 1 + maximumIDByteCount
  static let maximumByteCount =
    fixedByteCount + maximumSubjectByteCount + 1 + maximumIDByteCount + maximumTermsByteCount
  private static let placeholderFlag: UInt32 = 1

  /// - Throws: `metadataTooLarge` for ids and terms that no file has room for.
  init(_ key: OriginalKey, _ facts: OriginalFacts) throws(TableError) {
    (subject, self.facts) = (key.subject, facts)
    let idByteCount = max(subject.count - SHA256.byteCount, facts.entity.kindAndBytes.count) - 1
    guard idByteCount <= Self.maximumIDByteCount else {
      throw .metadataTooLarge(byteCount: idByteCount, limit: Self.maximumIDByteCount)
    }
    guard facts.terms.count <= Self.maximumTermsByteCount else {
      throw .metadataTooLarge(byteCount: facts.terms.count, limit: Self.maximumTermsByteCount)
    }
  }

  /// Reads a trailer whose hash was right; `nil` for anything that `bytes` does not make.
  ///
  /// - Parameter subject: As for `OriginalFile.proof(of:under:for:)`.
  init?(reading bytes: UnsafeRawBufferPointer, for subject: [UInt8]? = nil) {
    guard bytes.count >= Self.fixedByteCount, bytes.small(16) & ~Self.placeholderFlag == 0 else {
      return nil
    }
    let entityStart = Self.fixedByteCount + Int(bytes.small(20))
    let termsStart = entityStart + Int(bytes.small(24))
    guard termsStart + Int(bytes.small(28)) == bytes.count,
      bytes.small(28) <= Self.maximumTermsByteCount,
      (SHA256.byteCount + 1...Self.maximumSubjectByteCount).contains(Int(bytes.small(20))),
      bytes.small(24) <= 1 + Self.maximumIDByteCount,
      let entity = TableID(kindAndBytes: bytes.part(entityStart..<termsStart))
    else { return nil }
    let found = bytes.part(Self.fixedByteCount..<entityStart)
    self.subject = subject.flatMap { found.hasSameBytes(as: $0) ? $0 : nil } ?? Array(found)
    facts = OriginalFacts(
      entity: entity, width: Int32(bitPattern: bytes.small(0)),
      height: Int32(bitPattern: bytes.small(4)),
      isPlaceholder: bytes.small(16) == Self.placeholderFlag, terms: Array(bytes[termsStart...]),
      stored: Int64(bitPattern: bytes.large(8)))
  }

  var bytes: [UInt8] {
    let entity = facts.entity.kindAndBytes
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.fixedByteCount + subject.count + entity.count + facts.terms.count)
    bytes.put(facts.width)
    bytes.put(facts.height)
    bytes.put(facts.stored)
    bytes.put(facts.isPlaceholder ? Self.placeholderFlag : 0)
    bytes.put(UInt32(subject.count))
    bytes.put(UInt32(entity.count))
    bytes.put(UInt32(facts.terms.count))
    return bytes + subject + entity + facts.terms
  }

  var byteCount: Int {
    Self.fixedByteCount + subject.count + facts.entity.kindAndBytes.count + facts.terms.count
  }

  /// The id that the subject names.
  var id: TableID? {
    subject.withUnsafeBytes { bytes in
      TableID(kindAndBytes: bytes.part(SHA256.byteCount..<bytes.count))
    }
  }
}
