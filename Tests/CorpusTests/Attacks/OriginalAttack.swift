import Foundation
import OriginalDatabase
import TableStore

@testable import FastImageCache

/// Opens a changed database of originals, and uses it.
///
/// The bytes are a script of changes to a database with three originals, or the database itself. An original that is
/// found has to have the bytes that were kept: whatever a row says, its file's checksum decides.
enum OriginalAttack {
  private static let time: Int64 = 1_700_000_000

  private static func content(_ number: Int) -> Data {
    Data((0..<300).map { UInt8(truncatingIfNeeded: $0 &* (number + 7)) })
  }

  private static func original(_ number: Int) -> OriginalRecord {
    let id = ImageID("https://a.example/\(number)")
    var original = OriginalRecord(
      OriginalName(id: id, address: id), version: id,
      owner: OriginalOwner(namespace: "a", entity: ImageID(number)), byteCount: 300,
      terms: ResponseMetadata(received: Date(timeIntervalSince1970: Double(time))))
    (original.body, original.wholeByteCount) = (UInt64(number), 300)
    original.checksum = content(number).withUnsafeBytes { Checksum.of($0, body: UInt64(number)) }
    (original.stored, original.lastUse) = (time, time * 1_000_000)
    return original
  }

  /// A database with its rows, as the bytes of its file.
  private static let template: [UInt8] = {
    guard let scratch = try? ScratchFolder() else { return [] }
    let path = scratch.url.path + "/originals.sqlite"
    do {
      let database = try Database(path, makesFile: true, .none)
      try OriginalSchema.prepare(database)
      for number in 0..<3 {
        try database.run(OriginalSchema.intoOriginal, original(number).values)
      }
      try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    } catch { return [] }
    return [UInt8](FileManager.default.contents(atPath: path) ?? Data())
  }()

  static func run(on bytes: [UInt8]) throws {
    var script = ByteScript(bytes)
    var file = template
    try Attack.require(!file.isEmpty, "There is no database to change.")
    if script.byte() & 2 != 0 {
      file = script.remainder()
    } else {
      while !script.isEmpty { change(&file, by: &script) }
    }
    let scratch = try ScratchFolder()
    defer { withExtendedLifetime(scratch) {} }
    let bodies = scratch.url.appendingPathComponent("bodies")
    try FileManager.default.createDirectory(at: bodies, withIntermediateDirectories: true)
    for number in 0..<3 {
      let name = BodyFolder.name(row: original(number).name.row, body: UInt64(number))
      try content(number).write(to: bodies.appendingPathComponent(name))
    }
    try Data(file).write(to: scratch.url.appendingPathComponent("originals.sqlite"))
    try use(scratch.url)
  }

  private static func change(_ file: inout [UInt8], by script: inout ByteScript) {
    let kind = script.byte()
    let start = min(file.count, script.short())
    switch kind % 4 {
    case 2: file.insert(contentsOf: script.chunk(), at: start)
    case 3: file.removeSubrange(start..<min(file.count, start + Int(script.byte())))
    default:
      let chunk = script.chunk().prefix(file.count - start)
      file.replaceSubrange(start..<start + chunk.count, with: chunk)
    }
  }

  private static func use(_ folder: URL) throws {
    let store = OriginalStore(folder, 1 << 20, system: .live) { time * 1_000_000 }
    guard (try? store.queue.sync { try store.openOnQueue() }) != nil else { return }
    for number in 0..<3 {
      let original = original(number)
      let query = OriginalQuery(
        name: original.name, version: original.version, owner: original.owner
      ) { _ in true }
      guard let found = store.lookUp(query),
        let bytes = try? store.bytes(of: found.row, original.name.id)
      else {
        continue
      }
      try Attack.require((0..<3).contains { content($0) == bytes }, "Other bytes were found.")
    }
    store.queue.sync { _ = try? store.makeFile(original(3)) }
  }
}
