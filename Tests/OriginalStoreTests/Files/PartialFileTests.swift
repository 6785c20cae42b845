import Foundation
import TableStore
import TestSupport
import Testing

@testable import OriginalStore

@Suite("A partial on disk", .timeLimit(.minutes(10)))
struct PartialFileTests {
  private let originals: Originals
  private let folder: OriginalFolder
  private let name = originalKey(1).digest.fileName
  private let whole = content(1, 1, byteCount: longByteCount)

  init() throws {
    originals = try Originals()
    folder = try originals.open()
  }

  /// The blocks that are found, if they are those of a version; -1 when they are not.
  private func blockCount(_ version: Int = 1) throws -> Int? {
    guard let found = try folder.openPartial(originalKey(1)) else { return nil }
    let bytes = content(1, version, byteCount: longByteCount)
    let isRight =
      found.facts == facts(1, version) && found.content == bytes.prefix(found.content.count)
    return isRight ? found.blockCount : -1
  }

  @Test("has the blocks that were appended, and nothing without one")
  func grows() throws {
    let partial = try folder.beginPartial(originalKey(1), facts(1, 1))
    #expect(try blockCount() == nil)
    for number in 0..<3 {
      try partial.append(block(1, 1, number), at: number)
      #expect(try blockCount() == number + 1)
      let byteCount = try [".part", ".terms"].map { try originals.bytes(name + $0).count }.reduce(
        0, +)
      #expect(try folder.openPartial(originalKey(1))?.byteCount == byteCount)
    }
    #expect(try folder.openPartial(originalKey(3)) == nil)
    #expect(try folder.version(1) == nil)
  }

  @Test("has no block that changed places with another, even if their hashes went along")
  func places() throws {
    _ = try folder.keepBlocks(1, 1, count: 3)
    func swapFirst(two byteCount: Int, at start: Int, of suffix: String) throws {
      let bytes = try originals.bytes(name + suffix)
      let (second, third) = (start + byteCount, start + 2 * byteCount)
      try originals.put(
        Array(bytes[..<start] + bytes[second..<third] + bytes[start..<second] + bytes[third...]),
        name + suffix)
    }
    try swapFirst(two: PartialFile.blockByteCount, at: 0, of: ".part")
    #expect(try blockCount() == nil)
    try swapFirst(two: 8, at: originals.bytes(name + ".terms").count - 24, of: ".terms")
    #expect(try blockCount() == nil)
  }

  @Test("goes on where it was left, and becomes the original without being written again")
  func finishes() throws {
    _ = try folder.keepBlocks(1, 1, count: 2)
    let plan = FaultPlan()
    let found = try #require(try originals.open(plan.system).openPartial(originalKey(1)))
    #expect(found.blockCount == 2)
    plan.pass()
    try found.file.append(block(1, 1, 2), at: 2)
    // A hash without its block would count for a kill as a block that was lost.
    #expect(plan.offsets.first == 2 * PartialFile.blockByteCount)
    plan.pass()
    let written = try found.file.finish(whole, blockCount: 3, facts(1, 1))
    // Only what is behind the blocks, and the trailer behind that.
    let offsets = zip(plan.calls, plan.offsets).filter { $0.0 == .write }.map(\.1)
    #expect(offsets == [3 * PartialFile.blockByteCount, longByteCount])
    #expect(try folder.version(1, byteCount: longByteCount) == 1)
    #expect(try originals.names == [name])
    // No byte tells it from one that was written at once.
    let bytes = try originals.bytes(name)
    let again = try folder.write(whole, originalKey(1), facts(1, 1))
    #expect(again == written)
    #expect(try originals.bytes(name) == bytes)
  }

  @Test("leaves the older original in its place until it is finished")
  func replaces() throws {
    _ = try folder.write(whole, originalKey(1), facts(1, 1))
    let partial = try folder.keepBlocks(1, 3, count: 3)
    #expect(try folder.version(1, byteCount: longByteCount) == 1)
    _ = try partial.finish(content(1, 3, byteCount: longByteCount), blockCount: 3, facts(1, 3))
    #expect(try folder.version(1, byteCount: longByteCount) == 3)
  }

