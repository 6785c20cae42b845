import Foundation
import Pixels
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A bitmap from an image file", .timeLimit(.minutes(10)))
struct BitmapDecodingTests {
  /// Recognises everything and gives 40 x 30 pixels whose colours are still to be inverted.
  private struct Negatives: ImageDecoder {
    struct Inverting: ColorConversion {
      func convert(
        _ pixels: UnsafeMutableRawPointer, pixelCount: Int, format: PixelFormat,
        to space: ColorSpace
      ) {
        for index in 0..<pixelCount * 4 where index % 4 < 3 {
          pixels.storeBytes(
            of: 255 - pixels.load(fromByteOffset: index, as: UInt8.self), toByteOffset: index,
            as: UInt8.self)
        }
      }
    }

    func recognizes(_ firstBytes: Data) -> Bool { true }

    func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
      ImageHeader(size: PixelSize(width: 40, height: 30))
    }

    func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
      do {
        let layout = try solid(0, size: PixelSize(width: 40, height: 30)).layout
        return try Bitmap(layout: layout, colorConversion: Inverting()) { bytes in
          for index in bytes.indices { bytes[index] = index % 4 == 3 ? 255 : 200 }
        }
      } catch {
        throw .outOfMemory
      }
    }
  }

  private func pixels(_ bitmap: Bitmap) -> Set<[UInt8]> {
    bitmap.withUnsafeBytes { bytes in
      Set(
        (0..<bitmap.size.height).flatMap { y in
          (0..<bitmap.size.width).map { x in
            Array(bytes[(y * bitmap.layout.rowBytes + x * 4)...].prefix(4))
          }
        })
    }
  }

  @Test(
    "keeps its proportions up to a size, and is not enlarged",
    arguments: [
      (8, 8, "8x6"), (0, 8, "1x1"), (-1, -1, "1x1"), (4, 100, "4x3"), (40, 30, "40x30"),
      (500, 500, "40x30"),
    ])
  func fits(width: Int, height: Int, expected: String) throws {
    let data = try solid(300, size: PixelSize(width: 40, height: 30)).pngData()
    let bitmap = try Bitmap(decoding: data, upTo: PixelSize(width: width, height: height))
    #expect("\(bitmap.size)" == expected)
    #expect(pixels(bitmap) == [[44, 1, 77, 255]])
  }

  @Test("is in sRGB, whole or scaled", arguments: [nil, PixelSize(width: 20, height: 20)])
  func convertsColors(largest: PixelSize?) throws {
    let bitmap = try Bitmap(decoding: Data([1]), upTo: largest, decoders: [Negatives()])
    #expect(bitmap.colorConversion == nil)
    #expect(
      bitmap.size
        == (largest == nil ? PixelSize(width: 40, height: 30) : PixelSize(width: 20, height: 15)))
    #expect(pixels(bitmap) == [[55, 55, 55, 255]])
  }

  @Test("comes from a file, whose name its errors have")
  func readsFiles() throws {
    let directory = try TemporaryDirectory()
    let file = directory.url.appendingPathComponent("a.png")
    try solid(300).pngData().write(to: file)
    #expect(try pixels(Bitmap(contentsOf: file)) == [[44, 1, 77, 255]])
    try Data("<html>".utf8).write(to: file)
    #expect { try Bitmap(contentsOf: file) } throws: {
      guard case .undecodable(file, .unknownType)? = $0 as? ImageCacheError else { return false }
      return true
    }
    let missing = directory.url.appendingPathComponent("b.png")
    #expect { try Bitmap(contentsOf: missing) } throws: {
      guard case .sourceFailed(missing, let reason)? = $0 as? ImageCacheError else { return false }
      return reason as? ImageSourceError == .notFound(path: missing.path)
    }
  }

  @Test("keeps to the limits", arguments: 0..<4)
  func obeysLimits(number: Int) throws {
    let data = try solid(300, size: PixelSize(width: 40, height: 30)).pngData()
    var limits = DecodingLimits()
    switch number {
    case 0: limits.encodedByteCount = data.count - 1
    case 1: limits.sideLength = 39
    case 2: limits.pixelCount = 1199
    default: limits.workingByteCount = 4799
    }
    #expect { try Bitmap(decoding: data, limits: limits) } throws: {
      guard case .imageTooLarge(nil, _)? = $0 as? ImageCacheError else { return false }
      return true
    }
  }

  @Test("is given up with its task")
  func endsWithTask() async throws {
    let data = try solid(300).pngData()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      _ = try Bitmap(decoding: data)
    }
    await #expect { try await task.value } throws: { $0.isCancelled }
  }
}

@Suite("An image with a long side", .timeLimit(.minutes(10)))
struct LongImageTests {
  private static let sizes = [
    PixelSize(width: 1, height: 65_535), PixelSize(width: 65_535, height: 2),
    PixelSize(width: 20, height: 20_000),
  ]

  private static let formats = [
    ImageFormat("exact", 40, capacity: 16),
    ImageFormat("fitting", 300, 40, isFitting: true, capacity: 16),
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
