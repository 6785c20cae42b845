import Foundation

@testable import OriginalStore
@testable import TableStore

/// Reads a changed file of an original, or the terms of a partial, with or without forged hashes.
///
/// The bytes are a script of changes to a whole file. As long as no hash is forged, an original that is
/// found has to be the one that was kept.
enum OriginalAttack {
  private static let key = OriginalKey(TableID("https://a.example/photo"), audience: "alice")
  private static let name = key.digest.fileName
  private static let content = Data((0..<300).map { UInt8(truncatingIfNeeded: $0 &* 7) })
  private static let facts = OriginalFacts(
    entity: TableID("photo"), width: 24, height: 16, terms: [1, 2, 3], stored: 1_700_000_000)

  /// What the first byte of a script says.
  private struct Plan: OptionSet {
    let rawValue: UInt8

    /// The hashes are made right again after the changes.
    static let forged = Plan(rawValue: 1)
    /// The bytes are no script but the file itself.
    static let anything = Plan(rawValue: 2)
    /// The file is that of a partial's terms.
    static let terms = Plan(rawValue: 4)
  }

  static func run(on bytes: [UInt8]) throws {
    var script = ByteScript(bytes)
    let plan = Plan(rawValue: script.byte())
    var file = try plan.contains(.terms) ? wholeTerms() : wholeOriginal()
    if plan.contains(.anything) {
      file = script.remainder()
    } else {
      while !script.isEmpty { change(&file, by: &script) }
    }
    if plan.contains(.terms) {
      if plan.contains(.forged) { forgeTerms(&file) }
      try useTerms(file, isProof: !plan.contains(.forged))
    } else {
      if plan.contains(.forged) { forgeOriginal(&file) }
      try useOriginal(file, isProof: !plan.contains(.forged))
    }
  }

  // MARK: Changing

  private static func change(_ file: inout [UInt8], by script: inout ByteScript) {
    let kind = script.byte()
    let offset = script.short()
    let start = min(file.count, offset)
    switch kind % 4 {
    // The proof and the trailer are at the end.
    case 0: overwrite(&file, script.chunk(), at: max(0, file.count - offset))
    case 1: overwrite(&file, script.chunk(), at: start)
    case 2: file.insert(contentsOf: script.chunk(), at: start)
    default: file.removeSubrange(start..<min(file.count, start + Int(script.byte())))
    }
  }

  private static func overwrite(_ file: inout [UInt8], _ bytes: [UInt8], at offset: Int) {
    let end = min(file.count, offset + bytes.count)
    guard offset < end else { return }
    file.replaceSubrange(offset..<end, with: bytes.prefix(end - offset))
  }

  /// Computes the hashes of what the counts in the proof say.
  private static func forgeOriginal(_ file: inout [UInt8]) {
    let size = OriginalFile.proofByteCount
    guard file.count >= size else { return }
    let proofStart = file.count - size
    let trailerStart = file.withUnsafeBytes { proofStart - Int($0.small(proofStart + 12)) }
    guard trailerStart >= 0 else { return }
    let hashes = file.withUnsafeBytes { bytes in
      let content = LaneHash.hash(bytes.part(0..<trailerStart), seed: key.digest.seed)
      return [content, LaneHash.hash(bytes.part(trailerStart..<proofStart), seed: content)]
    }
    var forged: [UInt8] = []
    for hash in hashes { forged.put(hash) }
    file.replaceSubrange(proofStart + 24..<proofStart + 40, with: forged)
    let proof = file.withUnsafeBytes {
      LaneHash.hash($0.part(proofStart..<proofStart + 56), seed: key.digest.seed)
    }
    file.removeLast(8)
    file.put(proof)
  }

  private static func forgeTerms(_ file: inout [UInt8]) {
    guard file.count >= PartialHeader.fixedByteCount else { return }
    let end = file.withUnsafeBytes {
      min(file.count, PartialHeader.fixedByteCount + Int($0.small(12)))
    }
    let hash = (file.prefix(24) + file[PartialHeader.fixedByteCount..<end]).withUnsafeBytes {
      LaneHash.hash($0, seed: key.digest.seed)
    }
    var forged: [UInt8] = []
    forged.put(hash)
    file.replaceSubrange(24..<32, with: forged)
  }

  // MARK: Using

  private static func useOriginal(_ file: [UInt8], isProof: Bool) throws {
    let scratch = try ScratchFolder()
    defer { withExtendedLifetime(scratch) {} }
    let folder = try put(file, name, in: scratch)
    let target = scratch.url.path + "/copy"
    switch try folder.read(key) {
    case .missing: throw BrokenRule(description: "A file that is there was not found.")
    case .damaged: break
    case .whole(let original):
      let isSame = original.content == content && original.facts == facts
      try Attack.require(isSame || !isProof, "Another original was found.")
      try Attack.require(original.id == key.id, "An original of another id was found.")
      let trailer = try OriginalTrailer(key, original.facts)
      let again = original.content.withUnsafeBytes {
        OriginalFile.tail(of: $0, trailer, key.digest).bytes
      }
      try Attack.require(
        file == Array(original.content) + again, "What was read is not what would be written.")
      try folder.writeCopy(of: original.content, to: target)
    }
    _ = try folder.adopt(key.digest)
    try use(folder)
  }

  private static func useTerms(_ file: [UInt8], isProof: Bool) throws {
    let scratch = try ScratchFolder()
    defer { withExtendedLifetime(scratch) {} }
    let folder = try put(file, name + PartialFile.termsSuffix, in: scratch)
    _ = try put(Array(block), name + PartialFile.contentSuffix, in: scratch)
    if let found = try folder.openPartial(key) {
      try Attack.require(found.content == block, "Other blocks were found.")
      try Attack.require(found.facts == facts || !isProof, "Other terms were found.")
      try found.file.append(block, at: 1)
      try Attack.require(
        try folder.openPartial(key)?.blockCount == 2, "A block was appended and is not there.")
    }
    try use(folder)
  }

  /// Whatever was there, the folder keeps another.
  private static func use(_ folder: OriginalFolder) throws {
    _ = try folder.sweep()
    _ = try folder.write(Data([1]), key, facts)
    guard case .whole(let original) = try folder.read(key), original.content == Data([1]) else {
      throw BrokenRule(description: "An original was kept and is not there.")
    }
  }

  private static func put(
    _ file: [UInt8], _ name: String, in scratch: ScratchFolder
  ) throws -> OriginalFolder {
    let path = scratch.url.path + "/originals"
    let folder = try OriginalFolder(path: path)
    try Data(file).write(to: URL(fileURLWithPath: path + "/" + name))
    guard chmod(path + "/" + name, 0o600) == 0 else {
      throw BrokenRule(description: "chmod(2) failed.")
    }
    return folder
  }

  // MARK: Whole files

  private static func wholeOriginal() throws -> [UInt8] {
    let trailer = try OriginalTrailer(key, facts)
    return Array(content)
      + content.withUnsafeBytes { OriginalFile.tail(of: $0, trailer, key.digest).bytes }
  }

  private static let block = Data(
    (0..<PartialFile.blockByteCount).map { UInt8(truncatingIfNeeded: $0) })

  private static func wholeTerms() throws -> [UInt8] {
    let header = PartialHeader(nonce: 0x0123_4567_89AB_CDEF, try OriginalTrailer(key, facts))
    var bytes = header.bytes(under: key.digest)
    bytes.put(block.withUnsafeBytes { header.hash(of: $0, 0) })
    return bytes
  }
}
