import Foundation
import ImageDrawing
import Pixels
import TestSupport
import Testing

/// Vectors: hashes that the authors of ThumbHash publish with their demonstration, and pixels of the `thumbhash` crate.
@Suite("A ThumbHash", .timeLimit(.minutes(10)))
struct ThumbHashTests {
  struct Vector: Sendable {
    let hash: String
    let size: PixelSize
    /// At the upper left, a half to the right and a third down, and at the lower right.
    let pixels: [BGRA]

    init(_ hash: String, _ width: Int, _ height: Int, _ pixels: [BGRA]) {
      (self.hash, size, self.pixels) = (hash, PixelSize(width: width, height: height), pixels)
    }

    /// The references add in another order, and with fewer bits.
    func expectShown(by bitmap: Bitmap) {
      #expect(bitmap.size == size)
      let places = [
        (0, 0), (size.width / 2, size.height / 3), (size.width - 1, size.height - 1),
      ]
      for ((x, y), pixel) in zip(places, pixels) {
        #expect(bitmap[x, y].distance(to: pixel) <= 1, "\(bitmap[x, y]) and not \(pixel)")
      }
    }
  }

  static let vectors = [
    Vector(
      "1QcSHQRnh493V4dIh4eXh1h4kJUI", 23, 32,
      [BGRA(113, 77, 64), BGRA(179, 189, 212), BGRA(39, 4, 0)]),
    Vector(
      "3PcNNYSFeXh/d3eld0iHZoZgVwh2", 32, 23,
      [BGRA(154, 82, 47), BGRA(198, 169, 154), BGRA(10, 57, 76)]),
    Vector(
      "HBkSHYSIeHiPiHh8eJd4eTN0EEQG", 32, 23,
      [BGRA(255, 255, 213), BGRA(62, 111, 138), BGRA(74, 90, 95)]),
    Vector(
      "VggKDYAW6lZvdYd6d2iZh/p4GE/k", 32, 23,
      [BGRA(84, 108, 112), BGRA(187, 187, 191), BGRA(59, 75, 79)]),
    Vector(
      "2fcZFIB3iId/h3iJh4aIYJ2V8g==", 32, 18,
      [BGRA(213, 204, 200), BGRA(176, 155, 151), BGRA(16, 45, 41)]),
    Vector(
      "YJqGPQw7sFlslqhFafSE+Q6oJ1h2iHB2Rw==", 32, 32,
      [.clear, BGRA(142, 135, 116), .clear]),
    Vector(
      "mYqDBQQnxnj0JoLYdN7f8JhpuDeHiHdwZw==", 32, 32,
      [BGRA(3, 1, 19, 20), BGRA(4, 3, 22, 24), BGRA(7, 6, 32, 38)]),
  ]

