import Foundation
import Locking
package import TableStore

/// The file `originals.index`, locked for this process for as long as this object lives.
///
/// ```
/// header:   0  magic, 8    8  version, 4   12  zeros, 4   16  nonce, 8   24  zeros   120  hash, 8
/// record:   0  digest, 16  16  entity, 8   24  content hash, 8  32  last use, 8   40  bytes, 4
///          44  width, 4    48  height, 4   52  flags, 4         56  audience, 4   60  answered, 4
///          64  fresh for, 4                68  stored, 4        72  zeros        120  hash, 8
/// ```
///
/// Place `p` is at byte `128 * (p + 1)`. The lock makes the process the owner of the whole folder.
///
/// Invariants:
/// 1. A record's hash binds it to the file's nonce and to its place. A torn record, one of another
///    file, one that was copied to another place: a free place.
/// 2. Records only hint. What they say of an original is believed once its file was read.
/// 3. A child of fork(2) neither unlocks the file nor writes to it: both are its parent's business.
package final class IndexFile: Sendable {
  static let name = "originals.index"
  static let magic: [UInt8] = Array("FICindex".utf8)
  static let version: UInt32 = 1
  package static let recordByteCount = 128
  /// A longer file is none of ours: it would take so much memory to read.
  package static let maximumRecordCount = 1 << 20

  /// The whole records that were there when the file was opened, by place; none after
  /// ``forgetRecords()``.
  package var records: [(place: Int, record: OriginalRecord)] { found.withLock { $0 } }
  private let found: Lock<[(place: Int, record: OriginalRecord)]>
  /// The bytes of the file when it was opened.
  package let byteCount: Int

  private let forks = ForkWatch.start()
  private let descriptor: Int32
  private let identity: FileStatus.Identity
  private let folder: OriginalFolder
  private let nonce: UInt64

  init(
    _ file: consuming FileDescriptor, _ status: FileStatus, in folder: OriginalFolder,
    _ contents: IndexContents
  ) {
    descriptor = file.release()
    (identity, self.folder) = (status.identity, folder)
    byteCount = max(status.byteCount, Self.recordByteCount)
    (nonce, found) = (contents.nonce, Lock(contents.records))
  }

  /// Gives the folder up.
  deinit {
    // A process that is being spawned has a copy of the descriptor, and with it the lock.
    if !isInherited { SystemCalls.unlock(descriptor) }
    SystemCalls.closeFile(descriptor)
  }

  /// True in a child of the process that owns the folder.
  var isInherited: Bool { forks != ForkWatch.generation }

  /// Gives back the memory of the records that were found.
  package func forgetRecords() { found.withLock { $0 = [] } }

  /// The bytes of the file, if `place` is the highest that was written.
  package static func byteCount(upTo place: Int) -> Int { (place + 2) * recordByteCount }

  /// Writes a record over whatever is at a place from 0 to `maximumRecordCount - 1`.
  package func write(_ record: OriginalRecord, at place: Int) throws(TableError) {
    try write(IndexContents.bytes(of: record, at: place, nonce), at: place)
  }

  /// Frees a place.
  package func clear(_ place: Int) throws(TableError) {
    try write([UInt8](repeating: 0, count: Self.recordByteCount), at: place)
  }

  /// False once the file, or the folder with it, was deleted or replaced: then another process may own
  /// what stands under its name, and nothing of this folder is to be written any more.
  package func isInPlace() throws(TableError) -> Bool {
    try TableError.wrapping { () throws(SystemError) in
      try folder.system.status(ofPath: folder.path + "/" + Self.name)?.identity == identity
    }
  }

  private func write(_ bytes: [UInt8], at place: Int) throws(TableError) {
    precondition(
      (0..<Self.maximumRecordCount).contains(place), "The index has no place \(place).")
    guard !isInherited else { return }
    try folder.wrapping(Self.name) { () throws(SystemError) in
      try folder.system.write(bytes, to: descriptor, at: (place + 1) * Self.recordByteCount)
    }
  }
}

/// What an index holds, as bytes and as records.
struct IndexContents {
  let nonce: UInt64
  let records: [(place: Int, record: OriginalRecord)]

