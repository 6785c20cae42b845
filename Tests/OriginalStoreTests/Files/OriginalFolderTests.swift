import Foundation
import TableStore
import TestSupport
import Testing

@testable import OriginalStore

@Suite("A folder of originals", .timeLimit(.minutes(10)))
struct OriginalFolderTests {
  private let originals: Originals
  private let folder: OriginalFolder
  private let name = originalKey(1).digest.fileName

  init() throws {
    originals = try Originals()
    folder = try originals.open()
  }

  // MARK: Keeping

  @Test("finds what was kept, in another opening too, until it is removed")
  func keeps() throws {
    for number in 1...6 { try folder.keep(number, number) }
    let other = try originals.open()
    #expect(try (1...7).map { try other.version($0) } == [1, 2, 3, 4, 5, 6, nil])
    try folder.keep(1, 9)
    try folder.remove(originalKey(2).digest)
    try folder.remove(originalKey(2).digest)
    #expect(try (1...3).map { try other.version($0) } == [9, nil, 3])
    #expect(try originals.names.count == 5)
  }

  @Test("says of a kept original what the record needs")
  func tellsRecord() throws {
    let written = try folder.write(content(1, 1), originalKey(1), facts(1, 1))
    guard case .whole(let original) = try folder.read(originalKey(1)) else {
      Issue.record("Nothing was found.")
      return
    }
    #expect(original.contentHash == written.contentHash)
    #expect(original.byteCount == written.byteCount)
    #expect(try originals.bytes(name).count == written.byteCount)
    #expect(Array(original.audienceHash) == SHA256.hash([]))
  }

  @Test("finds an original by the name of its file alone")
  func adopts() throws {
    try folder.keep(2, 1)
    let digest = originalKey(2).digest
    guard case .whole(let original) = try folder.adopt(digest) else {
      Issue.record("Nothing was found.")
      return
    }
    #expect(original.id == originalKey(2).id)
    #expect(Array(original.audienceHash) == SHA256.hash(Array("alice".utf8)))
    #expect(original.facts == facts(2, 1))
    // The same bytes under a name that they do not hash to.
    let other = OriginalDigest(low: digest.low ^ 1, high: digest.high ^ 1)
    try originals.put(try originals.bytes(digest.fileName), other.fileName)
    guard case .damaged = try folder.adopt(other) else {
      Issue.record("A file was adopted under another's name.")
      return
    }
  }

  // MARK: What is not ours

  enum Foreign: String, CaseIterable {
    case link, danglingLink, pipe, folder, publicFile, huge, empty
  }

  private func put(_ foreign: Foreign, _ name: String) throws {
    let path = originals.path + "/" + name
    let target = originals.directory.url.path + "/target"
    switch foreign {
    case .link, .danglingLink:
      if foreign == .link { try Data("target".utf8).write(to: URL(fileURLWithPath: target)) }
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    case .pipe: #expect(mkfifo(path, 0o600) == 0)
    case .folder:
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    case .publicFile:
      // A whole original, but anybody could have written it.
      try folder.keep(1, 1)
      let bytes = try originals.bytes(self.name)
      try folder.remove(originalKey(1).digest)
      try originals.put(bytes, name)
      #expect(chmod(path, 0o644) == 0)
    case .huge:
      try originals.put([], name)
      #expect(truncate(path, off_t(OriginalFile.maximumByteCount + 1)) == 0)
    case .empty: try originals.put([], name)
    }
  }

