import Foundation
import TableStore
import TestSupport
import Testing

@testable import OriginalStore

@Suite("The file of an original", .timeLimit(.minutes(10)))
struct OriginalFileTests {
  private let originals: Originals
  private let folder: OriginalFolder
  private let name = originalKey(1).digest.fileName

  init() throws {
    originals = try Originals()
    folder = try originals.open()
    try folder.keep(1, 1, byteCount: 100)
  }

  private var version: Int? { get throws { try folder.version(1, byteCount: 100) } }

  @Test("begins with the content and ends with the proof, byte for byte")
  func layout() throws {
    let file = try originals.bytes(name)
    let key = originalKey(1)
    var trailer: [UInt8] = [1, 0, 0, 0, 20, 0, 0, 0]
    withUnsafeBytes(of: Int64(1_700_000_001).littleEndian) { trailer += $0 }
    let url = Array("https://a.example/1".utf8)
    let entity = Array("entity 1".utf8)
    trailer += [
      0, 0, 0, 0, UInt8(33 + url.count), 0, 0, 0, UInt8(1 + entity.count), 0, 0, 0, 11, 0,
    ]
    trailer += [0, 0] + SHA256.hash([]) + [0] + url + [0] + entity + Array("\"version 1\"".utf8)
    let proof = Array(file.suffix(64))
    #expect(Array(file.prefix(100)) == Array(content(1, 1, byteCount: 100)))
    #expect(Array(file.dropFirst(100).dropLast(64)) == trailer)
    #expect(
      Array(proof.prefix(16)) == Array("FICbytes".utf8) + [
        1, 0, 0, 0, UInt8(trailer.count), 0, 0, 0,
      ])
    #expect(Array(proof[16..<24]) == [100, 0, 0, 0, 0, 0, 0, 0])
    #expect(Array(proof[40..<56]) == [UInt8](repeating: 0, count: 16))
    #expect(
      try OriginalFolder.fileByteCount(content: 100, key, facts(1, 1)) == file.count)
  }

  @Test("is private, and lies in a folder that nobody else may enter")
  func isPrivate() throws {
    let mode = { (path: String) in
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    #expect(try mode(originals.path) == 0o700)
    #expect(try mode(originals.path + "/" + name) == 0o600)
    #expect(try mode((originals.path as NSString).deletingLastPathComponent) == 0o700)
  }

  @Test("proves nothing after any change of any byte")
  func noticesChanges() throws {
    let file = try originals.bytes(name)
    #expect(try version == 1)
    for index in file.indices {
      // Each bit of a byte is of the same kind; all eight of each would take eight times as long.
      for bits in [UInt8(1) << UInt8(index % 8), 0xFF] {
        var changed = file
        changed[index] ^= bits
        try originals.put(changed, name)
        #expect(try folder.isDamaged(1), "byte \(index)")
      }
    }
    try originals.put(file, name)
    #expect(try version == 1)
  }

  @Test("proves nothing when it was cut or made longer, by any number of bytes")
  func noticesLengths() throws {
    let file = try originals.bytes(name)
    for count in 0..<file.count {
      try originals.put(Array(file.prefix(count)), name)
      #expect(try folder.isDamaged(1), "\(count) bytes")
      try originals.put(Array(file.suffix(count)), name)
      #expect(try folder.isDamaged(1), "the last \(count) bytes")
    }
    for count in 1...300 {
      try originals.put(file + [UInt8](repeating: 0, count: count), name)
      #expect(try folder.isDamaged(1), "\(count) bytes more")
    }
    try originals.put(file + file, name)
    #expect(try folder.isDamaged(1))
  }

  @Test("proves nothing under another's name, nor with another's trailer or content")
  func isBound() throws {
    try folder.keep(1, 1)
    try folder.keep(2, 1)
    try folder.keep(1, 3)
    let (second, third) = (
      try originals.bytes(originalKey(2).digest.fileName), try originals.bytes(name)
    )
    try folder.keep(1, 1)
    let first = try originals.bytes(name)
    try originals.put(second, name)
    #expect(try folder.isDamaged(1))
    #expect(first.count == third.count)
    try originals.put(Array(first.prefix(3000)) + third.dropFirst(3000), name)
    #expect(try folder.isDamaged(1))
    // The proof of one and the trailer of another.
    try originals.put(Array(first.dropLast(64)) + third.suffix(64), name)
    #expect(try folder.isDamaged(1))
    try originals.put(third, name)
    #expect(try folder.version(1) == 3)
  }

  @Test("has hashes that begin from its name, and counts that add up to its length")
  func isProof() throws {
    let digest = originalKey(1).digest
    var file = try originals.bytes(name)
    let proof = { (file: [UInt8], digest: OriginalDigest) in
      file.withUnsafeBytes { OriginalFile.proof(of: $0, under: digest) }
    }
    #expect(proof(file, digest) != nil)
    #expect(proof(file, originalKey(2).digest) == nil)
    // Another count of the content, with the right hash behind it.
    file[file.count - 48] += 1
    let hash = file.withUnsafeBytes {
      LaneHash.hash($0.part(file.count - 64..<file.count - 8), seed: digest.seed)
    }
    file.removeLast(8)
    file.put(hash)
    #expect(proof(file, digest) == nil)
  }

  @Test("is not the one of another id, whose digest is the same")
  func comparesIDs() throws {
    let bytes = content(1, 1)
    // Two ids with one digest cannot be found; a file that says so can be made.
    let trailer = try OriginalTrailer(originalKey(5), facts(1, 1))
    let tail = bytes.withUnsafeBytes {
      OriginalFile.tail(of: $0, trailer, originalKey(1).digest).bytes
    }
    try originals.put(Array(bytes) + tail, name)
    #expect(try folder.isDamaged(1))
    guard case .damaged = try folder.adopt(originalKey(1).digest) else {
      Issue.record("Another id was answered.")
      return
    }
  }

  @Test("keeps an empty original, and one at the largest count of terms")
  func keepsExtremes() throws {
    try folder.keep(1, 4, byteCount: 0)
    #expect(try folder.version(1, byteCount: 0) == 4)
    var large = facts(1, 1)
    large.terms = [UInt8](repeating: 9, count: 4096)
    _ = try folder.write(content(1, 1), originalKey(1), large)
    guard case .whole(let original) = try folder.read(originalKey(1)) else {
      Issue.record("Nothing was found.")
      return
    }
    #expect(original.facts == large)
  }

  @Test("is refused where ids or terms have no room in it")
  func refusesLong() throws {
    var long = facts(1, 1)
    long.terms = [UInt8](repeating: 9, count: 4097)
    #expect(throws: TableError.metadataTooLarge(byteCount: 4097, limit: 4096)) {
      try folder.write(content(1, 1), originalKey(1), long)
    }
    let id = OriginalKey(TableID(String(repeating: "x", count: 20_000)), audience: "")
    #expect(throws: TableError.metadataTooLarge(byteCount: 20_000, limit: 16384)) {
      try folder.write(content(1, 1), id, facts(1, 1))
    }
    #expect(try version == 1)
    #expect(try originals.names == [name])
  }

  @Test("is read with one call for its bytes, and written before it has its name")
  func callsInOrder() throws {
    let plan = FaultPlan()
    let watched = try originals.open(plan.system)
    plan.pass()
    _ = try watched.read(originalKey(1))
    #expect(plan.calls == [.open, .status, .read])
    plan.pass()
    try watched.keep(1, 2)
    #expect(plan.calls == [.open, .protect, .write, .write, .rename])
  }
}
