import Testing

@testable import TableStore

@Suite("A table layout", .timeLimit(.wholeRun))
struct TableLayoutTests {
  private static func geometry(rows: Int, rowBytes: Int) -> TableGeometry {
    TableGeometry(width: 1, height: rows, rowByteCount: rowBytes, pixelFormat: 0)
  }

  /// Every byte count of pixels up to 32 KiB, and a sample of larger ones.
  private static let sizes = Array(1...512) + stride(from: 513, to: 100_000, by: 331)

  @Test("wastes no more of a file than it promises")
  func boundsWaste() throws {
    for units in Self.sizes where units <= 65_535 {
      let geometry = Self.geometry(rows: units, rowBytes: 64)
      let layout = try TableLayout(geometry: geometry, capacity: .slots(100))
      let pixels = units * 64
      let perSlot = layout.stride + TableLayout.recordByteCount
      if pixels >= 16_384 {
        #expect(perSlot * 4 <= pixels * 5)
      } else if pixels >= 192 {
        #expect(perSlot <= pixels * 2)
      } else {
        #expect(perSlot <= 384)
      }
      #expect(layout.fileByteCount - 100 * perSlot < 32_768)
    }
  }

  @Test("leaves room for ids and keeps slots, records and header apart")
  func keepsApart() throws {
    for units in Self.sizes where units <= 65_535 {
      let layout = try TableLayout(
        geometry: Self.geometry(rows: units, rowBytes: 64), capacity: .slots(300))
      #expect(layout.trailerOffset == units * 64)
      #expect(layout.trailerByteCount >= 128)
      #expect(layout.contentByteCount <= layout.stride)
      #expect(layout.stride % 64 == 0)
      #expect(layout.recordOffset(0) >= TableLayout.headerByteCount)
      #expect(layout.recordOffset(299) + 64 <= layout.slotOffset(0))
      #expect(layout.slotOffset(0) % 16_384 == 0)
      #expect(layout.slotOffset(299) + layout.stride == layout.fileByteCount)
    }
  }

  @Test(
    "puts slots on pages where that is cheap",
    arguments: [(200 * 832, 16_384), (4 * 16_384 - 1024, 16_384), (7 * 1024, 4096), (2048, 64)])
  func alignsSlots(pixels: Int, alignment: Int) throws {
    let layout = try TableLayout(
      geometry: Self.geometry(rows: pixels / 64, rowBytes: 64), capacity: .slots(1))
    #expect(layout.stride % alignment == 0)
  }

  @Test("fills a budget to the last slot and never exceeds it")
  func fillsBudgets() throws {
    let geometry = Self.geometry(rows: 20, rowBytes: 64)
    for budget in stride(from: 40_000, to: 2_000_000, by: 9_973) {
      let layout = try TableLayout(geometry: geometry, capacity: .bytes(budget))
      #expect(layout.fileByteCount <= budget)
      let larger = try TableLayout(geometry: geometry, capacity: .slots(layout.slotCount + 1))
      #expect(larger.fileByteCount > budget)
    }
  }

  @Test(
    "refuses capacities without slots and beyond the limit",
    arguments: [
      TableCapacity.slots(0), .slots(-1), .slots(.max), .slots(1 << 40), .bytes(0), .bytes(.min),
      .bytes(33_000),
    ])
  func refusesCapacities(capacity: TableCapacity) {
    #expect(throws: TableError.invalidCapacity(capacity)) {
      try TableLayout(geometry: Self.geometry(rows: 20, rowBytes: 64), capacity: capacity)
    }
  }

  @Test("takes a budget without bounds for the largest table")
  func acceptsHugeBudgets() throws {
    let layout = try TableLayout(
      geometry: Self.geometry(rows: 1, rowBytes: 64), capacity: .bytes(.max))
    #expect(layout.slotCount == TableCapacity.maximumSlotCount)
  }

  @Test(
    "refuses geometries beyond the limits",
    arguments: [
      TableGeometry(width: 0, height: 1, rowByteCount: 64, pixelFormat: 0),
      TableGeometry(width: 1, height: -1, rowByteCount: 64, pixelFormat: 0),
      TableGeometry(width: 65_536, height: 1, rowByteCount: 64, pixelFormat: 0),
      TableGeometry(width: 1, height: 1, rowByteCount: 63, pixelFormat: 0),
      TableGeometry(width: 1, height: 1, rowByteCount: 0, pixelFormat: 0),
      TableGeometry(width: 1, height: 1, rowByteCount: 96, pixelFormat: 0),
      TableGeometry(width: 1, height: 65_535, rowByteCount: 1 << 20, pixelFormat: 0),
      TableGeometry(width: .max, height: .max, rowByteCount: .max, pixelFormat: 0),
    ])
  func refusesGeometries(geometry: TableGeometry) {
    #expect(throws: TableError.invalidGeometry(geometry)) {
      try TableLayout(geometry: geometry, capacity: .slots(1))
    }
  }
}
