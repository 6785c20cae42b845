import Testing

@testable import TableStore

@Suite("A table id", .timeLimit(.wholeRun))
struct TableIDTests {
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

@Suite("SHA-256", .timeLimit(.wholeRun))
struct SHA256Tests {
  @Test(
    "gives the digests of the NIST examples",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
      (
        "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
          + "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
        "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
      ),
      (
        String(repeating: "a", count: 1000),
        "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"
      ),
    ])
  func matchesVectors(message: String, digest: String) {
    #expect("\(StoredID.hashing(TableID(message)))" == "sha256:" + digest)
  }

  @Test(
    "pads messages that leave room for their length, and those that do not",
    arguments: [
      (55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
      (56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
      (63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"),
      (64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
      (119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"),
      (120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"),
      (127, "c57e9278af78fa3cab38667bef4ce29d783787a2f731d4e12200270f0c32320a"),
      (128, "6836cf13bac400e9105071cd6af47084dfacad4e5e302c94bfed24e013afb73e"),
    ])
  func pads(count: Int, digest: String) {
    let message = String(repeating: "a", count: count)
    #expect("\(StoredID.hashing(TableID(message)))" == "sha256:" + digest)
  }
}

@Suite("The hash of many words", .timeLimit(.wholeRun))
struct LaneHashTests {
  @Test("changes with every single bit and with the length")
  func coversEveryBit() {
    let bytes = [UInt8](0..<200)
    func hash(_ bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { LaneHash.hash($0, seed: 1) } }
    var seen: Set<UInt64> = [hash(bytes), hash(bytes + [0])]
    var expectedCount = 2
    for index in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[index] ^= 1 << UInt8(bit)
        seen.insert(hash(changed))
        expectedCount += 1
      }
    }
    for count in 0..<64 {
      seen.insert(hash([UInt8](repeating: 0, count: count)))
      expectedCount += 1
    }
    #expect(seen.count == expectedCount)
  }

  @Test("has the values of older files")
  func isStable() {
    let value = [UInt8](0..<100).withUnsafeBytes { LaneHash.hash($0, seed: 42) }
    #expect(value == 14_562_644_955_665_624_955)
    #expect(LaneHash.hash(1, 2, 3, 4, 5, 6, 7, 8) == 12_953_675_235_371_663_205)
  }
}
