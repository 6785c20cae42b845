import Foundation
import Pixels
import Testing

@testable import FastImageCache

@Suite("An image with a long side", .timeLimit(.minutes(10)))
struct LongImageTests {
  private static let sizes = [
    PixelSize(width: 1, height: 65_535), PixelSize(width: 65_535, height: 2),
    PixelSize(width: 20, height: 20_000),
  ]

  private static let formats = [
    ImageFormat(
      name: "exact", size: .exact(PixelSize(width: 40, height: 40)), pixelFormat: .bgrx32,
      capacity: 16),
    ImageFormat(
      name: "fitting", size: .fitting(PixelSize(width: 300, height: 40)), pixelFormat: .bgrx32,
      capacity: 16),
  ]

  /// Red grows along the longer side from 0 to 255.
  private func data(_ size: PixelSize) throws -> Data {
    let length = max(size.width, size.height)
    let bitmap = try Bitmap(size: size, format: .bgrx32) { bytes, layout in
      for y in 0..<size.height {
        for x in 0..<size.width {
          let offset = y * layout.rowBytes + x * 4
          let place = size.width > size.height ? x : y
          bytes.storeBytes(
            of: UInt8(place * 255 / (length - 1)), toByteOffset: offset + 2, as: UInt8.self)
          bytes.storeBytes(of: 255, toByteOffset: offset + 3, as: UInt8.self)
        }
      }
    }
    return try bitmap.pngData()
  }

  @Test("is drawn by each recipe, all of it or its middle", arguments: sizes)
  func isDrawn(size: PixelSize) async throws {
    let fixture = try await Fixture(Self.formats)
    let data = try data(size)
    for (index, drawing) in [Drawing.stretch, .aspectFill, .aspectFit].enumerated() {
      for format in Self.formats {
        var photo = Photo(ImageID("\(index)"))
        photo.drawing = drawing
        let image = try await fixture.cache.store(data, for: photo, format: format)
        let isWide = size.width > size.height
        func red(at part: Double) -> Int {
          let length = Double((isWide ? image.size.width : image.size.height) - 1)
          let along = Int((length * part).rounded())
          let across = (isWide ? image.size.height : image.size.width) / 2
          let (x, y) = isWide ? (along, across) : (across, along)
          return image.withPixels {
            Int(
              $0.unsafeLoad(fromByteOffset: y * image.layout.rowBytes + x * 4 + 2, as: UInt8.self))
          }
        }
        // A format up to a size shows all of each image.
        let showsAll = drawing != .aspectFill || format.keepsProportions
        #expect(abs(red(at: 0.5) - 128) <= 5, "\(drawing) \(format.name)")
        #expect(abs(red(at: 0) - (showsAll ? 0 : 128)) <= 6, "\(drawing) \(format.name)")
        #expect(abs(red(at: 1) - (showsAll ? 255 : 128)) <= 6, "\(drawing) \(format.name)")
      }
    }
  }
}
