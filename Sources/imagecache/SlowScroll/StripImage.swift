import CommandSupport
import FastImageCache
import Foundation
import ImageCodecs
import ImageDrawing

/// What a screen showed, one strip below the other, for several passes side by side.
struct StripImage {
  private static let thumbnailHeight = 40
  private static let gap = 2
  /// Between passes, and after each ten strips.
  private static let wideGap = 10
  /// More strips are farther apart in time.
  private static let mostStrips = 120

  /// The time from one strip to the next, in seconds.
  let interval: Int
  let stripCount: Int
  private let passes: [SlowPass]
  private let thumbnail: PixelSize

  init(_ passes: [SlowPass], format: ImageFormat) {
    self.passes = passes
    thumbnail = Self.thumbnailSize(of: format.size)
    let seconds = Int((passes.map { $0.duration / .seconds(1) }.max() ?? 0).rounded(.up))
    interval = max(1, (seconds + Self.mostStrips - 1) / Self.mostStrips)
    stripCount = max(1, (seconds + interval - 1) / interval)
  }

  static func thumbnailSize(of size: PixelSize) -> PixelSize {
    PixelSize(
      width: max(1, thumbnailHeight * size.width / max(size.height, 1)), height: thumbnailHeight)
  }

  /// - Throws: The errors of drawing and encoding.
  func png() throws -> Data {
    let placeCount = passes.flatMap(\.screens).map(\.count).max() ?? 0
    // From the left side of one pass to that of the next.
    let column = placeCount * (thumbnail.width + Self.gap) - Self.gap + Self.wideGap
    let rows = (0..<stripCount).map { strip in
      strip * (thumbnail.height + Self.gap) + strip / 10 * (Self.wideGap - Self.gap)
    }
    let size = PixelSize(
      width: passes.count * column - Self.wideGap,
      height: (rows.last ?? 0) + thumbnail.height)
    let bitmap = try Bitmap(size: size, format: .bgrx32) { target, layout in
      target.initializeMemory(as: UInt8.self, repeating: 0xFF)
      for (number, pass) in passes.enumerated() {
        for (strip, y) in rows.enumerated() {
          let time = Duration.seconds((strip + 1) * interval)
          for (index, place) in pass.screen(at: time).enumerated() {
            let x = number * column + index * (thumbnail.width + Self.gap)
            draw(place.appearances.last { $0.time <= time }, into: target, layout, x, y)
          }
        }
      }
    }
    return try bitmap.pngData()
  }

  /// Draws a thumbnail, or gray where nothing was shown.
  private func draw(
    _ appearance: SlowPass.Appearance?, into target: UnsafeMutableRawBufferPointer,
    _ layout: PixelLayout, _ x: Int, _ y: Int
  ) {
    for row in 0..<thumbnail.height {
      let start = (y + row) * layout.rowBytes + x * 4
      let line = UnsafeMutableRawBufferPointer(
        rebasing: target[start..<(start + thumbnail.width * 4)])
      guard let bitmap = appearance?.thumbnail else {
        line.initializeMemory(as: UInt8.self, repeating: 0xD8)
        continue
      }
      bitmap.withUnsafeBytes { bytes in
        let start = row * bitmap.layout.rowBytes
        line.copyMemory(from: .init(rebasing: bytes[start..<(start + line.count)]))
      }
    }
  }
}

extension SlowPass {
  /// The places that are in view at a time.
  fileprivate func screen(at time: Duration) -> [Place] {
    screens.last { ($0.first?.start ?? .zero) <= time } ?? []
  }
}
