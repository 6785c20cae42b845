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
  }

  @Test(
    "of no number of points is refused by the cache",
    arguments: [Double.nan, .infinity, -.infinity, 1e300, -60, 0])
  func refusesNumbers(width: Double) async throws {
    let format = ImageFormat(
      name: "row", size: .exact(points: Canvas.Size(width: width, height: 60)), scale: 2)
    do throws(ImageCacheError) {
      _ = try await ImageCache(formats: [format])
      Issue.record("A cache was opened.")
    } catch {
      guard case .invalidFormat("row", _) = error else { throw error }
    }
  }

  @Test("is told by its name and size, inside other values too")
  func describesItself() {
    let size = PixelSize(width: 80, height: 60)
    let (row, page) = (
      ImageFormat(name: "row", size: .exact(size)), ImageFormat(name: "page", size: .fitting(size))
    )
    #expect("\(row)" == "row 80x60" && "\(page)" == "page up to 80x60")
    #expect("\(ImagePreview.Kind.variant(row))" == "variant(row 80x60)")
  }

  @Test("that says nothing of its capacity keeps several screens of images in 64 MiB")
  func hasCapacity() async throws {
    let format = ImageFormat(
      name: "row", size: .exact(points: Canvas.Size(width: 200, height: 200)), scale: 3)
    #expect(format.capacity == .bytes(64 << 20))
    let fixture = try await Fixture([format])
    let tables = await fixture.cache.statistics().tables
    #expect(tables.map(\.slotCount) == [45])
  }
}
