import CommandSupport
import FastImageCache
import Foundation
import TestSupport

/// How close a cache's small pictures come to exact reductions of their photographs.
struct FidelityRecord {
  /// One for each picture of the corpus.
  private(set) var decibels: [Double] = []
  /// The kind of pictures.
  let corpus: String
  private(set) var worstName = ""

  static let size = PixelSize(width: 200, height: 200)

  /// Has a cache draw each picture of the corpus, and compares it with the definition.
  nonisolated(nonsending) init(_ setting: BenchSetting) async throws {
    let pictures = PhotographCorpus(setting.effort)
    corpus = pictures.description
    let format = ImageFormat(
      name: "fidelity", size: Self.size, pixelFormat: .bgrx32, capacity: .count(1))
    let file = setting.place.url.appending(path: "fidelity.jpg")
    decibels = try await setting.withCache("fidelity", formats: [format]) { cache in
      var decibels: [Double] = []
      for (number, part) in pictures.parts.enumerated() {
        try Task.checkCancellation()
        try pictures.data(of: part).write(to: file)
        let image = try await cache.image(for: BenchPicture(number, file: file), format: format)
        let shown = try image.makeBitmap()
        decibels.append(Self.decibels(of: shown, from: try Bitmap(contentsOf: file)))
      }
      return decibels
    }
    let worst = decibels.indices.min { decibels[$0] < decibels[$1] }
    worstName = worst.map { pictures.parts[$0].name } ?? "none"
  }

  var counts: [(name: String, value: Int)] {
    [
      ("pictures", decibels.count), ("below 48 dB", decibels.count { $0 < 48 }),
      ("below 50 dB", decibels.count { $0 < 50 }),
      ("below 54 dB", decibels.count { $0 < 54 }),
    ]
  }

  /// The peak signal to noise ratio of red, green and blue against the definition of the reduction.
  private static func decibels(of shown: Bitmap, from full: Bitmap) -> Double {
    let exact = reduction(of: full, to: shown.size)
    return decibels(of: shown) { x, y, channel in
      exact[(y * shown.size.width + x) * 4 + channel].rounded()
    }
  }

  /// The same against another drawing of that size.
  static func decibels(of shown: Bitmap, beside other: Bitmap) -> Double {
    other.withPixels { pixels in
      pixels.withUnsafeBytes { bytes in
        decibels(of: shown) { x, y, channel in
          Double(bytes[y * other.layout.rowBytes + x * 4 + channel])
        }
      }
    }
  }

  private static func decibels(
    of shown: Bitmap, _ level: (_ x: Int, _ y: Int, _ channel: Int) -> Double
  ) -> Double {
    var squares = 0.0
    shown.withPixels { pixels in
      pixels.withUnsafeBytes { bytes in
        for y in 0..<shown.size.height {
          for x in 0..<shown.size.width {
            for channel in 0..<3 {
              let own = Double(bytes[y * shown.layout.rowBytes + x * 4 + channel])
              let apart = own - level(x, y, channel)
              squares += apart * apart
            }
          }
        }
      }
    }
    let mean = squares / Double(3 * shown.size.width * shown.size.height)
    // Pictures without any difference count as differing by a level in one of a million numbers.
    return 10 * log10(255 * 255 / max(mean, 1e-6))
  }

  /// The part of all pixels that aspect fill shows, reduced by the definition of the filter.
  private static func reduction(of full: Bitmap, to size: PixelSize) -> [Double] {
    let (width, height) = (Double(full.size.width), Double(full.size.height))
    let unit = min(width / Double(size.width), height / Double(size.height))
    let (across, down) = (unit * Double(size.width), unit * Double(size.height))
    let (left, top) = ((width - across) / 2, (height - down) / 2)
    let rowBytes = full.size.width * 4
    let pixels = full.withPixels { pixels in
      pixels.withUnsafeBytes { bytes in
        (0..<full.size.height).flatMap { row in
          bytes[(row * full.layout.rowBytes)..<(row * full.layout.rowBytes + rowBytes)]
        }
      }
    }
    return ReferenceResampler.bytes(
      of: pixels, size: full.size, channels: 4, columns: left..<(left + across),
      rows: top..<(top + down), output: size)
  }
}
