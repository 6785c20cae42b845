import CResampling
import Pixels

/// The pixels of one drawing under its filters.
struct FilteredPixels {
  private let pixels: fic_pixels
  private let size: PixelSize
  private let colorSpace: ColorSpace
  private let scale: Double

  /// - Parameters:
  ///   - bytes: Rows of `.bgra32` or `.bgrx32`, valid as long as this value is used.
  ///   - scale: Pixels to a point.
  init(
    _ bytes: UnsafeMutableRawPointer, layout: PixelLayout, colorSpace: ColorSpace, scale: Double
  ) {
    pixels = fic_pixels(
      bytes: bytes.assumingMemoryBound(to: UInt8.self), width: layout.size.width,
      height: layout.size.height, row_bytes: layout.rowBytes)
    size = layout.size
    (self.colorSpace, self.scale) = (colorSpace, scale)
  }

  /// - Parameter filter: One that is not neutral.
  func apply(_ filter: Drawing.Filter) throws(DrawingError) {
    func factor(_ number: Double) -> Double { max(0, min(1000, number)) }
    switch filter {
    case .blur(let radius): try blur(deviation: radius * scale)
    case .tint(let color, let blendMode): tint(color, blendMode)
    case .saturation(let number):
      mix(Self.scaled(factor(number)).map { $0 + Self.luminosity * (1 - factor(number)) })
    case .brightness(let number): mix(Self.scaled(factor(number)))
    case .contrast(let number):
      mix(Self.scaled(factor(number)), constant: 0.5 - 0.5 * factor(number))
    case .sepia(let number):
      let part = min(1, number)
      mix(zip(Self.scaled(1 - part), Self.sepia).map { $0 + $1 * part })
    case .border(let width, let color): border(width * scale, color)
    case .flip(.horizontal): fic_flip_rows(pixels)
    case .flip(.vertical): fic_flip_columns(pixels)
    }
  }

  private func blur(deviation: Double) throws(DrawingError) {
    let scratch = try ScratchMemory(byteCount: fic_blur_scratch(pixels.width, pixels.height))
    let bounded = min(deviation, Double(max(size.width, size.height)))
    fic_blur(
      pixels, .init(deviation: bounded), scratch.bytes.assumingMemoryBound(to: UInt8.self))
  }

  private func tint(_ color: Canvas.Color, _ blendMode: Canvas.BlendMode) {
    let color = color.converted(to: colorSpace)
    func bounded(_ component: Double) -> Double { max(0, min(1, component)) }
    let components = [color.blue, color.green, color.red].map(bounded)
    let alpha = bounded(color.alpha)
    if let part = blendMode.part {
      fic_blend_part(pixels, (components + [alpha]).map { Float($0) }, part)
    } else {
      let tables = components.flatMap { component in
        (0...255).map { byte in
          let old = Double(byte) / 255
          let new = blendMode.mix(component, over: old)
          return UInt8(((old + (new - old) * alpha) * 255).rounded())
        }
      }
      fic_replace_colors(pixels, tables)
    }
  }

  /// - Parameter width: In pixels.
  private func border(_ width: Double, _ color: Canvas.Color) {
    let color = color.converted(to: colorSpace).premultiplied
    let bytes = [color.x, color.y, color.z, color.w]
    let width = Int(max(1, min(width, Double(max(size.width, size.height))).rounded()))
    let left = min(width, size.width)
    let right = min(width, size.width - left)
    for y in 0..<size.height {
      let row = pixels.bytes + y * pixels.row_bytes
      if y < width || y >= size.height - width {
        fic_cover(row, size.width, bytes)
      } else {
        fic_cover(row, left, bytes)
        fic_cover(row + (size.width - right) * 4, right, bytes)
      }
    }
  }

  /// - Parameter rows: The factors of red, green and blue for new red, green and blue.
  private func mix(_ rows: [SIMD3<Double>], constant: Double = 0) {
    // As the pixels lie: blue first.
    let matrix = rows.reversed().flatMap { [$0.z, $0.y, $0.x, constant] }
    fic_mix_colors(pixels, matrix.map { Float($0) })
  }

  private static func scaled(_ factor: Double) -> [SIMD3<Double>] {
    [SIMD3(factor, 0, 0), SIMD3(0, factor, 0), SIMD3(0, 0, factor)]
  }

  // Filter Effects Module Level 1, section 10.
  private static let luminosity = SIMD3(0.213, 0.715, 0.072)
  private static let sepia = [
    SIMD3(0.393, 0.769, 0.189), SIMD3(0.349, 0.686, 0.168), SIMD3(0.272, 0.534, 0.131),
  ]
}

extension fic_box {
  /// The box of which three passes have the variance of a Gaussian, which three equal variances add up to.
  ///
  /// - Parameter deviation: Positive, in pixels.
  init(deviation: Double) {
    let variance = deviation * deviation / 3
    // The numbers of the paper: (7), (11), (14).
    let radius = (((12 * variance + 1).squareRoot() - 1) / 2).rounded(.down)
    let next = (radius + 1) * (radius + 1)
    let part =
      (2 * radius + 1) * (radius * (radius + 1) - 3 * variance) / (6 * (variance - next))
    let whole = Double(1 << 24)
    let weight = (whole / (2 * (radius + part) + 1)).rounded(.down)
    self.init(
      radius: UInt32(radius), weight: UInt32(weight),
      edge_weight: UInt32((whole - (2 * radius + 1) * weight) / 2))
  }
}
