import FastImageCache
import Testing

@Suite("The number of a format in a table's header", .timeLimit(.minutes(10)))
struct ImageCodeTests {
  @Test(
    "stays what it is in files on users' disks",
    arguments: [(PixelFormat.bgra32, 0 as UInt32), (.bgrx32, 1), (.bgr16, 2), (.gray8, 3)])
  func isPinned(pixelFormat: PixelFormat, number: UInt32) {
    let size = PixelSize(width: 8, height: 8)
    let exact = ImageCode(ImageFormat(name: "a", size: .exact(size), pixelFormat: pixelFormat))
    let upTo = ImageCode(ImageFormat(name: "a", size: .fitting(size), pixelFormat: pixelFormat))
    #expect(exact.rawValue == number && upTo.rawValue == number | 0x100)
    #expect(ImageCode(rawValue: number) == exact)
    #expect(ImageCode(rawValue: number | 0x100) == upTo)
    let finest = ImageCode(
      ImageFormat(name: "a", size: .exact(size), pixelFormat: pixelFormat, quality: .best))
    #expect(finest.rawValue == number | 0x400)
    #expect(ImageCode(rawValue: number | 0x400) == finest)
    let moving = ImageCode(
      ImageFormat(
        name: "a", size: .exact(size), pixelFormat: pixelFormat,
        animation: .allFrames(byteLimit: 1)))
    #expect(moving.rawValue == number | 0x800)
    #expect(ImageCode(rawValue: number | 0x800) == moving)
    guard pixelFormat != .gray8 else { return }
    for (decoding, bits) in [(ImageFormat.Quality.balanced, 0x1_0000), (.best, 0x1_0400)] {
      let wide = ImageCode(
        ImageFormat(
          name: "a", size: .exact(size), pixelFormat: pixelFormat, quality: decoding,
          colorSpace: .displayP3))
      #expect(wide.rawValue == number | UInt32(bits))
      #expect(ImageCode(rawValue: wide.rawValue) == wide)
    }
  }

  @Test(
    "names no format where none has it",
    arguments: [4, 0xFF, 0x104, 0x200, 0x1000, 0x8000, 0x2_0000, 0x100_0000, .max] as [UInt32])
  func isUnknown(number: UInt32) {
    #expect(ImageCode(rawValue: number) == nil)
  }
}