  @Test(
    "neither follows nor waits for what is not ours, and replaces it", arguments: Foreign.allCases)
  func replacesForeign(foreign: Foreign) throws {
    try put(foreign, name)
    #expect(try folder.isDamaged(1))
    if foreign == .folder {
      #expect(throws: TableError.occupied(path: originals.path + "/" + name)) {
        try folder.keep(1, 1)
      }
    } else {
      try folder.keep(1, 1)
      #expect(try folder.version(1) == 1)
    }
    #expect(try originals.names == [name])
    if foreign == .link {
      #expect(
        try String(contentsOfFile: originals.directory.url.path + "/target", encoding: .utf8)
          == "target")
    }
  }

  @Test("removes what is not ours under a name of ours, but no folder", arguments: Foreign.allCases)
  func removesForeign(foreign: Foreign) throws {
    try put(foreign, name)
    try folder.remove(originalKey(1).digest)
    #expect(try originals.names.isEmpty == (foreign != .folder))
  }

  @Test("owns no index that is not ours, and puts one in its place", arguments: Foreign.allCases)
  func replacesForeignIndex(foreign: Foreign) throws {
    try put(foreign, IndexFile.name)
    guard foreign != .folder else {
      #expect(throws: TableError.self) { try folder.ownIndex() }
      #expect(try folder.readIndex().map(\.record).isEmpty)
      return
    }
    let index = try #require(try folder.ownIndex())
    try index.write(record(1), at: 0)
    #expect(try folder.readIndex().map(\.record) == [record(1)])
    #expect(try index.isInPlace())
  }

  @Test("does not open where the path leads to a file or a link")
  func refusesOccupied() throws {
    let file = originals.directory.url.path + "/file"
    try Data().write(to: URL(fileURLWithPath: file))
    let link = originals.directory.url.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: originals.path)
    for path in [file, link] {
      #expect(throws: TableError.occupied(path: path)) { try OriginalFolder(path: path) }
    }
  }

  // MARK: Gone

  @Test("misses once it was deleted, and is made anew by another opening")
  func isDeleted() throws {
    try folder.keep(1, 1)
    let index = try #require(try folder.ownIndex())
    #expect(try folder.isInPlace())
    #expect(try index.isInPlace())
    try FileManager.default.removeItem(atPath: originals.path)
    #expect(try folder.version(1) == nil)
    #expect(try folder.isInPlace() == false)
    #expect(try index.isInPlace() == false)
    #expect(throws: TableError.system(SystemError(call: .open, code: ENOENT))) {
      try folder.keep(1, 2)
    }
    try folder.remove(originalKey(1).digest)
    let anew = try originals.open()
    #expect(try anew.ownIndex() != nil)
    try anew.keep(1, 3)
    #expect(try anew.version(1) == 3)
    #expect(try folder.version(1) == nil)
  }

  // MARK: Sweeping

  @Test("deletes what a kill left, and lists the rest with its bytes")
  func sweeps() throws {
    _ = try folder.ownIndex()
    try folder.keep(1, 1)
    _ = try folder.keepBlocks(2, 1, count: 1)
    let lone = originalKey(3).digest.fileName
    for name in ["new-0123456789abcdef", lone + ".part", originalKey(4).digest.fileName + ".terms"]
    {
      try originals.put([1, 2, 3], name)
    }
    // Foreign ones, each almost called like ours.
    let foreign = [
      "new-0123456789abcdeg", "new-1", "+" + name.dropFirst(), name + ".parts", "notes",
    ]
    for name in foreign { try originals.put([1], name) }
    try FileManager.default.createSymbolicLink(
      atPath: originals.path + "/new-0123456789abcdee", withDestinationPath: "notes")
    let found = try folder.sweep()
    let partial = originalKey(2).digest
    let partialByteCount = try ["part", "terms"].map {
      try originals.bytes("\(partial.fileName).\($0)").count
    }.reduce(0, +)
    let expected = [
      SweptFile(
        name: name, kind: .original(originalKey(1).digest),
        byteCount: try originals.bytes(name).count),
      SweptFile(
        name: partial.fileName + ".part", kind: .partial(partial), byteCount: partialByteCount),
      SweptFile(name: IndexFile.name, kind: .index, byteCount: 128),
      SweptFile(name: "new-0123456789abcdee", kind: .foreign, byteCount: 5),
    ]
    #expect(
      Set(found)
        == Set(expected + foreign.map { SweptFile(name: $0, kind: .foreign, byteCount: 1) }))
    #expect(
      try PartialFile.byteCount(blocks: 1, originalKey(2), facts(2, 1)) == partialByteCount)
    #expect(
      Set(try originals.names)
        == Set(found.map(\.name) + [partial.fileName + ".terms"]))
  }

  // MARK: Copying

  @Test("copies an original over another file, or leaves that as it is")
  func copies() throws {
    try folder.keep(1, 1)
    let target = originals.directory.url.path + "/shared.jpg"
    try Data("old".utf8).write(to: URL(fileURLWithPath: target))
    #expect(try folder.copyFile(of: originalKey(2), to: target) == false)
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "old")
    #expect(try folder.copyFile(of: originalKey(1), to: target))
    #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == content(1, 1))
    // Whoever changes the copy changes no original.
    #expect(truncate(target, 1) == 0)
    #expect(try folder.version(1) == 1)
    try FileManager.default.removeItem(atPath: target)
    try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
    #expect(throws: TableError.self) { try folder.copyFile(of: originalKey(1), to: target) }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: originals.directory.url.path).sorted()
        == ["shared.jpg", "store"])
  }

  @Test("leaves the target of a copy as it is when any call fails")
  func copiesOnFullDisk() throws {
    try folder.keep(1, 1)
    let target = originals.directory.url.path + "/shared.jpg"
    for call in 0..<30 {
      try Data("old".utf8).write(to: URL(fileURLWithPath: target))
      let plan = FaultPlan(code: ENOSPC)
      let failing = try originals.open(plan.system)
      plan.fail(after: call, count: 1)
      let isDone = (try? failing.copyFile(of: originalKey(1), to: target)) == true
      #expect(
        try Data(contentsOf: URL(fileURLWithPath: target))
          == (isDone ? content(1, 1) : Data("old".utf8)))
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: originals.directory.url.path).count == 2
      )
      guard plan.failureCount > 0 else {
        #expect(call > 5)
        return
      }
    }
    Issue.record("Copying takes ever more calls.")
  }

  // MARK: Protection

  @Test("gives each file its class before its first byte")
  func protects() throws {
    let plan = FaultPlan(hasFileProtection: true)
    let watched = try originals.open(plan.system)
    plan.pass()
    try watched.keep(1, 1)
    _ = try watched.ownIndex()
    _ = try watched.keepBlocks(2, 1, count: 1)
    let calls = plan.calls.filter { $0 == .protect || $0 == .write }
    #expect(calls.filter { $0 == .protect }.count >= 4)
    #expect(calls.first == .protect)
    #expect(
      calls.split(separator: .protect, omittingEmptySubsequences: false).first?.isEmpty == true)
  }

  @Test("tells a locked device from damage")
  func isLocked() throws {
    try folder.keep(1, 1)
    _ = try folder.ownIndex()
    let device = LockableDevice()
    let locked = try originals.open(device.system)
    device.lock()
    #expect(throws: TableError.protectedNow(name: name)) { try locked.read(originalKey(1)) }
    #expect(throws: TableError.protectedNow(name: name)) { try locked.keep(1, 2) }
    #expect(throws: TableError.protectedNow(name: IndexFile.name)) { try locked.ownIndex() }
    device.unlock()
    #expect(try locked.version(1) == 1)
    #expect(Set(try originals.names) == [name, IndexFile.name])
  }
}