  @Test("drops a block that changed on disk, and all behind it", arguments: 0..<3)
  func dropsDamage(number: Int) throws {
    _ = try folder.keepBlocks(1, 1, count: 3)
    let size = PartialFile.blockByteCount
    let file = try originals.bytes(name + ".part")
    for offset in [0, 1, size / 2, size - 1] {
      var changed = file
      changed[number * size + offset] ^= 4
      try originals.put(changed, name + ".part")
      #expect(try blockCount() == (number == 0 ? nil : number))
    }
    // Cut in this block, exchanged with another, and the hash of another.
    try originals.put(Array(file.prefix((number + 1) * size - 1)), name + ".part")
    #expect(try blockCount() == (number == 0 ? nil : number))
    var exchanged = file
    let other = (number + 1) % 3
    exchanged.replaceSubrange(
      number * size..<(number + 1) * size, with: file[other * size..<(other + 1) * size])
    try originals.put(exchanged, name + ".part")
    #expect(try blockCount() == (number == 0 ? nil : number))
  }

  @Test("counts for nothing after any change of its terms' header")
  func noticesHeader() throws {
    _ = try folder.keepBlocks(1, 1, count: 2)
    let terms = try originals.bytes(name + ".terms")
    let header = terms.count - 16
    for index in 0..<terms.count {
      var changed = terms
      changed[index] ^= UInt8(1) << UInt8(index % 8)
      try originals.put(changed, name + ".terms")
      #expect(try blockCount() == (index < header + 8 ? nil : 1), "byte \(index)")
    }
    for count in 0..<terms.count {
      try originals.put(Array(terms.prefix(count)), name + ".terms")
      #expect(try blockCount() == (count < header + 8 ? nil : 1), "\(count) bytes")
    }
  }

  @Test("never joins blocks of one version with the terms of another")
  func bindsVersions() throws {
    _ = try folder.keepBlocks(1, 1, count: 2)
    let (content, terms) = (
      try originals.bytes(name + ".part"), try originals.bytes(name + ".terms")
    )
    _ = try folder.keepBlocks(1, 3, count: 2)
    let newer = try originals.bytes(name + ".terms")
    #expect(try blockCount(3) == 2)
    try originals.put(content, name + ".part")
    #expect(try blockCount(3) == nil)
    // Not even with the hashes of the older one behind the newer header.
    #expect(terms.count == newer.count)
    try originals.put(newer.dropLast(16) + terms.suffix(16), name + ".terms")
    #expect(try blockCount(3) == nil)
  }

  @Test("is replaced by one that begins anew, and removed whole")
  func beginsAnew() throws {
    _ = try folder.keepBlocks(1, 1, count: 3)
    let partial = try folder.beginPartial(originalKey(1), facts(1, 3))
    #expect(try blockCount(3) == nil)
    try partial.append(block(1, 3, 0), at: 0)
    #expect(try blockCount(3) == 1)
    try folder.removePartial(originalKey(1).digest)
    try folder.removePartial(originalKey(1).digest)
    #expect(try originals.names.isEmpty)
  }

  @Test("never becomes an original that has bytes behind its proof")
  func refusesLonger() throws {
    let partial = try folder.keepBlocks(1, 1, count: 3)
    // Blocks of a longer file.
    #expect(throws: TableError.self) {
      try partial.finish(content(1, 1, byteCount: 10), blockCount: 0, facts(1, 1))
    }
    #expect(try folder.version(1, byteCount: 10) == nil)
  }

  @Test("whose content is a link, a pipe or another's file counts for nothing")
  func refusesForeign() throws {
    _ = try folder.keepBlocks(1, 1, count: 1)
    let path = originals.path + "/" + name + ".part"
    #expect(chmod(path, 0o644) == 0)
    #expect(try blockCount() == nil)
    #expect(unlink(path) == 0)
    #expect(mkfifo(path, 0o600) == 0)
    #expect(try blockCount() == nil)
    _ = try folder.keepBlocks(1, 1, count: 1)
    #expect(try blockCount() == 1)
  }
}
