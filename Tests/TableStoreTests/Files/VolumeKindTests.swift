import Foundation
import Testing

@testable import TableStore

@Suite("A table on a volume that is not safe to map", .timeLimit(.wholeRun))
struct VolumeKindTests {
  let fixture: Fixture
  let table: Table

  init() throws {
    fixture = try Fixture()
    table = try fixture.open(slots: 3, system: SystemCalls(volumeKind: .unsafeToMap))
  }

  @Test("maps nothing, and shows copies")
  func copies() throws {
    let stored = try table.store(key(1))
    #expect(stored.isPrivate && stored.shows(key(1)))
    #expect(table.statistics.mappedByteCount == 0)
    let found = try #require(table.entry(for: key(1)))
    #expect(found.isPrivate && found.shows(key(1)))
    #expect(table.statistics.leasedCount == 0)
  }

  @Test("stores, replaces, evicts and removes as any other table, also when reopened")
  func works() throws {
    for entity in 1...4 { try table.store(key(entity)) }
    #expect(table.present(1...4) == [2, 3, 4])
    try table.store(key(4, 2))
    _ = try table.remove(key(2).entity)
    #expect(table.present(1...4) == [3])
    let reopened = try fixture.reopen(table, slots: 3)
    #expect(reopened.entry(for: key(3))?.shows(key(3)) == true)
    #expect(reopened.entry(for: key(4, 2))?.shows(key(4, 2)) == true)
    #expect(reopened.statistics.mappedByteCount > 0)
  }

  @Test("misses lost images, without a signal, when its file is cut")
  func survivesCuts() throws {
    let held = try table.store(key(1))
    try table.store(key(2))
    try #require(truncate(try fixture.filePath(), 0) == 0)
    #expect(table.entry(for: key(2)) == nil)
    #expect(held.shows(key(1)))
  }

  @Test("checks every copy, and shows no damaged one")
  func checksCopies() throws {
    try table.store(key(1))
    let layout = try TableLayout(geometry: Fixture.geometry, capacity: .slots(3))
    let descriptor = FileDescriptor(open(try fixture.filePath(), O_RDWR))
    try SystemCalls.live.write([1, 2, 3], to: descriptor.value, at: layout.slotOffset(0) + 8)
    #expect(table.entry(for: key(1)) == nil)
  }
}

#if os(Linux)
  @Suite("A volume", .timeLimit(.wholeRun))
  struct LinuxVolumeTests {
    @Test("is asked for the file that is open")
    func asks() throws {
      // The kernel's own files are on no disk, and safe.
      let descriptor = FileDescriptor(open("/proc/self/status", O_RDONLY))
      #expect(Platform.volumeKind(of: descriptor.value) == .safeToMap)
      #expect(Platform.volumeKind(of: -1) == .unsafeToMap)
    }

    // NFS, SMB, CIFS, SMB 2, FUSE, 9P, FAT, and none.
    @Test(
      "is not safe to map when it is on a network, in another program, or on a stick",
      arguments: [0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x6573_5546, 0x0102_1997, 0x4D44, 0])
    func knowsUnsteady(type: UInt32) {
      #expect(Platform.volumeKind(fileSystemType: type) == .unsafeToMap)
    }
  }
#endif
