import Testing

@testable import TableStore

@Suite("A table id", .timeLimit(.wholeRun))
struct TableIDTests {
  @Test("gives its value back")
  func describesItself() {
    #expect("\(TableID("é/ü"))" == "é/ü")
    #expect("\(TableID(Int64.min))" == "\(Int64.min)")
    #expect("\(TableID(UInt64.max))" == "\(UInt64.max)")
    let uuid = TableID(uuid: (0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210))
    #expect("\(uuid)" == "01234567-89AB-CDEF-FEDC-BA9876543210")
  }

  @Test("compares long strings to the last byte", arguments: [1, 15, 16, 200, 5000])
  func comparesLongStrings(count: Int) {
    let base = String(repeating: "x", count: count - 1)
    #expect(TableID(base + "a") == TableID(base + "a"))
    #expect(TableID(base + "a") != TableID(base + "b"))
    let ids = [TableID(base + "a"), TableID(base + "a"), TableID(base + "b")]
    #expect(ids[0].span.hasSameBytes(as: ids[1].span))
    #expect(!ids[0].span.hasSameBytes(as: ids[2].span))
  }
}

@Suite("A stored id", .timeLimit(.wholeRun))
struct StoredIDTests {
  @Test(
    "is read as it was written",
    arguments: [
      TableID(""), TableID("photo/1.jpg"), TableID("😀"), TableID(Int64(-3)), TableID(UInt64.max),
      TableID(uuid: (.max, 1)),
    ])
  func roundTrips(id: TableID) throws {
    let stored = StoredID.full(id)
    let read = try #require(StoredID(code: stored.code, bytes: stored.bytes[...]))
    #expect(read == stored)
    #expect(read.matches(id))
  }

  @Test("matches a long string by its hash and length")
  func matchesHashes() throws {
    let text = String(repeating: "long ", count: 1000)
    let stored = StoredID.hashing(TableID(text))
    let read = try #require(StoredID(code: stored.code, bytes: stored.bytes[...]))
    #expect(read.matches(TableID(text)))
    #expect(!read.matches(TableID(text + "!")))
    #expect(!read.matches(TableID(Int64(1))))
  }

  @Test(
    "refuses bytes that are no id",
    arguments: [(1, 15, 15), (2, 9, 9), (3, 8, 8), (4, 8, 8), (7, 39, 39), (0, 4, 3)])
  func refusesNonsense(kind: UInt16, announced: UInt16, byteCount: Int) {
    let bytes = [UInt8](repeating: 1, count: byteCount)
    #expect(StoredID(code: kind << 13 | announced, bytes: bytes[...]) == nil)
  }

  @Test("refuses a string that is no UTF-8")
  func refusesBrokenText() {
    #expect(StoredID(code: 2, bytes: [0xff, 0xfe]) == nil)
  }
}
