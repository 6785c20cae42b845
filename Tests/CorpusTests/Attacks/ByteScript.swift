/// Bytes read as a list of small decisions; past the end every number is zero.
struct ByteScript {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isEmpty: Bool { rest.isEmpty }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  /// A number of two bytes.
  mutating func short() -> Int { Int(byte()) << 8 | Int(byte()) }

  /// A number of eight bytes.
  mutating func long() -> Int {
    Int(bitPattern: (0..<8).reduce(UInt(0)) { sum, _ in sum << 8 | UInt(byte()) })
  }

  /// The count of bytes that the next byte says, if there are as many.
  mutating func chunk() -> [UInt8] {
    let count = Int(byte())
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  mutating func text() -> String { String(decoding: chunk(), as: UTF8.self) }

  /// The remaining bytes.
  mutating func remainder() -> [UInt8] {
    defer { rest = [] }
    return Array(rest)
  }
}
