import Foundation
import TableStore
import TestSupport

@testable import OriginalStore

/// A folder for one test, and originals whose bytes follow from key and version.
struct Originals {
  let directory: TemporaryDirectory
  var path: String { directory.url.path + "/store/originals" }

  init() throws { directory = try TemporaryDirectory(inMemory: true) }

  func open(_ system: SystemCalls = .live) throws -> OriginalFolder {
    try OriginalFolder(path: path, system: system)
  }

  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
  }

  func bytes(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)))
  }

  /// Puts a file under a name, as one of this folder's.
  func put(_ bytes: [UInt8], _ name: String) throws {
    let file = path + "/" + name
    // A file that was there keeps its mode, and a link its target.
    try? FileManager.default.removeItem(atPath: file)
    try Data(bytes).write(to: URL(fileURLWithPath: file))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
  }
}

/// Every third of the ids is a string, every second original is of one account.
func originalKey(_ number: Int) -> OriginalKey {
  let id =
    number.isMultiple(of: 3) ? TableID(Int64(number)) : TableID("https://a.example/\(number)")
  return OriginalKey(id, audience: number.isMultiple(of: 2) ? "alice" : "")
}

func content(_ number: Int, _ version: Int, byteCount: Int = 3000) -> Data {
  var random = SplitMix64(state: UInt64(number) << 32 | UInt64(version))
  // Words that differ, from a few that are drawn: a megabyte of drawn ones takes a test's time.
  let drawn = (0..<64).map { _ in random.next() }
  return Data(drawn.withUnsafeBytes(Array.init)).repeated(upTo: byteCount)
}

extension Data {
  /// The bytes again and again, each time with another number in front.
  fileprivate func repeated(upTo byteCount: Int) -> Data {
    var bytes = Data(capacity: byteCount + count + 8)
    while bytes.count < byteCount {
      var number = UInt64(bytes.count).littleEndian
      Swift.withUnsafeBytes(of: &number) { bytes.append(contentsOf: $0) }
      bytes.append(self)
    }
    return bytes.prefix(byteCount)
  }
}

func facts(_ number: Int, _ version: Int) -> OriginalFacts {
  OriginalFacts(
    entity: TableID("entity \(number)"), width: Int32(version), height: 20,
    isPlaceholder: version.isMultiple(of: 2), terms: Array("\"version \(version)\"".utf8),
    stored: 1_700_000_000 + Int64(version))
}

func record(_ number: Int, _ version: Int = 1) -> OriginalRecord {
  OriginalRecord(
    key: originalKey(number).digest, entity: UInt64(number), audience: 7,
    contentHash: UInt64(version), byteCount: 3100, width: -1, height: 20,
    flags: [.placeholder, .mustRevalidate], answered: 1, freshFor: 2, stored: 3,
    lastUse: -4 - Int64(version))
}

extension OriginalFolder {
  func keep(_ number: Int, _ version: Int, byteCount: Int = 3000) throws {
    _ = try write(
      content(number, version, byteCount: byteCount), originalKey(number), facts(number, version))
  }

  /// The version that is found, if one is; -1 when what is found is no original that was kept.
  func version(_ number: Int, byteCount: Int = 3000) throws -> Int? {
    guard case .whole(let original) = try read(originalKey(number)) else { return nil }
    let version = Int(original.facts.width)
    let isRight =
      original.content == content(number, version, byteCount: byteCount)
      && original.facts == facts(number, version) && original.id == originalKey(number).id
    return isRight ? version : -1
  }

  /// Copies what is there; false where nothing is.
  func copyFile(of key: OriginalKey, to path: String) throws -> Bool {
    guard case .whole(let original) = try read(key) else { return false }
    try writeCopy(of: original.content, to: path)
    return true
  }

  func isDamaged(_ number: Int) throws -> Bool {
    if case .damaged = try read(originalKey(number)) { true } else { false }
  }

  /// Keeps the first blocks of an original.
  func keepBlocks(_ number: Int, _ version: Int, count: Int) throws -> PartialFile {
    let partial = try beginPartial(originalKey(number), facts(number, version))
    for block in 0..<count {
      try partial.append(OriginalStoreTests.block(number, version, block), at: block)
    }
    return partial
  }
}

/// The byte count of an original that comes in blocks: three and a half.
let longByteCount = PartialFile.blockByteCount * 7 / 2

func block(_ number: Int, _ version: Int, _ block: Int) -> Data {
  let size = PartialFile.blockByteCount
  return content(number, version, byteCount: longByteCount)[block * size..<(block + 1) * size]
}
