import Foundation
import Locking
import TestSupport
import Testing

@testable import TableStore

@Suite("A table after a power cut", .timeLimit(.wholeRun))
struct PowerCutTests {
  /// The writes and their offsets, in order.
  private final class Journal: Sendable {
    struct Write {
      let offset: Int
      let bytes: [UInt8]
    }
    private let state = Lock<[Write]>([])
    var writes: [Write] { state.withLock { $0 } }

    var system: SystemCalls {
      SystemCalls { [state] call throws(SystemError) in
        guard call.kind == .write, let bytes = call.bytes else { return }
        let write = Write(offset: call.offset, bytes: Array(bytes))
        state.withLock { $0.append(write) }
      }
    }
  }

  /// The file as a device may hold it when the power goes: each sector has any version since the
  /// start, or zeros where there was none.
  private func remains(
    of writes: [Journal.Write], sectorByteCount: Int, using random: inout SplitMix64
  ) -> [UInt8] {
    let end = writes.map { $0.offset + $0.bytes.count }.max() ?? 0
    let length = (end + sectorByteCount - 1) / sectorByteCount * sectorByteCount
    var current = [UInt8](repeating: 0, count: length)
    var kept = current
    for write in writes {
      current.replaceSubrange(write.offset..<(write.offset + write.bytes.count), with: write.bytes)
      let first = write.offset / sectorByteCount
      let last = (write.offset + write.bytes.count - 1) / sectorByteCount
      for sector in first...last where Bool.random(using: &random) {
        let range = (sector * sectorByteCount)..<((sector + 1) * sectorByteCount)
        kept.replaceSubrange(range, with: current[range])
      }
    }
    return kept
  }

  @Test(
    "shows no wrong image, whichever sectors reached the device",
    arguments: [(512, UInt64(1)), (4096, 2), (512, 3), (4096, 4)])
  func survivesMixtures(sectorByteCount: Int, seed: UInt64) throws {
    let fixture = try Fixture()
    let journal = Journal()
    let table = try fixture.open(slots: 3, system: journal.system)
    for version in 1...4 {
      for entity in 0..<4 { try table.store(key(entity, version)) }
    }
    table.close()
    var random = SplitMix64(state: seed)
    var hitCount = 0
    for _ in 0..<60 {
      // The header is on the device, or no image could be found.
      let count = Int.random(in: 2...journal.writes.count, using: &random)
      var bytes = remains(
        of: Array(journal.writes.prefix(count)), sectorByteCount: sectorByteCount, using: &random)
      bytes.replaceSubrange(0..<512, with: journal.writes[0].bytes.prefix(512))
      try fixture.replaceFile(with: bytes)
      let reopened = try fixture.open(slots: 3)
      for entity in 0..<4 {
        for version in 1...4 {
          guard let entry = reopened.entry(for: key(entity, version)) else { continue }
          hitCount += 1
          #expect(entry.shows(key(entity, version)))
        }
      }
      reopened.close()
    }
    // No hits at all would show nothing.
    #expect(hitCount > 5)
  }

  @Test("deletes a file of another capacity only when the device has its images in the new one")
  func synchronizesCopies() throws {
    let fixture = try Fixture()
    let table = try fixture.open()
    try table.store(key(1))
    try table.flush()
    table.close()
    let plan = FaultPlan()
    let resized = try fixture.open(slots: 9, system: plan.system)
    let calls = plan.calls
    #expect(resized.present([1]) == [1])
    let delete = try #require(calls.lastIndex(of: .unlink))
    let write = try #require(calls[..<delete].lastIndex(of: .write))
    #expect(calls[write..<delete].contains(.synchronize))
    #expect(try fixture.fileNames.filter { $0.contains("guest") } == [])
  }

  @Test("leads to the flushed file, and not to the one that this replaced")
  func synchronizesName() throws {
    let calls = Lock<[SystemCall.Kind]>([])
    let descriptors = Lock<[Int32]>([])
    let system = SystemCalls { call throws(SystemError) in
      let (kind, descriptor) = (call.kind, call.descriptor)
      calls.withLock { $0.append(kind) }
      if kind == .synchronize { descriptors.withLock { $0.append(descriptor) } }
    }
    let fixture = try Fixture()
    let directory = try TableDirectory(path: fixture.path, system: system)
    let table = try Table(
      name: "rows", in: directory, geometry: Fixture.geometry, capacity: .slots(2), system: system)
    try table.store(key(1))
    try table.removeAll()
    #expect(calls.withLock { $0 }.contains(.rename))
    try table.flush()
    // The content first: a name that leads to a file without it is of no use.
    #expect(descriptors.withLock { $0 }.count == 2)
    #expect(descriptors.withLock { $0 }.last == directory.descriptor)
    table.close()
  }
}
