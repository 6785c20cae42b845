import FastImageCache
import TestSupport
import Testing

@Suite("A format", .timeLimit(.minutes(10)))
struct ImageFormatTests {
  @Test(
    "in points has the nearest whole pixels",
    arguments: [(1.0, "60x45"), (2, "120x90"), (3, "180x135"), (1.5, "90x68"), (0.01, "1x0")])
  func roundsToPixels(scale: Double, expected: String) {
    let size = Canvas.Size(width: 60, height: 45)
    let format = ImageFormat(
      name: "row", size: .exact(points: size), scale: scale, pixelFormat: .bgrx32)
    #expect("\(format.size)" == expected && format.scale == scale && !format.keepsProportions)
    #expect(
      format
        == ImageFormat(name: "row", size: .exact(format.size), scale: scale, pixelFormat: .bgrx32))
    let whole = ImageFormat(name: "row", size: .fitting(points: size), scale: scale)
    #expect(whole.size == format.size && whole.scale == scale && whole.keepsProportions)
    #expect(whole.capacity == .bytes(64 << 20))
  }

  @Test(
    "of no number of points is refused by the cache",
    arguments: [Double.nan, .infinity, -.infinity, 1e300, -60, 0])
  func refusesNumbers(width: Double) async throws {
    let format = ImageFormat(
      name: "row", size: .exact(points: Canvas.Size(width: width, height: 60)), scale: 2)
    await #expect {
      try await ImageCache(formats: [format])
    } throws: {
      if case .invalidFormat("row", _)? = $0 as? ImageCacheError { true } else { false }
    }
  }
}

@Suite("The number of a format in a table's header", .timeLimit(.minutes(10)))
struct ImageCodeTests {
  @Test(
    "stays what it is in files on users' disks",
    arguments: [(PixelFormat.bgra32, 0 as UInt32), (.bgrx32, 1), (.bgr16, 2), (.gray8, 3)])
  func isPinned(pixelFormat: PixelFormat, number: UInt32) {
    func format(
      isFitting: Bool = false, _ quality: ImageFormat.Quality = .balanced,
      _ colorSpace: ColorSpace = .sRGB, _ animation: ImageFormat.Animation = .firstFrame
    ) -> ImageFormat {
      let size = PixelSize(width: 8, height: 8)
      return ImageFormat(
        name: "a", size: isFitting ? .fitting(size) : .exact(size), pixelFormat: pixelFormat,
        quality: quality, colorSpace: colorSpace, animation: animation)
    }
    var formats: [(ImageFormat, bits: UInt32)] = [
      (format(), 0), (format(isFitting: true), 0x100), (format(.best), 0x400),
      (format(.balanced, .sRGB, .allFrames(byteLimit: 1)), 0x800),
    ]
    if pixelFormat != .gray8 {
      formats += [(format(.balanced, .displayP3), 0x1_0000), (format(.best, .displayP3), 0x1_0400)]
    }
    for (format, bits) in formats {
      let code = ImageCode(format)
      #expect(code.rawValue == number | bits && ImageCode(rawValue: number | bits) == code)
    }
  }

  @Test(
    "names no format where none has it",
    arguments: [4, 0xFF, 0x104, 0x200, 0x1000, 0x8000, 0x2_0000, 0x100_0000, .max] as [UInt32])
  func isUnknown(number: UInt32) {
    #expect(ImageCode(rawValue: number) == nil)
  }
}
