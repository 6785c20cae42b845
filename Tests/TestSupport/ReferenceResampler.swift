import Foundation
package import Pixels

/// The resampler's result by a readable formula: one sum in two dimensions for each pixel, in
/// `Double`, from the definitions of the filters.
package enum ReferenceResampler {
  /// The bytes of the output, row by row and not rounded, for a bitmap of `channels` bytes a pixel.
  ///
  /// - Parameters:
  ///   - columns: The range of the output from left to right, in pixels of the source.
  ///   - rows: The range from top to bottom.
  package static func bytes(
    of source: [UInt8], size: PixelSize, channels: Int, columns region: Range<Double>,
    rows rowRegion: Range<Double>, output: PixelSize
  ) -> [Double] {
    let columns = (0..<output.width).map {
      weights($0, of: region, count: output.width, available: size.width)
    }
    var result: [Double] = []
    for y in 0..<output.height {
      let rows = weights(y, of: rowRegion, count: output.height, available: size.height)
      for x in 0..<output.width {
        var sums = [Double](repeating: 0, count: channels)
        for (row, rowWeight) in rows {
          for (column, columnWeight) in columns[x] {
            let weight = rowWeight * columnWeight
            let start = (row * size.width + column) * channels
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
    _ index: Int, of region: Range<Double>, count: Int, available: Int
  ) -> [(pixel: Int, weight: Double)] {
    let (start, length) = (region.lowerBound, region.upperBound - region.lowerBound)
    let step = length / Double(count)
    let center = start + (Double(index) + 0.5) * step
    let usable = (0..<available).filter {
      Double($0) + 1 > start + 1e-6 && Double($0) < start + length - 1e-6
    }
    let raw = usable.map { pixel in
      let distance = abs(Double(pixel) + 0.5 - center)
      let covered = min(Double(pixel + 1), start + length) - max(Double(pixel), start)
      return (pixel, step > 1 ? max(0, 1 - distance / step) * covered : cubic(distance))
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
