import CommandSupport
import FastImageCache
import Foundation
import TestSupport

/// How close a cache's small images come to exact reductions of their photographs.
struct FidelityRecord {
  static let decodings: [ImageFormat.Quality] = [.balanced, .best]

  let images: PhotographCorpus
  /// One for each image of the corpus.
  private let decibels: [ImageFormat.Quality: [Double]]

  static let size = PixelSize(width: 200, height: 200)

  /// Has a cache draw each image of the corpus, and compares it with the definition.
  nonisolated(nonsending) init(_ setting: BenchSetting) async throws {
    let images = PhotographCorpus(setting.effort)
    self.images = images
    // Without a family, each has a decode of its own.
    let formats = Self.decodings.map {
      ImageFormat(
        name: $0.rawValue, size: .exact(Self.size), pixelFormat: .bgrx32, capacity: .count(1),
        quality: $0)
    }
    let file = setting.place.url.appending(path: "fidelity.jpg")
    decibels = try await setting.withCache("fidelity", formats: formats) { cache in
      var decibels: [ImageFormat.Quality: [Double]] = [:]
      for (number, part) in images.parts.enumerated() {
        try Task.checkCancellation()
        try images.data(of: part).write(to: file)
        let exact = Self.reduction(of: try Bitmap(contentsOf: file), to: Self.size)
        for format in formats {
          let image = try await cache.image(for: BenchImage(number, file: file), format: format)
          decibels[format.quality, default: []].append(
            Self.decibels(of: try image.makeBitmap(), from: exact))
        }
      }
      return decibels
    }
  }

  func decibels(_ decoding: ImageFormat.Quality) -> [Double] { decibels[decoding] ?? [] }

  /// The furthest from its photograph first.
  func ranking(_ decoding: ImageFormat.Quality) -> [PhotographCorpus.Part] {
    zip(images.parts, decibels(decoding)).sorted { $0.1 < $1.1 }.map(\.0)
  }

  func counts(_ decoding: ImageFormat.Quality) -> [(name: String, value: Int)] {
    let decibels = decibels(decoding)
    return [("pictures", decibels.count)]
      + [48, 50, 54].map { limit in
        ("below \(limit) dB", decibels.count { $0 < Double(limit) })
      }
  }

  /// The peak signal to noise ratio of red, green and blue against the definition of the reduction.
  ///
  /// - Parameter exact: A result of ``reduction(of:to:)``.
  static func decibels(of shown: Bitmap, from exact: [Double]) -> Double {
    decibels(of: shown) { x, y, channel in
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
    // Images without any difference count as differing by a level in one of a million numbers.
    return 10 * log10(255 * 255 / max(mean, 1e-6))
  }

  /// The part of all pixels that aspect fill shows, reduced by the definition of the filter: four levels for each
  /// pixel, not rounded.
  static func reduction(of full: Bitmap, to size: PixelSize) -> [Double] {
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
