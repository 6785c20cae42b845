import Foundation
package import Pixels

/// An image of hills below a sky, drawn from a number. It compresses and decodes as a photograph
/// does.
package struct Landscape {
  private typealias Color = SIMD4<Float>

  /// A line of hills, the farther ones first.
  private struct Ridge {
    /// The row at which the ridge begins, for each column.
    var tops: [Int]
    /// The last row that no nearer ridge covers, for each column.
    var bottoms: [Int] = []
    var color: Color
    var roughness: Float
  }

  private var random: SeededNumbers
  private let hue: Float

  package init(number: Int) {
    random = SeededNumbers(seed: UInt64(number) &* 0x9E37_79B9 &+ 1)
    hue = Float(number) * 0.618
  }

  /// - Throws: ``BitmapError`` where there is no memory, `CancellationError`.
  package func bitmap(_ size: PixelSize) throws -> Bitmap {
    let layout = PixelLayout(for: size, format: .bgrx32)
    return try Bitmap(layout: layout) { bytes in
      var painter = self
      try painter.paint(bytes, layout)
    }
  }

  private mutating func paint(
    _ bytes: UnsafeMutableRawBufferPointer, _ layout: PixelLayout
  ) throws {
    let (width, height) = (layout.size.width, layout.size.height)
    var ridges = (0..<4).map { ridge($0, width: width, height: Float(height)) }
    // Each pixel is painted once: a layer ends where the next ridge begins.
    var bottoms = [Int](repeating: height, count: width)
    for index in ridges.indices.reversed() {
      ridges[index].bottoms = bottoms
      bottoms = zip(bottoms, ridges[index].tops).map { min($0, $1) }
    }
    let sun = SIMD2<Float>(
      random.unit() * Float(width), random.unit() * Float(height) * 0.4)
    let (zenith, horizon) = (color(0.55, 0.35, 0.75), color(0.1, 0.25, 1))
    let grain = (0..<Self.grainCount).map { _ in Int32(random.signed() * 256) }
    // The inner loop counts in whole numbers and reads through pointers: builds without
    // optimisation, which the tests run, would take minutes otherwise. The pointers live as long as
    // the closure, and indices into the grain are masked.
    try grain.withUnsafeBufferPointer { grain in
      for y in 0..<height {
        try Task.checkCancellation()
        let sky = mix(zenith, horizon, Float(y) / (Float(height) * 0.6))
        let target = UnsafeMutableRawBufferPointer(
          rebasing: bytes[(y * layout.rowBytes)...].prefix(width * 4))
        paintSky(target, sky, glow: sun, bottoms, y: y, grain)
        for ridge in ridges { paintGround(target, ridge, y: y, grain) }
      }
    }
  }

  /// A row of sky with the light of the sun in it, in runs of eight pixels of one colour.
  private func paintSky(
    _ row: UnsafeMutableRawBufferPointer, _ sky: Color, glow sun: SIMD2<Float>, _ bottoms: [Int],
    y: Int, _ grain: UnsafeBufferPointer<Int32>
  ) {
    let dy = Float(y) - sun.y
    var color = SIMD4<Int32>()
    for x in 0..<(row.count / 4) {
      if x & 7 == 0 {
        let dx = Float(x) - sun.x
        let light = 540_000 / (9000 + dx * dx + dy * dy)
        color = SIMD4<Int32>(sky + Color(repeating: light))
      }
      if y <= bottoms[x] { store(color, grain[Self.noisePlace(x, y)] >> 6, row, x) }
    }
  }

  /// The part of a row that lies between the top of a ridge and the next one.
  private func paintGround(
    _ row: UnsafeMutableRawBufferPointer, _ ridge: Ridge, y: Int,
    _ grain: UnsafeBufferPointer<Int32>
  ) {
    let color = SIMD4<Int32>(ridge.color)
    let roughness = Int32(ridge.roughness)
    for x in 0..<(row.count / 4) where y > ridge.tops[x] && y <= ridge.bottoms[x] {
      // Coarse and fine grain, more of it the nearer the ground is.
      let rough = grain[Self.noisePlace(x >> 2, y >> 2)] + grain[Self.noisePlace(x, y)] / 2
      store(color, rough &* roughness >> 8, row, x)
    }
  }

  private func store(
    _ color: SIMD4<Int32>, _ shift: Int32, _ row: UnsafeMutableRawBufferPointer, _ x: Int
  ) {
    row[x * 4] = UInt8(clamping: color.x + shift)
    row[x * 4 + 1] = UInt8(clamping: color.y + shift)
    row[x * 4 + 2] = UInt8(clamping: color.z + shift)
    row[x * 4 + 3] = 255
  }

  private static let grainCount = 1 << 16

  /// An index into the grain that differs between neighbouring pixels.
  private static func noisePlace(_ x: Int, _ y: Int) -> Int {
    (x &* 2_654_435_761 ^ y &* 2_246_822_519) >> 7 & (grainCount - 1)
  }

  private mutating func ridge(_ index: Int, width: Int, height: Float) -> Ridge {
    let depth = Float(index) / 3
    let base = height * (0.45 + 0.15 * Float(index))
    let waves = (0..<5).map { octave in
      (
        frequency: Float(1 << octave) * (0.6 + random.unit()) * 2 * .pi / Float(width),
        phase: random.unit() * 6.28, height: height * 0.09 / Float(1 << octave)
      )
    }
    let tops = (0..<width).map { x in
      Int(waves.reduce(base) { $0 + sin(Float(x) * $1.frequency + $1.phase) * $1.height })
    }
    return Ridge(
      tops: tops, color: color(0.3 + 0.1 * depth, 0.2 + 0.4 * depth, 0.75 - 0.5 * depth),
      roughness: 4 + 26 * depth)
  }

  /// Blue, green, red of a hue that turns with the image's number.
  private func color(_ turn: Float, _ saturation: Float, _ brightness: Float) -> Color {
    func channel(_ shift: Float) -> Float {
      let wave = 0.5 + 0.5 * cos((hue + turn + shift) * 2 * .pi)
      return 255 * brightness * (1 - saturation * (1 - wave))
    }
    return Color(channel(0.66), channel(0.33), channel(0), 255)
  }

  private func mix(_ first: Color, _ second: Color, _ share: Float) -> Color {
    first + (second - first) * min(max(share, 0), 1)
  }
}

extension SeededNumbers {
  /// In 0 ..< 1.
  fileprivate mutating func unit() -> Float { Float(next() >> 40) / Float(1 << 24) }

  /// In -1 ..< 1.
  fileprivate mutating func signed() -> Float { unit() * 2 - 1 }
}
