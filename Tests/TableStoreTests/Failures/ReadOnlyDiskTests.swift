import Foundation
import Locking
import TestSupport
import Testing

@testable import TableStore

@Suite("A table that falls back, on a disk that takes no files", .timeLimit(.wholeRun))
struct ReadOnlyDiskTests {
  private let fixture: Fixture
  private let notices = Lock<[TableStorage]>([])

  init() throws { fixture = try Fixture() }

  private func open(
    _ disk: ReadOnlyDisk, slots: Int = 8, geometry: TableGeometry = Fixture.geometry
  ) throws -> Table {
    try fixture.open(slots: slots, geometry: geometry, fallsBack: true, system: disk.system) {
      [notices] notice in
      if case .storage(let storage) = notice { notices.withLock { $0.append(storage) } }
    }
  }

  private func refusal(_ code: Int32) throws -> TableError {
    TableError(SystemError(call: .open, code: code), path: try fixture.filePath())
  }

  @Test(
    "finds images, and keeps its own in memory", arguments: [EROFS, EACCES, EPERM, ENOSPC, EIO])
  func readsAndKeeps(code: Int32) throws {
    try fixture.open().store(key(1))
    let bytes = try fixture.bytes()

    let table = try open(ReadOnlyDisk(code: code))
    let expected = TableStorage.readOnly(try refusal(code))
    #expect(table.storage == expected && notices.withLock { $0 } == [expected])
    #expect(table.statistics.storage == expected && !table.statistics.isOwner)
    #expect(table.entry(for: key(1))?.shows(key(1)) == true)
    try table.store(key(2))
    #expect(table.entry(for: key(2))?.shows(key(2)) == true)
    #expect(throws: try refusal(code)) { try table.flush() }
    // A miss here, and only here.
    #expect(try table.remove(key(1).entity))
    #expect(table.present(1...2) == [2])
    try table.removeAll()
    try table.store(key(3))
    #expect(table.present(1...3) == [3])
    table.close()
    #expect(try fixture.bytes() == bytes && fixture.fileCount == 1)
    #expect(try fixture.open().present(1...3) == [1])
    #expect(notices.withLock { $0 } == [expected])
  }

  @Test("moves its images to the disk when that takes files again", arguments: [false, true])
  func recovers(hasTable: Bool) throws {
    if hasTable {
      try fixture.open().store(key(1))
    } else {
      _ = try TableDirectory(path: fixture.path)
    }
    let disk = ReadOnlyDisk(code: ENOSPC)
    let table = try open(disk)
    let refusal = try refusal(ENOSPC)
    let first = hasTable ? TableStorage.readOnly(refusal) : .unavailable(refusal)
    try table.store(key(2))
    #expect(notices.withLock { $0 } == [first])
    disk.becomeWritable()
    try table.store(key(3))
    #expect(notices.withLock { $0 } == [first, .ready] && table.storage == .ready)
    try table.flush()
    #expect(table.statistics.isOwner)
    table.close()
    #expect(try fixture.open().present(1...3) == (hasTable ? [1, 2, 3] : [2, 3]))
  }

  @Test("is read where there are no locks, and no file is made beside it")
  func readsWithoutLocks() throws {
    try fixture.open().store(key(1))
    let plan = FaultPlan(code: ENOLCK)
    plan.fail(after: 0, only: [.lock])
    let table = try fixture.open(fallsBack: true, system: plan.system)
    let refusal = TableError.system(
      SystemError(call: .lock, code: ENOLCK), path: try fixture.filePath())
    #expect(table.storage == .readOnly(refusal))
    try table.store(key(2))
    #expect(table.present(1...2) == [1, 2])
    table.close()
    #expect(try fixture.fileCount == 1)
  }

  #if os(Linux)
    @Test("keeps its images in memory where a full disk takes a file, and none of its images")
    func avoidsFullDisk() throws {
      let device = try TableDirectory(path: fixture.path).identity.device
      let isFull = Lock(true)
      let system = SystemCalls(observer: { call throws(SystemError) in
        var status = stat()
        guard call.kind == .write, fstat(call.descriptor, &status) == 0 else { return }
        // Files of memory are on a device of their own.
        let isOnDisk = UInt64(truncatingIfNeeded: status.st_dev) == device
        let end = call.offset + (call.bytes?.count ?? 0)
        if isOnDisk, end > TableLayout.headerByteCount, isFull.withLock({ $0 }) {
          throw SystemError(call: .write, code: ENOSPC)
        }
      })
      let table = try fixture.open(fallsBack: true, system: system)
      #expect(try table.storage != .ready && fixture.fileCount == 0)
      try table.store(key(1))
      #expect(table.present(1...1) == [1] && table.storage != .ready)
      isFull.withLock { $0 = false }
      try table.store(key(2))
      #expect(table.present(1...2) == [1, 2] && table.storage == .ready)
      table.close()
      #expect(try fixture.open().present(1...2) == [1, 2])
    }
  #endif

  @Test("keeps 64 MiB in memory at most, and its capacity on the disk")
  func boundsMemory() throws {
    // 4 MiB of pixels for each.
    let geometry = TableGeometry(width: 1024, height: 1024, rowByteCount: 4096, pixelFormat: 7)
    _ = try TableDirectory(path: fixture.path)
    let disk = ReadOnlyDisk(code: EROFS)
    let table = try open(disk, slots: 40, geometry: geometry)
    #expect(table.slotCount == 15 && table.statistics.slotCount == 15)
    disk.becomeWritable()
    _ = try table.remove(key(1).entity)
    #expect(table.slotCount == 40 && table.statistics.slotCount == 40)
  }

  @Test("keeps one image at least in memory")
  func boundsLargeImages() throws {
    let geometry = TableGeometry(width: 8192, height: 4096, rowByteCount: 32_768, pixelFormat: 7)
    _ = try TableDirectory(path: fixture.path)
    #expect(try open(ReadOnlyDisk(code: EROFS), slots: 3, geometry: geometry).slotCount == 1)
  }

  @Test("leaves a folder under its name alone, and keeps its images without a name")
  func goesOnBesideFolder() throws {
    let file = try fixture.filePath()
    try FileManager.default.createDirectory(
      atPath: file + "/kept", withIntermediateDirectories: true)
    let table = try fixture.open(fallsBack: true)
    #expect(table.storage == .unavailable(.occupied(path: file)))
    try table.store(key(1))
    #expect(table.entry(for: key(1))?.shows(key(1)) == true)
    table.close()
    #expect(FileManager.default.fileExists(atPath: file + "/kept"))
    #expect(try fixture.fileCount == 1)
  }

  @Test("does not open for who needs the disk, nor where the device is locked")
  func staysStrict() throws {
    try fixture.open().store(key(1))
    let table = try open(ReadOnlyDisk(code: EROFS))
    #expect(throws: try refusal(EROFS)) { try fixture.open() }
    table.close()
    let locked = FaultPlan(code: EPERM, hasFileProtection: true)
    locked.fail(after: 0, only: [.open])
    #expect(throws: TableError.protectedDataUnavailable(name: "rows")) {
      try fixture.open(fallsBack: true, system: locked.system)
    }
  }

  @Test("is no table at all where there is no memory either")
  func needsMemory() throws {
    _ = try TableDirectory(path: fixture.path)
    let plan = FaultPlan(code: EMFILE)
    plan.fail(after: 0, only: [.open, .makeMemoryFile])
    #expect(throws: TableError.self) { try fixture.open(fallsBack: true, system: plan.system) }
  }
}
