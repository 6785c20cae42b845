import Pixels
import Testing

@Suite("A pixel layout", .timeLimit(.minutes(10)))
struct PixelLayoutTests {
  @Test(
    "pads rows to 64 bytes",
    arguments: [
      (PixelFormat.bgra32, 150, 640), (.bgrx32, 150, 640), (.bgr16, 150, 320), (.gray8, 150, 192),
      (.bgra32, 16, 64), (.gray8, 1, 64),
    ])
  func padsRows(format: PixelFormat, width: Int, rowBytes: Int) throws {
    let layout = try #require(
      PixelLayout(size: PixelSize(width: width, height: 3), format: format))
    #expect(layout.rowBytes == rowBytes)
    #expect(layout.byteCount == rowBytes * 3)
  }

  @Test(
    "refuses sizes that no memory can hold",
    arguments: [(0, 1), (1, 0), (-1, 5), (1, -1), (Int.max, 1), (1 << 31, 1 << 31)])
  func refusesImpossibleSizes(width: Int, height: Int) {
    #expect(PixelLayout(size: PixelSize(width: width, height: height), format: .bgra32) == nil)
  }

  @Test("of a good size needs no unwrapping")
  func trustsGoodSizes() {
    let size = PixelSize(width: 150, height: 3)
    #expect(PixelLayout(for: size, format: .bgr16) == PixelLayout(size: size, format: .bgr16))
  }

  @Test("of a size that was said to be good and is not ends the program")
  func trapsForBadSizes() async {
    await #expect(processExitsWith: .failure) {
      _ = PixelLayout(for: PixelSize(width: 0, height: 1), format: .gray8)
    }
  }

  @Test("refuses rows shorter than their pixels")
  func refusesShortRows() {
    let size = PixelSize(width: 10, height: 2)
    #expect(PixelLayout(size: size, format: .bgr16, rowBytes: 19) == nil)
    #expect(PixelLayout(size: size, format: .bgr16, rowBytes: 20) != nil)
  }
}
