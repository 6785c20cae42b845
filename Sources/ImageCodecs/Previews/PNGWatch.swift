import Foundation

/// Proposes stages of a PNG file: frames if it is interlaced, top rows if not; pure.
///
/// Only decompression tells the end of a pass or a row, and nothing is decompressed twice for it: the stages are
/// parts of the announced number of bytes, and the decoder of a cut file finds the passes or rows that are whole.
/// Of a file without an announced number there are none.
///
/// Invariants:
/// 1. A stage ends behind the beginning of the image's first chunk, and before the file does.
/// 2. There are at most three stages, however the bytes are divided.
struct PNGWatch: PreviewScanner {
  /// The parts of an interlaced image's bytes at which a stage is due. The first three, five and six of seven
  /// passes have 1/16, 1/4 and 1/2 of the pixels, and more of the bytes: distant pixels differ more.
  private static let passParts = [1.0 / 8, 3.0 / 8, 3.0 / 4]

  private enum Place {
    /// In the signature and the header chunk.
    case start
    case chunkHead
    /// In a chunk's content and checksum.
    case chunk(remaining: Int)
    case image
    case over
  }

  private static let startByteCount = 33
  private static let chunkHeadByteCount = 8
  private static let interlacedByte = 28

  private var place: Place
  private let total: Int
  private var isInterlaced = false
  /// The first bytes of what is being read.
  private var head: [UInt8] = []
  private var passedByteCount = 0
  private var marks = StageMarks([], from: 0, to: 0)

  /// - Parameter byteCount: The announced number of the file's bytes.
  init(of byteCount: Int?) {
    total = byteCount ?? 0
    place = byteCount == nil ? .over : .start
  }

  mutating func receive(_ bytes: Data) -> [PreviewStage] {
    var rest = bytes
    while let place = advance(&rest) { self.place = place }
    passedByteCount += rest.count
    guard case .image = place, marks.reach(passedByteCount) else { return [] }
    return [PreviewStage(isInterlaced ? .frame : .rows, byteCount: passedByteCount)]
  }

  /// Takes in what belongs to one place.
  ///
  /// - Returns: The next place; `nil` if the rest of the bytes belongs to the present one.
  private mutating func advance(_ rest: inout Data) -> Place? {
    switch place {
    case .start:
      guard fillHead(Self.startByteCount, from: &rest) else { return nil }
      defer { head = [] }
      isInterlaced = head[Self.interlacedByte] == 1
      let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
      return head.starts(with: signature + [0, 0, 0, 13] + "IHDR".utf8)
        && head[Self.interlacedByte] <= 1 ? .chunkHead : .over
    case .chunkHead:
      guard fillHead(Self.chunkHeadByteCount, from: &rest) else { return nil }
      defer { head = [] }
      return beginChunk()
    case .chunk(let remaining):
      let count = min(remaining, rest.count)
      drop(count, from: &rest)
      if count == remaining { return .chunkHead }
      place = .chunk(remaining: remaining - count)
      return nil
    case .image, .over: return nil
    }
  }

  private mutating func beginChunk() -> Place {
    let name = head[4...]
    if name.elementsEqual("IDAT".utf8) {
      let parts = isInterlaced ? Self.passParts : PreviewStage.rowParts
      marks = StageMarks(parts, from: passedByteCount, to: total)
      return .image
    }
    let length = head[..<4].reduce(0) { $0 << 8 | Int($1) }
    return name.elementsEqual("IEND".utf8) ? .over : .chunk(remaining: length + 4)
  }

  /// Takes in bytes until `head` has so many.
  private mutating func fillHead(_ byteCount: Int, from rest: inout Data) -> Bool {
    let count = min(byteCount - head.count, rest.count)
    head += rest.prefix(count)
    drop(count, from: &rest)
    return head.count == byteCount
  }

  private mutating func drop(_ count: Int, from rest: inout Data) {
    rest = rest.dropFirst(count)
    passedByteCount += count
  }
}
