package import Foundation
package import TableStore

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The first blocks of an original that is still coming: `<name>.part` has them as they came, and will
/// be the original's file; `<name>.terms` has their hashes.
///
/// ```
/// terms:   0  magic, 8    8  version, 4   12  bytes of the trailer, 4   16  nonce, 8
///         24  hash of the header and the trailer, 8   32  trailer, as in an original's file
///         then 8 for each block: its hash
/// ```
///
/// Invariants:
/// 1. A block's hash binds it to the terms file's nonce and to its place, and so to one version of the
///    original; it is written after its block.
/// 2. The blocks that count are those before the first without its hash.
package final class PartialFile: Sendable {
  package static let blockByteCount = 256 << 10
  static let magic: [UInt8] = Array("FICparts".utf8)
  static let version: UInt32 = 1
  static let contentSuffix = ".part"
  static let termsSuffix = ".terms"

  package let key: OriginalKey

  private let folder: OriginalFolder
  private let content: Int32
  private let terms: Int32
  private let header: PartialHeader

  init(
    _ key: OriginalKey, _ content: consuming FileDescriptor, _ terms: consuming FileDescriptor,
    _ header: PartialHeader, in folder: OriginalFolder
  ) {
    (self.key, self.header, self.folder) = (key, header, folder)
    self.content = content.release()
    self.terms = terms.release()
  }

  deinit {
    SystemCalls.closeFile(content)
    SystemCalls.closeFile(terms)
  }

  /// The bytes of both files with so many blocks; `metadataTooLarge` as for a whole original.
  package static func byteCount(
    blocks: Int, _ key: OriginalKey, _ facts: OriginalFacts
  ) throws(TableError) -> Int {
    blocks * (blockByteCount + 8) + PartialHeader.fixedByteCount
      + (try OriginalTrailer(key, facts)).byteCount
  }

  /// Writes the block of a number, the first being 0; each in turn, and none that is there.
  ///
  /// - Parameter block: `blockByteCount` bytes of the original.
  package func append(_ block: Data, at number: Int) throws(TableError) {
    precondition(block.count == Self.blockByteCount, "A block has \(block.count) bytes.")
    let result = block.withUnsafeBytes { bytes in
      Result { () throws(SystemError) in
        try folder.system.write(bytes, to: content, at: number * Self.blockByteCount)
        var hash: [UInt8] = []
        hash.put(header.hash(of: bytes, number))
        try folder.system.write(hash, to: terms, at: header.hashOffset(number))
      }
    }
    try folder.wrapping(key.digest.fileName) { () throws(SystemError) in try result.get() }
  }

  /// Makes the partial the original: writes what is missing of the content and the trailer, and gives
  /// the file the original's name.
  ///
  /// After an error the partial is there as before, or the older original, or both.
  ///
  /// - Parameters:
  ///   - content: All bytes of the original.
  ///   - blockCount: The blocks that were appended, or were there, and are not written again.
  /// - Returns: As `OriginalFolder.write(_:_:_:)`, whose errors it throws.
  package func finish(
    _ content: Data, blockCount: Int, _ facts: OriginalFacts
  ) throws(TableError) -> (contentHash: UInt64, byteCount: Int) {
    let written = blockCount * Self.blockByteCount
    precondition(written <= content.count, "A partial has more than its original.")
    let trailer = try OriginalTrailer(key, facts)
    let name = key.digest.fileName
    return try folder.wrapping(name) { () throws(SystemError) in
      let result = try folder.writeRest(
        of: content, from: written, trailer, key.digest, to: self.content)
      // Bytes behind the proof would make the file prove nothing.
      guard try folder.system.status(of: self.content).byteCount == result.byteCount else {
        throw SystemError(call: .write, code: EFBIG)
      }
      try folder.system.rename(name + Self.contentSuffix, to: name, in: folder.descriptor)
      // The sweep deletes terms that stand alone.
      try? folder.system.unlink(name + Self.termsSuffix, in: folder.descriptor)
      return result
    }
  }
}

/// The start of a terms file: whose blocks these are.
struct PartialHeader {
  let nonce: UInt64
  let trailer: OriginalTrailer

  static let fixedByteCount = 32
  static let maximumBlockCount = OriginalFile.maximumByteCount / PartialFile.blockByteCount
  static let maximumByteCount =
    fixedByteCount + OriginalTrailer.maximumByteCount + 8 * maximumBlockCount

  init(nonce: UInt64, _ trailer: OriginalTrailer) { (self.nonce, self.trailer) = (nonce, trailer) }

  /// Reads a terms file, whose hashes follow; `nil` for one that was not written for this name.
  init?(reading bytes: UnsafeRawBufferPointer, under digest: OriginalDigest) {
    guard bytes.count >= Self.fixedByteCount, bytes.starts(with: PartialFile.magic),
      bytes.small(8) == PartialFile.version
    else { return nil }
    let end = Self.fixedByteCount + Int(bytes.small(12))
    guard end <= bytes.count,
      let trailer = OriginalTrailer(reading: bytes.part(Self.fixedByteCount..<end))
    else { return nil }
    self.init(nonce: bytes.large(16), trailer)
    guard self.bytes(under: digest).elementsEqual(bytes.prefix(end)) else { return nil }
  }

  func bytes(under digest: OriginalDigest) -> [UInt8] {
    let end = trailer.bytes
    var bytes = PartialFile.magic
    bytes.put(PartialFile.version)
    bytes.put(UInt32(end.count))
    bytes.put(nonce)
    let hash = (bytes + end).withUnsafeBytes { LaneHash.hash($0, seed: digest.seed) }
    bytes.put(hash)
    return bytes + end
  }

  func hashOffset(_ block: Int) -> Int { Self.fixedByteCount + trailer.byteCount + 8 * block }

  func hash(of block: UnsafeRawBufferPointer, _ number: Int) -> UInt64 {
    LaneHash.hash(block, seed: nonce &+ UInt64(number + 1) &* 0x9E37_79B9_7F4A_7C15)
  }

  /// The number of blocks before the first that has not its hash.
  func wholeBlockCount(_ content: UnsafeRawBufferPointer, _ terms: UnsafeRawBufferPointer) -> Int {
    let size = PartialFile.blockByteCount
    var count = 0
    while content.count >= (count + 1) * size, terms.count >= hashOffset(count + 1),
      terms.large(hashOffset(count))
        == hash(of: content.part(count * size..<(count + 1) * size), count)
    { count += 1 }
    return count
  }
}
