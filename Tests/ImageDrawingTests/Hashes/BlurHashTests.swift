import ImageDrawing
import Pixels
import TestSupport
import Testing

/// Vectors: hashes from the read-me files of BlurHash's implementations, and pixels of its authors' decoder in C.
@Suite("A BlurHash", .timeLimit(.minutes(10)))
struct BlurHashTests {
  @Test(
    "is drawn as by the reference",
    arguments: [
      ThumbHashTests.Vector(
        "LEHV6nWB2yk8pyo0adR*.7kCMdnj", 32, 32,
        [BGRA(177, 164, 135), BGRA(138, 148, 166), BGRA(147, 142, 133)]),
      ThumbHashTests.Vector(
        "LFE.@D9F01_2%L%MIVD*9Goe-;WB", 32, 24,
        [BGRA(84, 90, 94), BGRA(150, 167, 169), BGRA(89, 76, 81)]),
      ThumbHashTests.Vector(
        "LNAdApj[00aymkj[TKay9}ay-Sj[", 20, 32,
        [BGRA(0, 0, 0), BGRA(118, 130, 153), BGRA(47, 16, 0)]),
      ThumbHashTests.Vector(
        "eaF#5R0#WBjYR+58-nWCWBn~bIsTbbayjFWof8jFj[WX-nNHR*jss.", 32, 32,
        [BGRA(0, 0, 0), BGRA(38, 34, 74), BGRA(136, 184, 234)]),
      ThumbHashTests.Vector(
        "LNMF%n00%#MwS|WCWEM{R*bbWBbH", 7, 5,
        [BGRA(89, 120, 153), BGRA(123, 142, 184), BGRA(177, 186, 218)]),
      ThumbHashTests.Vector(
        "KJG8_@Dgx]_4V?xuyE%NRj", 32, 1,
        [BGRA(172, 169, 168), BGRA(171, 160, 159), BGRA(202, 187, 177)]),
      ThumbHashTests.Vector(
        "00OZZy", 3, 3, [BGRA(120, 30, 213), BGRA(120, 30, 213), BGRA(120, 30, 213)]),
    ])
  func draws(_ vector: ThumbHashTests.Vector) throws {
    let bitmap = try Bitmap(blurHash: vector.hash, size: vector.size)
    vector.expectShown(by: bitmap)
    #expect(bitmap.layout.format == .bgrx32)
  }

  @Test(
    "that no encoder writes is an error",
    arguments: [
      "", "0", "00OZZ", "00OZZyy", "00OZZyyy", "LEHV6nWB2yk8pyo0adR*.7kCMdn", "&0OZZy",
      "00OZZ\u{e9}", " 00OZZy", "LEHV6nWB2yk8pyo0adR*.7kCMdn\u{0}",
      // More than 255 of red, a term above its largest level, and ten rows of waves.
      "00~~~~", "10OZZy~~", "~0OZZy" + String(repeating: "00", count: 19),
    ])
  func refuses(_ text: String) {
    #expect(throws: BitmapError.invalidHash(text)) {
      try Bitmap(blurHash: text, size: PixelSize(width: 4, height: 4))
    }
  }

  @Test("is not drawn at a size without pixels, or of too many")
  func refusesSizes() {
    let sides = [0, -1, .min, .max]
    for size in sides.map({ PixelSize(width: $0, height: 4) }) {
      #expect(throws: BitmapError.invalidSize(size)) { try Bitmap(blurHash: "00OZZy", size: size) }
    }
    let huge = PixelSize(width: 1 << 40, height: 1 << 18)
    #expect(throws: BitmapError.outOfMemory(byteCount: 1 << 60)) {
      try Bitmap(blurHash: "00OZZy", size: huge)
    }
  }

  @Test("of any text is drawn or refused, and never traps")
  func survives() {
    let digits =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~"
    var numbers = SplitMix64(state: 7)
    var drawnCount = 0
    for _ in 0..<2000 {
      let count = 6 + 2 * Int.random(in: 0...8, using: &numbers)
      var text = String((0..<count).map { _ in digits.randomElement(using: &numbers) ?? "0" })
      if Bool.random(using: &numbers) {
        text = String("0123456".randomElement(using: &numbers) ?? "0") + text.dropFirst()
      }
      if (try? Bitmap(blurHash: text, size: PixelSize(width: 3, height: 2))) != nil {
        drawnCount += 1
      }
    }
    #expect((1..<2000).contains(drawnCount))
  }
}
