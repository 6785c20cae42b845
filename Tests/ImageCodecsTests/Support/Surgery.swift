import Foundation
import Pixels

/// Files taken apart and put together by hand.
enum Surgery {
  static func bigEndian(_ value: Int, bytes: Int) -> Data {
    Data((0..<bytes).map { UInt8(value >> (8 * (bytes - 1 - $0)) & 0xFF) })
  }

  static func littleEndian(_ value: Int, bytes: Int) -> Data {
    Data(bigEndian(value, bytes: bytes).reversed())
  }

  /// EXIF with nothing but an orientation.
  static func exif(
    orientation: Int, isLittleEndian: Bool = false, type: Int = 3, count: Int = 1,
    directory: Int = 8, entryCount: Int = 1
  ) -> Data {
    func number(_ value: Int, _ bytes: Int) -> Data {
      isLittleEndian ? littleEndian(value, bytes: bytes) : bigEndian(value, bytes: bytes)
    }
    var exif = Data((isLittleEndian ? "II" : "MM").utf8)
    exif += number(42, 2) + number(directory, 4) + number(entryCount, 2)
    exif += number(0x0112, 2) + number(type, 2) + number(count, 4)
    exif += number(orientation, 2) + number(0, 2) + number(0, 4)
    return exif
  }

  /// EXIF with an orientation, and a second directory that names a thumbnail behind it.
  ///
  /// - Parameters:
  ///   - second: The offset of the second directory; its own if `nil`.
  ///   - offset: The offset of the thumbnail that is announced, and its number of bytes; its own if `nil`.
  static func exif(
    orientation: Int, thumbnail: Data, isLittleEndian: Bool = false, second: Int? = nil,
    offset: Int? = nil, byteCount: Int? = nil, type: Int = 4
  ) -> Data {
    func number(_ value: Int, _ bytes: Int) -> Data {
      isLittleEndian ? littleEndian(value, bytes: bytes) : bigEndian(value, bytes: bytes)
    }
    func entry(_ tag: Int, _ value: Int) -> Data {
      number(tag, 2) + number(type, 2) + number(1, 4) + number(value, 4)
    }
    // Without the last number, the offset of the next directory.
    var exif = Self.exif(orientation: orientation, isLittleEndian: isLittleEndian).dropLast(4)
    exif += number(second ?? 26, 4) + number(2, 2)
    exif += entry(0x0201, offset ?? 56) + entry(0x0202, byteCount ?? thumbnail.count)
    return exif + number(0, 4) + thumbnail
  }

  /// A JPEG with a segment put in right after its first marker.
  static func adding(segment marker: UInt8, _ payload: Data, to jpeg: Data) -> Data {
    jpeg.prefix(2) + Data([0xFF, marker]) + bigEndian(payload.count + 2, bytes: 2) + payload
      + jpeg.dropFirst(2)
  }

  static func adding(exif: Data, toJPEG jpeg: Data) -> Data {
    adding(segment: 0xE1, Data("Exif\0\0".utf8) + exif, to: jpeg)
  }

  /// A baseline JPEG whose header claims another size, of as many blocks.
  static func cropping(jpeg: Data, to size: PixelSize) -> Data {
    guard let frame = jpeg.range(of: Data([0xFF, 0xC0, 0x00])) else { return Data() }
    let start = frame.lowerBound + 5
    return jpeg[..<start] + bigEndian(size.height, bytes: 2) + bigEndian(size.width, bytes: 2)
      + jpeg[(start + 4)...]
  }

  static func pngChunk(_ name: String, _ content: Data) -> Data {
    let body = Data(name.utf8) + content
    return bigEndian(content.count, bytes: 4) + body + bigEndian(Int(crc32(body)), bytes: 4)
  }

  /// A PNG with a chunk put in right after its header.
  static func adding(chunk name: String, _ content: Data, toPNG png: Data) -> Data {
    png.prefix(33) + pngChunk(name, content) + png.dropFirst(33)
  }

  /// A chunk whose checksum is wrong.
  static func damagedChunk(_ name: String, _ content: Data) -> Data {
    let chunk = pngChunk(name, content)
    return chunk.dropLast() + [(chunk.last ?? 0) ^ 1]
  }

