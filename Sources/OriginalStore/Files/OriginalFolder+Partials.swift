package import Foundation
package import TableStore

/// A partial that was found, with the content of its whole blocks.
package struct FoundPartial: Sendable {
  package let file: PartialFile
  package let facts: OriginalFacts
  /// A multiple of `PartialFile.blockByteCount`.
  package let content: Data
  /// The bytes of both files.
  package let byteCount: Int
  package var blockCount: Int { content.count / PartialFile.blockByteCount }

  func block(_ number: Int) -> Data {
    content.dropFirst(number * PartialFile.blockByteCount).prefix(PartialFile.blockByteCount)
  }
}

extension OriginalFolder {
  /// Begins a partial without blocks, in the place of one that is there.
  package func beginPartial(
    _ key: OriginalKey, _ facts: OriginalFacts
  ) throws(TableError) -> PartialFile {
    let header = PartialHeader(
      nonce: .random(in: .min ... .max), try OriginalTrailer(key, facts))
    let name = key.digest.fileName
    try removePartial(key.digest)
    return try wrapping(name) { () throws(SystemError) in
      let content = try create(name + PartialFile.contentSuffix)
      do throws(SystemError) {
        let terms = try create(name + PartialFile.termsSuffix)
        try system.write(header.bytes(under: key.digest), to: terms.value, at: 0)
        return PartialFile(key, content, terms, header, in: self)
      } catch {
        // The sweep removes them if this fails.
        try? system.unlink(name + PartialFile.contentSuffix, in: descriptor)
        try? system.unlink(name + PartialFile.termsSuffix, in: descriptor)
        throw error
      }
    }
  }

  /// Opens a partial and proves its blocks, dropping the first bad one and all behind it; `nil` without
  /// one that has a block.
  package func openPartial(_ key: OriginalKey) throws(TableError) -> FoundPartial? {
    try openPartial(key.digest) { $0 == key.subject ? key : nil }
  }

  /// Whose partial stands under a name, and whether there is the hash of a block; `nil` where its terms do
  /// not prove themselves. The blocks are not proven.
  func partialHeader(
    _ digest: OriginalDigest
  ) throws(TableError) -> (trailer: OriginalTrailer, hasBlock: Bool)? {
    let name = digest.fileName + PartialFile.termsSuffix
    guard case .bytes(let terms) = try readFile(name, upTo: PartialHeader.maximumByteCount),
      let header = terms.withUnsafeBytes({ PartialHeader(reading: $0, under: digest) })
    else { return nil }
    return (header.trailer, terms.count >= header.hashOffset(1))
  }

  /// Removes both files of a partial.
  package func removePartial(_ digest: OriginalDigest) throws(TableError) {
    // The terms first: blocks without hashes are nothing.
    try remove(digest.fileName + PartialFile.termsSuffix)
    try remove(digest.fileName + PartialFile.contentSuffix)
  }

  // MARK: Private

  /// - Parameter wanted: The key that a subject belongs to; `nil` for those that are not wanted.
  private func openPartial(
    _ digest: OriginalDigest, _ wanted: ([UInt8]) -> OriginalKey?
  ) throws(TableError) -> FoundPartial? {
    let names = (
      digest.fileName + PartialFile.contentSuffix, digest.fileName + PartialFile.termsSuffix
    )
    guard case .bytes(let terms) = try readFile(names.1, upTo: PartialHeader.maximumByteCount),
      let header = terms.withUnsafeBytes({ PartialHeader(reading: $0, under: digest) }),
      let key = wanted(header.trailer.subject),
      case .bytes(let content) = try readFile(names.0, upTo: OriginalFile.maximumByteCount)
    else { return nil }
    let blockCount = content.withUnsafeBytes { content in
      terms.withUnsafeBytes { header.wholeBlockCount(content, $0) }
    }
    guard blockCount > 0 else { return nil }
    let file = try wrapping(digest.fileName) { () throws(SystemError) in
      let file = FileDescriptor(try system.openFile(names.0, in: descriptor, .updating))
      let terms = FileDescriptor(try system.openFile(names.1, in: descriptor, .updating))
      return PartialFile(key, file, terms, header, in: self)
    }
    return FoundPartial(
      file: file, facts: header.trailer.facts,
      content: content.prefix(blockCount * PartialFile.blockByteCount),
      byteCount: content.count + terms.count)
  }
}
