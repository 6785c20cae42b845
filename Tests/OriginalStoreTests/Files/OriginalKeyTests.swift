import TableStore
import Testing

@testable import OriginalStore

@Suite("The key of an original", .timeLimit(.minutes(10)))
struct OriginalKeyTests {
  @Test("names its file by 32 digits of the SHA-256 over audience, kind and id")
  func namesFile() {
    // printf 'https://a.example/1' behind the SHA-256 of nothing and a zero, through sha256sum.
    #expect(
      OriginalKey(TableID("https://a.example/1"), audience: "").digest.fileName
        == "209c322dc57dccfd30fe4a35d9e7765a")
    #expect(
      OriginalKey(TableID("https://a.example/1"), audience: "alice").digest.fileName
        == "1c07e3542b9200c23059adb2e83a7d4b")
    #expect(
      OriginalDigest(low: 0x0123_4567_89AB_CDEF, high: 0xF).fileName
        == "0123456789abcdef000000000000000f")
  }

  @Test("is another one for another kind, another spelling, another audience")
  func isExact() {
    let keys = [
      OriginalKey(TableID("a"), audience: ""), OriginalKey(TableID("A"), audience: ""),
      OriginalKey(TableID("a"), audience: "a"), OriginalKey(TableID("a"), audience: "\u{E9}"),
      OriginalKey(TableID("a"), audience: "e\u{301}"), OriginalKey(TableID("1"), audience: ""),
      OriginalKey(TableID(Int64(1)), audience: ""), OriginalKey(TableID(UInt64.max), audience: ""),
      OriginalKey(TableID(Int64(-1)), audience: ""),
      OriginalKey(TableID(uuid: (1, 2)), audience: ""),
      OriginalKey(TableID(uuid: (2, 1)), audience: ""),
    ]
    #expect(Set(keys.map(\.digest)).count == keys.count)
    #expect(Set(keys).count == keys.count)
  }

  @Test("reads an id of each kind back, and nothing else")
  func readsIDs() {
    let ids = [
      TableID(""), TableID("a"), TableID("é"), TableID(Int64.min), TableID(UInt64.max),
      TableID(uuid: (1, .max)),
    ]
    for id in ids {
      #expect(id.kindAndBytes.withUnsafeBytes { TableID(kindAndBytes: $0) } == id)
    }
    let none: [[UInt8]] = [
      [], [0, 0xFF], [0, 0x61, 0xFF], [1, 2], [2, 1, 2, 3], [3] + [UInt8](repeating: 1, count: 8),
      [4, 1],
    ]
    for bytes in none { #expect(bytes.withUnsafeBytes { TableID(kindAndBytes: $0) } == nil) }
  }

  @Test("finds its digest in the name of its file, and in no other name")
  func readsNames() {
    let digest = originalKey(1).digest
    #expect(OriginalDigest(fileName: digest.fileName) == digest)
    for name in ["", digest.fileName.uppercased(), "+" + digest.fileName.dropFirst(), "x"] {
      #expect(OriginalDigest(fileName: name) == nil)
    }
  }
}