  @Test("is drawn as by the reference", arguments: vectors)
  func draws(_ vector: Vector) throws {
    let bitmap = try Bitmap(thumbHash: #require(Data(base64Encoded: vector.hash)))
    vector.expectShown(by: bitmap)
    let isClear = vector.pixels.contains { $0.alpha < 255 }
    #expect(bitmap.layout.format == (isClear ? .bgra32 : .bgrx32) && bitmap.colorSpace == .sRGB)
  }

  private static func wave(_ x: Int, _ y: Int) -> BGRA {
    BGRA(
      UInt8(truncatingIfNeeded: 255 - x * 3 - y), UInt8(truncatingIfNeeded: x * 2 + y * 5),
      UInt8(truncatingIfNeeded: x * 7 + y * 3))
  }

  /// Six degrees of alpha, which divide the colours evenly.
  private static func glass(_ x: Int, _ y: Int) -> BGRA {
    let fifths = (x / 3 + y / 4) % 6
    func part(_ color: Int) -> UInt8 { UInt8(color % 255 * fifths / 5) }
    return BGRA(part((x + y) * 5), part(y * 10), part(x * 5), UInt8(51 * fifths))
  }

  @Test(
    "is measured as by the reference",
    arguments: [
      (40, 30, false, "e215064d90087a8752989578787887784063a8e085"),
      (11, 61, false, "25150a5112867017888a758785705437f8"),
      (100, 100, false, "a0f7054702f7688889487a7776885558a5a688707475f804"),
      (30, 20, true, "d8c685138a18907a817a987f7718f77897566605857487"),
      (10, 47, true, "d745852906188870785a97888f06b7a877875677784701"),
    ])
  func measures(width: Int, height: Int, isClear: Bool, hash: String) throws {
    let bitmap = try Bitmap.colors(width, height) {
      isClear ? Self.glass($0, $1) : Self.wave($0, $1)
    }
    #expect(try bitmap.makeThumbHash().map { String(format: "%02x", $0) }.joined() == hash)
  }

  @Test("of an image of few waves shows the image")
  func goesRound() throws {
    let source = try Bitmap.colors(32, 24, .bgrx32) { x, y in
      BGRA(UInt8(60 + x * 4), UInt8(40 + y * 5), UInt8(200 - x * 3))
    }
    let drawn = try Bitmap(thumbHash: source.makeThumbHash())
    #expect(drawn.size == PixelSize(width: 32, height: 23))
    for (x, y) in [(4, 4), (16, 11), (28, 18)] {
      #expect(drawn[x, y].distance(to: source[x, y]) <= 24, "\(x), \(y)")
    }
  }

  @Test("of a large image, and of another pixel format, is that of its copy")
  func measuresCopies() throws {
    let small = try Bitmap.colors(50, 40, .bgrx32) { x, y in Self.wave(x / 10 * 10, y / 10 * 10) }
    let large = try Bitmap.colors(500, 400, .bgrx32) { x, y in small[x / 10, y / 10] }
    let hash = try small.makeThumbHash()
    let other = try large.makeThumbHash()
    #expect(zip(hash, other).allSatisfy { abs(Int($0 & 15) - Int($1 & 15)) <= 1 })
    for (format, byte) in [(PixelFormat.gray8, UInt8(90)), (.bgr16, 0x21)] {
      let plain = try Bitmap.tight(8, 8, format) { _, _ in
        Array(repeating: byte, count: format.bytesPerPixel)
      }
      let drawn = try Bitmap(thumbHash: plain.makeThumbHash())
      let color = try Drawing.stretch.drawn(plain, 1, 1, .bgrx32)[0, 0]
      #expect(drawn[9, 9].distance(to: color) <= 6)
    }
  }

  @Test("of colours above their alpha, of a line, and of nothing, is a hash")
  func measuresOddities() throws {
    for pixel in [BGRA(255, 255, 255, 0), BGRA(255, 9, 200, 128), .clear, .white] {
      for (width, height) in [(1, 1), (3, 1), (1, 300), (9, 8)] {
        let hash = try Bitmap.colors(width, height) { _, _ in pixel }.makeThumbHash()
        let drawn = try Bitmap(thumbHash: hash)[0, 0]
        #expect([drawn.blue, drawn.green, drawn.red].allSatisfy { $0 <= drawn.alpha })
        // A half wave over one pixel is no wave: the format does not tell lines well.
        if width > 3 { #expect(abs(Int(drawn.alpha) - Int(pixel.alpha)) <= 9) }
      }
    }
  }

  @Test("that is cut short, or tells no proportions, is an error")
  func refuses() throws {
    for vector in Self.vectors {
      let whole = try #require(Data(base64Encoded: vector.hash))
      for count in 0..<whole.count {
        #expect(throws: BitmapError.self) { try Bitmap(thumbHash: whole.prefix(count)) }
      }
      // A slice that does not start at zero, with more behind it.
      let slice = (Data([9, 9]) + whole + Data([1])).dropFirst(2)
      #expect(try Bitmap(thumbHash: slice).size == vector.size)
    }
    let flat: [UInt8] = [0, 0, 0, 0, 0x80] + Array(repeating: 0, count: 30)
    #expect(throws: BitmapError.invalidHash("\(flat)")) { try Bitmap(thumbHash: flat) }
  }

  @Test("of any bytes is drawn or refused, and never traps")
  func survives() {
    var numbers = SplitMix64(state: 5)
    var drawnCount = 0
    for _ in 0..<400 {
      let bytes = (0..<26).map { _ in UInt8.random(in: 0...255, using: &numbers) }
      guard let bitmap = try? Bitmap(thumbHash: bytes) else { continue }
      drawnCount += 1
      #expect(max(bitmap.size.width, bitmap.size.height) == 32)
    }
    // One in eight tells no proportions; one in some more needs a 27th byte.
    #expect(drawnCount > 200)
  }
}
