import Locking
import Testing

@testable import TableStore

@Suite("Memory that a table gives back", .timeLimit(.minutes(10)))
struct CoolPagesTests {
  /// The hints about a table, as ranges of whole slots.
  private final class Hints: Sendable {
    private let ranges = Lock<[Range<Int>]>([])
    private let refusal: SystemError?

    init(refusal: SystemError? = nil) { self.refusal = refusal }

    var calls: SystemCalls {
      SystemCalls(observer: { [ranges, refusal] call throws(SystemError) in
        guard call.kind == .advise else { return }
        let count = call.bytes?.count ?? 0
        let range = call.offset..<(call.offset + count)
        ranges.withLock { $0.append(range) }
        if let refusal { throw refusal }
      })
    }

    /// The slots that were hinted at since the last question.
    func takeSlots(of table: Table) -> [Range<Int>] {
      let layout = table.core.opener.layout
      return ranges.withLock { ranges in
        defer { ranges = [] }
        return ranges.map { range in
          let start = (range.lowerBound - layout.slotOffset(0)) / layout.stride
          return start..<(start + range.count / layout.stride)
        }
      }
    }
  }

  /// Its slots begin on pages of any target.
  private static let page = TableGeometry(
    width: 128, height: 256, rowByteCount: 512, pixelFormat: 7)

  @Test("is that of every image without a lease, also of an earlier session, and no image is lost")
  func unleased() throws {
    let (fixture, hints) = (try Fixture(), Hints())
    var table = try fixture.open(slots: 6, geometry: Self.page, system: hints.calls)
    for entity in 0..<5 { try table.store(key(entity)) }
    let lease = try #require(table.entry(for: key(2)))
    table.coolPages()
    #expect(hints.takeSlots(of: table) == [0..<2, 3..<5])
    #expect(lease.shows(key(2)))
    for entity in 0..<5 { #expect(table.entry(for: key(entity))?.shows(key(entity)) == true) }
    withExtendedLifetime(lease) {}
    table = try fixture.reopen(table, slots: 6, geometry: Self.page, system: hints.calls)
    table.coolPages()
    #expect(hints.takeSlots(of: table) == [0..<5])
    for entity in 0..<5 { #expect(table.entry(for: key(entity))?.shows(key(entity)) == true) }
  }

  @Test("is asked for in parts where the table is large")
  func parts() throws {
    let (fixture, hints) = (try Fixture(), Hints())
    let geometry = TableGeometry(width: 512, height: 1024, rowByteCount: 2048, pixelFormat: 7)
    let table = try fixture.open(slots: 3, geometry: geometry, system: hints.calls)
    for entity in 0..<3 {
      let slot = try table.sealed(key(entity)) { [UInt8](repeating: 7, count: $0) }
      _ = try table.insert(slot)
    }
    table.coolPages()
    #expect(hints.takeSlots(of: table) == [0..<1, 1..<2, 2..<3])
  }

  @Test("is none that a page has in common with a leased image")
  func sharedPages() throws {
    let (fixture, hints) = (try Fixture(), Hints())
    let table = try fixture.open(slots: 200, system: hints.calls)
    for entity in 0..<200 { try table.store(key(entity)) }
    let lease = try #require(table.entry(for: key(100)))
    table.coolPages()
    let slots = hints.takeSlots(of: table)
    #expect(slots.count == 2 && !slots.contains { $0.contains(100) })
    withExtendedLifetime(lease) {}
  }

  @Test(
    "stays where it is when the system does not know the hint, the table is closed or not mapped")
  func refused() throws {
    let fixture = try Fixture()
    let hints = Hints(refusal: SystemError(call: .advise, code: 22))
    let table = try fixture.open(slots: 6, geometry: Self.page, system: hints.calls)
    try table.store(key(1))
    table.coolPages()
    #expect(hints.takeSlots(of: table).count == 1)
    #expect(table.entry(for: key(1))?.shows(key(1)) == true)
    let copied = try fixture.reopen(
      table, slots: 6, geometry: Self.page, system: SystemCalls(volumeKind: .unsafeToMap))
    table.coolPages()
    #expect(hints.takeSlots(of: table).isEmpty)
    copied.coolPages()
    #expect(copied.entry(for: key(1))?.shows(key(1)) == true)
  }

  @Test("is that of buffers that nobody draws into")
  func buffers() throws {
    let layout = try TableLayout(geometry: Self.page, capacity: .slots(1))
    let pool = PrivateSlots(layout: layout)
    func draw() -> Int? {
      guard let buffer = pool.makeBuffer() else { return nil }
      return Int(bitPattern: buffer.pixels.baseAddress)
    }
    let kept = try #require(draw())
    #expect(draw() == kept && pool.keptCount == 1)
    pool.freeSpareBuffers()
    #expect(pool.keptCount == 0)
    guard let used = pool.makeBuffer() else {
      Issue.record("There is no memory.")
      return
    }
    used.pixels.initializeMemory(as: UInt8.self, repeating: 0)
    pool.freeSpareBuffers()
    let isUntouched = used.pixels.allSatisfy { $0 == 0 }
    #expect(isUntouched)
  }
}
