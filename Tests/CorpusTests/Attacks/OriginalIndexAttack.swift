import Foundation

@testable import OriginalStore
@testable import TableStore

/// Owns a changed index of originals, with or without forged hashes, and writes to it.
///
/// The bytes are a script of changes to an index with five records. As long as no hash is forged, each
/// record that is found has to be the one that was written at its place.
enum OriginalIndexAttack {
  private static let nonce: UInt64 = 0x0123_4567_89AB_CDEF
  private static let size = IndexFile.recordByteCount

  static func run(on bytes: [UInt8]) throws {
    var script = ByteScript(bytes)
    let plan = script.byte()
    var file = (0..<5).reduce(IndexContents.header(nonce: nonce)) { bytes, place in
      bytes + IndexContents.bytes(of: record(place), at: place, nonce)
    }
    // As in `OriginalAttack`: 1 forges the hashes, 2 takes the bytes as the file itself.
    if plan & 2 != 0 {
      file = script.remainder()
    } else {
      while !script.isEmpty { change(&file, by: &script) }
    }
    if plan & 1 != 0 { forge(&file) }
    try use(file, isProof: plan & 1 == 0)
  }

  private static func record(_ place: Int) -> OriginalRecord {
    OriginalRecord(
      key: OriginalDigest(low: UInt64(place), high: 2), entity: 3, audience: 4, contentHash: 5,
      byteCount: 6, width: 7, height: 8, flags: .partial, answered: 9, freshFor: 10, stored: 11,
      lastUse: 12)
  }

  private static func change(_ file: inout [UInt8], by script: inout ByteScript) {
    let kind = script.byte()
    let start = min(file.count, script.short())
    switch kind % 4 {
    case 0, 1:
      let bytes = script.chunk().prefix(file.count - start)
      file.replaceSubrange(start..<start + bytes.count, with: bytes)
    case 2:
      // A record at another's place.
      let from = Int(script.byte()) % 6 * size
      guard from + size <= file.count, start + size <= file.count else { return }
      file.replaceSubrange(start..<start + size, with: Array(file[from..<from + size]))
    default: file.removeSubrange(start..<min(file.count, start + script.short()))
    }
  }

  /// Makes the hashes of all whole records right, and that of the header.
  private static func forge(_ file: inout [UInt8]) {
    guard file.count >= size else { return }
    let nonce = file.withUnsafeBytes { $0.large(16) }
    for start in stride(from: 0, through: file.count - size, by: size) {
      let seed =
        start == 0 ? nonce : nonce &+ UInt64(start / size) &* 0x9E37_79B9_7F4A_7C15
      var hash: [UInt8] = []
      hash.put(
        file.withUnsafeBytes { LaneHash.hash($0.part(start..<start + size - 8), seed: seed) })
      file.replaceSubrange(start + size - 8..<start + size, with: hash)
    }
  }

  private static func use(_ file: [UInt8], isProof: Bool) throws {
    let scratch = try ScratchFolder()
    defer { withExtendedLifetime(scratch) {} }
    let folder = try OriginalFolder(path: scratch.url.path + "/originals")
    let path = scratch.url.path + "/originals/" + IndexFile.name
    try Data(file).write(to: URL(fileURLWithPath: path))
    guard chmod(path, 0o600) == 0 else { throw BrokenRule(description: "chmod(2) failed.") }
    let hints = try folder.readIndex().map(\.record)
    guard let index = try folder.ownIndex() else {
      throw BrokenRule(description: "The index belongs to nobody.")
    }
    try Attack.require(hints == index.records.map(\.record), "Two readers found different records.")
    for (place, found) in index.records {
      try Attack.require(
        !isProof || found == record(place), "The record at \(place) is another one.")
    }
    let free = (index.records.map(\.place).max() ?? -1) + 1
    try index.write(record(99), at: free)
    try Attack.require(
      try folder.readIndex().map(\.record) == hints + [record(99)],
      "A record was written and is not there.")
    try index.clear(free)
    try Attack.require(
      try folder.readIndex().map(\.record) == hints, "A record was cleared and is there.")
  }
}