  /// A PNG with bytes put in right before its pixels, or behind them.
  static func adding(_ bytes: Data, behindPixels: Bool = false, toPNG png: Data) -> Data {
    guard let name = png.range(of: Data((behindPixels ? "IEND" : "IDAT").utf8)) else { return png }
    return png[..<(name.lowerBound - 4)] + bytes + png[(name.lowerBound - 4)...]
  }

  /// A PNG with other pixel data, in one chunk for each piece.
  static func repacking(png: Data, _ pieces: (_ pixels: Data) -> [Data]) -> Data {
    var (head, pixels, offset) = (Data(png.prefix(8)), Data(), 8)
    while offset + 8 <= png.count {
      let length = png[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
      let chunk = png[offset..<offset + 12 + length]
      switch chunk.dropFirst(4).prefix(4) {
      case Data("IDAT".utf8): pixels += chunk.dropFirst(8).prefix(length)
      case Data("IEND".utf8): break
      default: head += chunk
      }
      offset += chunk.count
    }
    return head + pieces(pixels).reduce(Data()) { $0 + pngChunk("IDAT", $1) }
      + pngChunk("IEND", Data())
  }

  /// A PNG's pixel data.
  static func pixels(ofPNG png: Data) -> Data {
    var all = Data()
    _ = repacking(png: png) {
      all = $0
      return []
    }
    return all
  }

  /// A PNG whose pixel data is in chunks of one byte each.
  static func crumbling(png: Data) -> Data { repacking(png: png) { $0.map { Data([$0]) } } }

  static let pngSignature = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])

  static func pngHeader(
    width: Int, height: Int, bitDepth: UInt8, colorType: UInt8, isInterlaced: Bool = false
  ) -> Data {
    pngChunk(
      "IHDR",
      bigEndian(width, bytes: 4) + bigEndian(height, bytes: 4)
        + Data([bitDepth, colorType, 0, 0, isInterlaced ? 1 : 0]))
  }

  static func riffChunk(_ name: String, _ content: Data) -> Data {
    Data(name.utf8) + littleEndian(content.count, bytes: 4) + content
      + Data(count: content.count % 2)
  }

  /// The image chunks of a WebP file without its container.
  static func webpChunks(_ webp: Data) -> Data {
    let chunks = Data(webp.dropFirst(12))
    guard chunks.prefix(4) == Data("VP8X".utf8) else { return chunks }
    return Data(chunks.dropFirst(18))
  }

  /// An extended WebP file around chunks; RFC 9649, section 2.7.
  static func extendedWebP(flags: UInt8, width: Int, height: Int, _ chunks: Data) -> Data {
    let canvas = littleEndian(width - 1, bytes: 3) + littleEndian(height - 1, bytes: 3)
    let body =
      Data("WEBP".utf8) + riffChunk("VP8X", Data([flags, 0, 0, 0]) + canvas) + chunks
    return Data("RIFF".utf8) + littleEndian(body.count, bytes: 4) + body
  }

  /// - Parameter flags: 1 clears the frame afterwards, 2 replaces what is below it.
  static func webpFrame(
    _ image: Data, x: Int, y: Int, width: Int, height: Int, milliseconds: Int = 100,
    flags: UInt8 = 0
  ) -> Data {
    riffChunk(
      "ANMF",
      littleEndian(x / 2, bytes: 3) + littleEndian(y / 2, bytes: 3)
        + littleEndian(width - 1, bytes: 3) + littleEndian(height - 1, bytes: 3)
        + littleEndian(milliseconds, bytes: 3) + Data([flags]) + webpChunks(image))
  }

  /// PNG 1.2, annex D.
  private static func crc32(_ data: Data) -> UInt32 {
    var crc = ~UInt32(0)
    for byte in data { crc = crcOfByte[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] ^ (crc >> 8) }
    return ~crc
  }

  private static let crcOfByte: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(byte) { crc, _ in crc & 1 == 1 ? 0xEDB8_8320 ^ (crc >> 1) : crc >> 1 }
  }
}
