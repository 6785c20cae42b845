import FastImageCache
import Foundation
import TestSupport
import Testing

@Suite("A cached image's colours", .timeLimit(.minutes(10)))
struct ColorFidelityTests {
  /// The images of `Tests/Corpora/colors`, whose script says how they were made.
  static let images = [
    "p3.png", "adobe.png", "untagged.png", "inks.jpg", "faint.jpg", "cicp.png", "gamma.png",
    "chromaticities.png",
  ]

  private struct Difference {
    var mean: Double
    var worst: Double

    /// - Parameter space: Of both images.
    init(_ first: Bitmap, _ second: Bitmap, in space: ColorSpace) {
      let (first, second) = (first.colors(in: space), second.colors(in: space))
      let differences = zip(first, second).map { $0.difference(to: $1) }
      mean = differences.reduce(0, +) / Double(max(differences.count, 1))
      worst = differences.max() ?? .infinity
    }
  }

  @Test("differ invisibly from an independent conversion's", arguments: images, ColorSpace.allCases)
  func agree(name: String, space: ColorSpace) async throws {
    let format = ImageFormat.colors(space)
    let fixture = try await Fixture([format])
    let data = try Data(contentsOf: ColorCorpus.url(name))
    let image = try await fixture.cache.store(data, for: Photo("a"), format: format)
    #expect(image.colorSpace == space)

    let expected = try ColorCorpus.expected(name, in: space)
    let difference = Difference(try image.makeBitmap(), expected, in: space)
    #expect(difference.mean <= 0.1 && difference.worst <= 1)
    let bitmap = try Bitmap(decoding: data, colorSpace: space)
    #expect(bitmap.colorSpace == space)
    let bitmapDifference = Difference(bitmap, expected, in: space)
    #expect(bitmapDifference.mean <= 0.1 && bitmapDifference.worst <= 1)
    // Two formats of one space would not do.
    let other = try ColorCorpus.expected(name, in: space == .sRGB ? .displayP3 : .sRGB)
    #expect(Difference(try image.makeBitmap(), other, in: space).mean > 0.9)
  }

  @Test("are those of each format, when two of them share a decode", arguments: images)
  func areRightInFamilies(name: String) async throws {
    let formats = ColorSpace.allCases.map { ImageFormat.colors($0, family: "colors") }
    for (first, second) in [(0, 1), (1, 0)] {
      let data = try Data(contentsOf: ColorCorpus.url(name))
      let source = ScriptedSource { _, _, _ in .encoded(data) }
      let fixture = try await Fixture(formats, source: source)
      _ = try await fixture.image(Photo("a"), formats[first])
      _ = try await fixture.image(Photo("a"), formats[second])
      await fixture.quiet()
      #expect(source.started.value == 1)
      #expect(await fixture.cache.statistics().decodes == 1)
      for format in formats {
        let image = try #require(fixture.cache.cachedImage(for: Photo("a"), format: format))
        let expected = try ColorCorpus.expected(name, in: format.colorSpace)
        let difference = Difference(try image.makeBitmap(), expected, in: format.colorSpace)
        #expect(image.colorSpace == format.colorSpace)
        #expect(difference.mean <= 0.5 && difference.worst <= 2)
      }
    }
  }

  private static let published: [(first: LabColor, second: LabColor, difference: Double)] = [
    (LabColor(50, 2.6772, -79.7751), LabColor(50, 0, -82.7485), 2.0425),
    (LabColor(50, -1.3802, -84.2814), LabColor(50, 0, -82.7485), 1),
    (LabColor(50, 0, 0), LabColor(50, -1, 2), 2.3669),
    (LabColor(50, 2.49, -0.001), LabColor(50, -2.49, 0.0009), 7.1792),
    (LabColor(50, 2.49, -0.001), LabColor(50, -2.49, 0.0011), 7.2195),
    (LabColor(50, 2.5, 0), LabColor(73, 25, -18), 27.1492),
    (LabColor(50, 2.5, 0), LabColor(58, 24, 15), 19.4535),
    (LabColor(60.2574, -34.0099, 36.2677), LabColor(60.4626, -34.1751, 39.4387), 1.2644),
    (LabColor(90.9257, -0.5406, -0.9208), LabColor(88.6381, -0.8985, -0.7239), 1.5381),
    (LabColor(6.7747, -0.2908, -2.4247), LabColor(5.8714, -0.0985, -2.2286), 0.6377),
    (LabColor(2.0776, 0.0795, -1.1350), LabColor(0.9033, -0.0636, -0.5514), 0.9082),
  ]

  @Test("are compared by a formula that gives the published differences")
  func isCIEDE2000() {
    for (first, second, difference) in Self.published {
      #expect(abs(first.difference(to: second) - difference) < 0.0001)
      #expect(abs(second.difference(to: first) - difference) < 0.0001)
    }
  }
}

/// The files of `Tests/Corpora/colors`.
enum ColorCorpus {
  static let size = PixelSize(width: 48, height: 32)

  static func url(_ name: String) -> URL {
    URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Corpora/colors/\(name)").standardizedFileURL
  }

  /// The numbers that an image has in a space. The file names no space.
  static func expected(_ name: String, in space: ColorSpace) throws -> Bitmap {
    let stem = name.split(separator: ".")[0]
    return try Bitmap(contentsOf: url("\(stem).\(space.rawValue).png"))
  }
}

extension ImageFormat {
  static func colors(_ space: ColorSpace, family: String? = nil) -> ImageFormat {
    ImageFormat(
      name: "colors-\(space.rawValue)", family: family, size: .exact(ColorCorpus.size),
      pixelFormat: .bgrx32, capacity: 4, colorSpace: space)
  }
}

extension Bitmap {
  /// The colours of 32-bit pixels whose numbers are of that space.
  fileprivate func colors(in space: ColorSpace) -> [LabColor] {
    withPixels { pixels in
      (0..<size.height).flatMap { y in
        (0..<size.width).map { x in
          let start = y * layout.rowBytes + x * 4
          func byte(_ index: Int) -> UInt8 {
            pixels.unsafeLoad(fromByteOffset: start + index, as: UInt8.self)
          }
          return LabColor(
            red: byte(2), green: byte(1), blue: byte(0), isDisplayP3: space == .displayP3)
        }
      }
    }
  }
}
