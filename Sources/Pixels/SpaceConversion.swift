internal import CResampling

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The conversion of pixels whose space is one of ``ColorSpace`` to the other; the same on all platforms.
///
/// Colours that the other space does not have become those with the nearest red, green and blue of it.
package struct SpaceConversion: ColorConversion {
  /// The space of the pixels that are converted.
  let source: ColorSpace

  package init(from source: ColorSpace) { self.source = source }

  package func convert(
    _ pixels: UnsafeMutableRawPointer, pixelCount: Int, format: PixelFormat, to space: ColorSpace
  ) {
    guard source != space else { return }
    let rows = source.matrix(to: space)
    let matrix = [rows.red, rows.green, rows.blue].flatMap {
      [Float($0.x), Float($0.y), Float($0.z)]
    }
    switch format {
    case .gray8: return
    case .bgra32, .bgrx32:
      // `pixels` has four bytes for each pixel, by the contract of the protocol.
      SRGBCurve.convert(
        pixels.assumingMemoryBound(to: UInt8.self), pixelCount: pixelCount, by: matrix)
    case .bgr16:
      var row = [UInt32](repeating: 0, count: pixelCount)
      row.withUnsafeMutableBytes { row in
        guard let start = row.baseAddress else { return }
        PixelRows.expand(pixels, format: .bgr16, to: start, count: pixelCount)
        SRGBCurve.convert(
          start.assumingMemoryBound(to: UInt8.self), pixelCount: pixelCount, by: matrix)
        PixelRows.convert(start, to: .bgr16, pixels, count: pixelCount)
      }
    }
  }
}

/// The curve of both colour spaces; IEC 61966-2-1.
package enum SRGBCurve {
  /// Steps of light: the steepest step of eight bits, at black, still has five of them.
  private static let steps: Float = 16383

  private static let light = (0...255).map { Float(light(of: Double($0) / 255)) }
  private static let numbers = (0...Int(steps)).map {
    UInt8((number(of: Double($0) / Double(steps)) * 255).rounded())
  }

  /// Converts blue, green, red and an untouched byte.
  ///
  /// - Parameter matrix: Nine factors, row by row, for light.
  fileprivate static func convert(
    _ pixels: UnsafeMutablePointer<UInt8>, pixelCount: Int, by matrix: [Float]
  ) {
    fic_convert_colors(pixels, pixelCount, matrix, light, numbers, steps)
  }

  /// The light of a number, both mirrored below zero.
  package static func light(of number: Double) -> Double {
    let size = abs(number)
    let light = size <= 0.04045 ? size / 12.92 : pow((size + 0.055) / 1.055, 2.4)
    return number < 0 ? -light : light
  }

  /// The number of a light, both mirrored below zero.
  package static func number(of light: Double) -> Double {
    let size = abs(light)
    let number = size <= 0.0031308 ? size * 12.92 : 1.055 * pow(size, 1 / 2.4) - 0.055
    return light < 0 ? -number : number
  }
}