  static let maximumByteCount = (IndexFile.maximumRecordCount + 1) * IndexFile.recordByteCount

  /// Reads a file; `nil` without a header of this version.
  init?(reading bytes: UnsafeRawBufferPointer) {
    guard let nonce = Self.nonce(of: bytes) else { return nil }
    var records: [(place: Int, record: OriginalRecord)] = []
    let placeCount = Self.placeCount(of: bytes.count)
    records.reserveCapacity(placeCount)
    for place in 0..<placeCount {
      if let record = Self.record(in: bytes, at: place, nonce) { records.append((place, record)) }
    }
    (self.nonce, self.records) = (nonce, records)
  }

  /// An index without records.
  init(nonce: UInt64) { (self.nonce, records) = (nonce, []) }

  /// The nonce of a file with a header of this version.
  static func nonce(of bytes: UnsafeRawBufferPointer) -> UInt64? {
    let size = IndexFile.recordByteCount
    guard bytes.count >= size, bytes.count <= maximumByteCount else { return nil }
    let nonce = bytes.large(16)
    return bytes.prefix(size).elementsEqual(header(nonce: nonce)) ? nonce : nil
  }

  /// The places of a file of so many bytes, its header left out.
  static func placeCount(of byteCount: Int) -> Int { byteCount / IndexFile.recordByteCount - 1 }

  static func header(nonce: UInt64) -> [UInt8] {
    var bytes = IndexFile.magic
    bytes.put(IndexFile.version)
    bytes.put(UInt32(0))
    bytes.put(nonce)
    return sealed(bytes, seed: nonce)
  }

  static func bytes(of record: OriginalRecord, at place: Int, _ nonce: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(IndexFile.recordByteCount)
    for number in [record.key.low, record.key.high, record.entity, record.contentHash] {
      bytes.put(number)
    }
    bytes.put(record.lastUse)
    bytes.put(record.byteCount)
    bytes.put(record.width)
    bytes.put(record.height)
    let words = [
      record.flags.subtracting(.isUsed).rawValue, record.audience, record.answered, record.freshFor,
      record.stored,
    ]
    for word in words { bytes.put(word) }
    return sealed(bytes, seed: seed(of: place, nonce))
  }

  /// The record at a place of a file; `nil` for a free place.
  private static func record(
    in file: UnsafeRawBufferPointer, at place: Int, _ nonce: UInt64
  ) -> OriginalRecord? {
    let start = (place + 1) * IndexFile.recordByteCount
    return record(file.part(start..<start + IndexFile.recordByteCount), at: place, nonce)
  }

  /// The record that the bytes of a place are; `nil` for those of a free place.
  static func record(
    _ bytes: UnsafeRawBufferPointer, at place: Int, _ nonce: UInt64
  ) -> OriginalRecord? {
    let end = bytes.count - 8
    guard bytes.large(end) == LaneHash.hash(bytes.part(0..<end), seed: seed(of: place, nonce))
    else { return nil }
    return OriginalRecord(
      key: OriginalDigest(low: bytes.large(0), high: bytes.large(8)), entity: bytes.large(16),
      audience: bytes.small(56), contentHash: bytes.large(24), byteCount: bytes.small(40),
      width: Int32(bitPattern: bytes.small(44)), height: Int32(bitPattern: bytes.small(48)),
      flags: OriginalRecord.Flags(rawValue: bytes.small(52)), answered: bytes.small(60),
      freshFor: bytes.small(64), stored: bytes.small(68),
      lastUse: Int64(bitPattern: bytes.large(32)))
  }

  /// Unlike the header's, and for each place another.
  private static func seed(of place: Int, _ nonce: UInt64) -> UInt64 {
    nonce &+ UInt64(place + 1) &* 0x9E37_79B9_7F4A_7C15
  }

  private static func sealed(_ start: [UInt8], seed: UInt64) -> [UInt8] {
    let end = IndexFile.recordByteCount - 8
    var bytes = start + [UInt8](repeating: 0, count: end - start.count)
    bytes.put(bytes.withUnsafeBytes { LaneHash.hash($0, seed: seed) })
    return bytes
  }
}
