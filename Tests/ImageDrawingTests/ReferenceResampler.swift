import Foundation
import Pixels

@testable import ImageDrawing

/// What the resampler should compute, written for the eye: one sum in two dimensions for each pixel,
/// in `Double`, from the definitions of the filters.
enum ReferenceResampler {
  /// The bytes of the output, row by row and not rounded, for a bitmap of `channels` bytes a pixel.
  static func bytes(
    of source: [UInt8], width: Int, height: Int, channels: Int, region: Canvas.Rect,
    output: PixelSize
  ) -> [Double] {
    let columns = (0..<output.width).map {
      weights($0, from: region.x, length: region.width, count: output.width, available: width)
    }
    var result: [Double] = []
    for y in 0..<output.height {
      let rows = weights(
        y, from: region.y, length: region.height, count: output.height, available: height)
      for x in 0..<output.width {
        var sums = [Double](repeating: 0, count: channels)
        for (row, rowWeight) in rows {
          for (column, columnWeight) in columns[x] {
            let weight = rowWeight * columnWeight
            let start = (row * width + column) * channels
            for channel in 0..<channels {
              sums[channel] += Double(source[start + channel]) * weight
            }
          }
        }
        result += sums
      }
    }
    return result
  }

  private static func weights(
    _ index: Int, from start: Double, length: Double, count: Int, available: Int
  ) -> [(pixel: Int, weight: Double)] {
    let step = length / Double(count)
    let center = start + (Double(index) + 0.5) * step
    let usable = (0..<available).filter {
      Double($0) + 1 > start + 1e-6 && Double($0) < start + length - 1e-6
    }
    let raw = usable.map { pixel in
      let distance = abs(Double(pixel) + 0.5 - center)
      return (pixel, step > 1 ? max(0, 1 - distance / step) : cubic(distance))
    }
    let sum = raw.reduce(0) { $0 + $1.1 }
    return raw.map { ($0.0, $0.1 / sum) }.filter { $0.1 != 0 }
  }

  /// The cubic convolution kernel with its free parameter at -1/2, as polynomials of the distance.
  private static func cubic(_ distance: Double) -> Double {
    if distance <= 1 { return 1.5 * pow(distance, 3) - 2.5 * pow(distance, 2) + 1 }
    if distance <= 2 {
      return -0.5 * pow(distance, 3) + 2.5 * pow(distance, 2) - 4 * distance + 2
    }
    return 0
  }
}
