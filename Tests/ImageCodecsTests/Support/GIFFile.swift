import Foundation
import Pixels

/// Writes GIF files after the standard's words (GIF89a, and its appendix F for the codes), independently of
/// giflib.
struct GIFFile {
  struct Frame {
    var x = 0
    var y = 0
    var size: PixelSize
    /// One a pixel, in the order of rows.
    var indices: [UInt8]
    var palette: [UInt8]?
    var transparent: UInt8?
    var isInterlaced = false
    /// Bits of the codes of one index each; `nil` for as many as the palette takes.
    var codeSize: Int?
    /// Blocks that stand before the frame.
    var extensions = Data()
  }

  var screen: PixelSize
  /// Red, green, blue; a power of two of them.
  var palette: [UInt8]?
  var frames: [Frame]

  /// A screen that its only frame covers.
  init(_ size: PixelSize, _ indices: [UInt8], palette: [UInt8]?) {
    screen = size
    self.palette = palette
    frames = [Frame(size: size, indices: indices)]
  }

  var data: Data {
    var data = Data("GIF89a".utf8)
    data += Surgery.littleEndian(screen.width, bytes: 2)
    data += Surgery.littleEndian(screen.height, bytes: 2)
    data += [Self.flags(palette), 7, 0] + (palette ?? [])
    for frame in frames { data += encode(frame) }
    return data + [0x3B]
  }

  /// An extension of the given kind with its parts.
  static func block(_ kind: UInt8, _ parts: [Data]) -> Data {
    parts.reduce(Data([0x21, kind])) { $0 + [UInt8($1.count)] + $1 } + [0]
  }

  private func encode(_ frame: Frame) -> Data {
    var data = frame.extensions
    if let transparent = frame.transparent {
      data += Self.block(0xF9, [Data([1, 9, 0, transparent])])
    }
    data += [0x2C]
    for number in [frame.x, frame.y, frame.size.width, frame.size.height] {
      data += Surgery.littleEndian(number, bytes: 2)
    }
    data += [Self.flags(frame.palette) | (frame.isInterlaced ? 0x40 : 0)] + (frame.palette ?? [])
    let colorCount = (frame.palette ?? palette ?? []).count / 3
    let bits = frame.codeSize ?? max(2, Self.bits(colorCount))
    let codes = Self.compress(frame.isInterlaced ? frame.interlaced : frame.indices, bits: bits)
    data += [UInt8(bits)]
    for start in stride(from: 0, to: codes.count, by: 255) {
      let part = codes[start..<min(start + 255, codes.count)]
      data += [UInt8(part.count)] + part
    }
    return data + [0]
  }

  private static func flags(_ palette: [UInt8]?) -> UInt8 {
    palette.map { 0x80 | UInt8(max(bits($0.count / 3), 1) - 1) } ?? 0
  }

  private static func bits(_ count: Int) -> Int {
    count > 1 ? Int.bitWidth - (count - 1).leadingZeroBitCount : 0
  }

  /// Codes of variable length, with a table that begins anew when it is full.
  private static func compress(_ indices: [UInt8], bits: Int) -> [UInt8] {
    let (clear, end) = (1 << bits, 1 << bits + 1)
    var bytes: [UInt8] = []
    var (buffer, bufferCount, codeBits, next) = (0, 0, bits + 1, 1 << bits + 2)
    var table: [Int: Int] = [:]
    func write(_ code: Int) {
      buffer |= code << bufferCount
      bufferCount += codeBits
      while bufferCount >= 8 {
        bytes.append(UInt8(buffer & 255))
        buffer >>= 8
        bufferCount -= 8
      }
    }
    func grow() { if next == 1 << codeBits, codeBits < 12 { codeBits += 1 } }

    write(clear)
    guard var prefix = indices.first.map(Int.init) else { return bytes }
    for index in indices.dropFirst() {
      let key = prefix << 8 | Int(index)
      if let known = table[key] {
        prefix = known
        continue
      }
      write(prefix)
      if next < 4096 {
        table[key] = next
        grow()
        next += 1
      } else {
        write(clear)
        (table, codeBits, next) = ([:], bits + 1, end + 1)
      }
      prefix = Int(index)
    }
    write(prefix)
    grow()
    write(end)
    if bufferCount > 0 { bytes.append(UInt8(buffer & 255)) }
    return bytes
  }
}

extension GIFFile.Frame {
  /// The rows in four passes: every eighth, the eighths between, the fourths between, the rest.
  fileprivate var interlaced: [UInt8] {
    let rows = [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { first, step in
      stride(from: first, to: size.height, by: step)
    }
    return rows.flatMap { indices[($0 * size.width)..<($0 + 1) * size.width] }
  }
}
