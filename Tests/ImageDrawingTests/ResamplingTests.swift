import CResampling
import Pixels
import TestSupport
import Testing

@testable import ImageDrawing

@Suite("The resampler", .timeLimit(.minutes(10)))
struct ResamplingTests {
  /// Sizes on either side of each vector width, and ratios that shrink, enlarge, or do one in each
  /// direction.
  static let sizes: [(source: PixelSize, output: PixelSize)] = {
    var numbers = SplitMix64(state: 7)
    let random = (0..<40).map { _ in
      (
        PixelSize(
          width: .random(in: 1...50, using: &numbers), height: .random(in: 1...50, using: &numbers)),
        PixelSize(
          width: .random(in: 1...40, using: &numbers), height: .random(in: 1...40, using: &numbers))
      )
    }
    let chosen = [
      (PixelSize(width: 1, height: 1), PixelSize(width: 9, height: 7)),
      (PixelSize(width: 300, height: 200), PixelSize(width: 1, height: 1)),
      (PixelSize(width: 8, height: 200), PixelSize(width: 3, height: 5)),
      (PixelSize(width: 9, height: 16), PixelSize(width: 9, height: 15)),
      (PixelSize(width: 16, height: 9), PixelSize(width: 15, height: 9)),
    ]
    return chosen + random
  }()

  @Test(
    "is within one step of the exact sum, and nearly always on it",
    arguments: [PixelFormat.bgra32, .bgrx32, .gray8])
  func matchesReference(format: PixelFormat) throws {
    var numbers = SplitMix64(state: 3)
    var count = 0
    var different = 0
    for (index, (size, output)) in Self.sizes.enumerated() {
      let source = try Bitmap.noise(size.width, size.height, format, seed: UInt64(index))
      let region = Self.region(in: size, index: index, &numbers)
      let (far, off, total) = try Self.compare(source, region, output)
      #expect(far == 0, "\(size) \(region) to \(output)")
      different += off
      count += total
    }
    #expect(different * 1000 < count)
  }

  @Test(
    "makes the same bytes whatever vectors the processor has",
    arguments: [PixelFormat.bgra32, .bgrx32, .gray8])
  func agreesInAllVectors(format: PixelFormat) throws {
    var numbers = SplitMix64(state: 11)
    // Widths around the 64 bytes, and outputs around the four pixels, that the loops take at once.
    let sizes = (1...40).map { width in
      (PixelSize(width: width, height: 20), PixelSize(width: width % 9 + 1, height: 7))
    }
    let large = [
      (PixelSize(width: 400, height: 300), PixelSize(width: 100, height: 100)),
      (PixelSize(width: 333, height: 250), PixelSize(width: 101, height: 75)),
      (PixelSize(width: 700, height: 20), PixelSize(width: 90, height: 2)),
    ]
    for (index, (size, output)) in (Self.sizes + sizes + large).enumerated() {
      let source = try Bitmap.noise(size.width, size.height, format, seed: UInt64(index))
      let region = Self.region(in: size, index: index, &numbers)
      let plain = try Self.bytes(of: source, region, output, fic_plain_loops())
      let narrow = try Self.bytes(of: source, region, output, fic_narrow_loops())
      let widest = try Self.bytes(of: source, region, output, fic_widest_loops())
      #expect(plain == narrow && plain == widest, "\(size) \(region) to \(output)")
    }
  }

  /// A part of a bitmap at another size; rows are written to memory that ends where they do.
  private static func bytes(
    of source: Bitmap, _ region: Canvas.Rect, _ output: PixelSize,
    _ loops: fic_loops = fic_widest_loops()
  ) throws -> [[UInt8]] {
    let resampler = try Resampler(
      layout: source.layout, region: region, limits: region, size: output, loops: loops)
    return (0..<output.height).map { y in
      var row = [UInt8](repeating: 0, count: output.width * source.layout.format.bytesPerPixel)
      source.withUnsafeBytes { pixels in
        row.withUnsafeMutableBytes { resampler.writeRow(y, of: pixels, to: $0.baseAddress!) }
      }
      return row
    }
  }

  /// The whole source, then random parts of it with edges between pixels.
  private static func region(
    in size: PixelSize, index: Int, _ numbers: inout SplitMix64
  ) -> Canvas.Rect {
    let (width, height) = (Double(size.width), Double(size.height))
    guard index % 2 == 1 else { return Canvas.Rect(x: 0, y: 0, width: width, height: height) }
    let x = Double.random(in: 0..<width * 0.7, using: &numbers)
    let y = Double.random(in: 0..<height * 0.7, using: &numbers)
    return Canvas.Rect(
      x: x, y: y, width: Double.random(in: 0.2...1, using: &numbers) * (width - x),
      height: Double.random(in: 0.2...1, using: &numbers) * (height - y))
  }

  /// How many bytes are more than one step off, how many are off at all, and how many there are.
  private static func compare(
    _ source: Bitmap, _ region: Canvas.Rect, _ output: PixelSize
  ) throws -> (far: Int, off: Int, total: Int) {
    let rows = try Self.bytes(of: source, region, output)
    let channels = source.layout.format.bytesPerPixel
    let exact = ReferenceResampler.bytes(
      of: source.withUnsafeBytes { Array($0) }, size: source.size, channels: channels,
      columns: region.x..<region.maxX, rows: region.y..<region.maxY, output: output)
    var result = (far: 0, off: 0, total: exact.count)
    for (y, row) in rows.enumerated() {
      for x in 0..<output.width {
        let start = (y * output.width + x) * channels
        let expected = bounded(
          Array(exact[start..<start + channels]), hasAlpha: source.layout.format.hasAlpha)
        for channel in 0..<channels {
          let difference = abs(Double(row[x * channels + channel]) - expected[channel])
          if difference > 1 { result.far += 1 }
          // Half a step is what rounding must leave.
          if difference > 0.51 { result.off += 1 }
        }
      }
    }
    return result
  }

  /// Colours as far as they can be shown.
  private static func bounded(_ channels: [Double], hasAlpha: Bool) -> [Double] {
    guard hasAlpha else { return channels.map { max(0, min(255, $0)) } }
    let excess = max(1, channels[3] / 255)
    let alpha = max(0, min(255, channels[3]))
    return channels.map { max(0, min(alpha, $0 / excess)) }
  }

  @Test("rounds up as far as down, on average")
  func roundsEvenly() throws {
    let source = try Bitmap.noise(210, 210, .bgrx32, seed: 1)
    let whole = Canvas.Rect(x: 0, y: 0, width: 210, height: 210)
    let output = PixelSize(width: 30, height: 30)
    let bytes = try Self.bytes(of: source, whole, output).joined()
    let exact = ReferenceResampler.bytes(
      of: source.withUnsafeBytes { Array($0) }, size: source.size, channels: 4, columns: 0..<210,
      rows: 0..<210, output: output)
    let bias = zip(bytes, exact).reduce(0) { $0 + Double($1.0) - $1.1 } / Double(exact.count)
    // Without what the loops put back for dropped bits, either direction alone would be 0.027 off.
    #expect(abs(bias) < 0.014)
  }

  @Test("leaves an even area even, up to the border, at every brightness")
  func keepsConstants() throws {
    let outputs = [(1, 1), (3, 2), (7, 9), (5, 14), (17, 16), (12, 11)]
    for value in UInt8.min...UInt8.max {
      let gray = try Bitmap.tight(11, 13, .gray8) { _, _ in [value] }
      let pixel = [value / 3, value / 2, value, value]
      let color = try Bitmap.tight(11, 13, .bgra32) { _, _ in pixel }
      let (width, height) = outputs[Int(value) % outputs.count]
      let grays = try Self.resampled(gray, width, height)
      let colors = try Self.resampled(color, width, height)
      #expect(Set(grays) == [[value]])
      #expect(Set(colors) == [pixel])
    }
  }

  @Test("leaves even areas even when hundreds of pixels become one", arguments: [0, 1, 254, 255])
  func keepsConstantsAtExtremeRatios(value: UInt8) throws {
    let tall = try Bitmap.tight(2, 900, .gray8) { _, _ in [value] }
    let wide = try Bitmap.tight(900, 2, .bgrx32) { _, _ in [value, value, value, value] }
    #expect(try Self.resampled(tall, 2, 1) == [[value], [value]])
    #expect(try Self.resampled(wide, 1, 1) == [[value, value, value, value]])
  }

  /// The whole of a bitmap at another size, pixel by pixel.
  private static func resampled(
    _ source: Bitmap, _ width: Int, _ height: Int
  ) throws -> [[UInt8]] {
    let whole = Canvas.Rect(
      x: 0, y: 0, width: Double(source.size.width), height: Double(source.size.height))
    let channels = source.layout.format.bytesPerPixel
    return try bytes(of: source, whole, PixelSize(width: width, height: height)).flatMap { row in
      (0..<width).map { Array(row[$0 * channels..<($0 + 1) * channels]) }
    }
  }

  @Test("copies at 1:1, also from within a larger image")
  func copiesAtSameSize() throws {
    let source = try Bitmap.noise(20, 16, .bgra32, seed: 5)
    let whole = try Drawing.stretch.drawn(source, 20, 16)
    let part = try Drawing.stretch(
      crop: Canvas.Rect(x: 0.25, y: 0.5, width: 0.5, height: 0.25)
    ).drawn(source, 10, 4)
    let bytes = source.withUnsafeBytes { Array($0) }
    for y in 0..<16 { #expect(whole.row(y) == Array(bytes[y * 80..<(y + 1) * 80])) }
    for y in 0..<4 {
      let start = (y + 8) * 80 + 20
      #expect(part.row(y) == Array(bytes[start..<start + 40]))
    }
  }

  @Test("draws no dark fringe where a colour meets transparency", arguments: [5, 11, 32, 50])
  func keepsColorAtAlphaEdges(width: Int) throws {
    let source = try Bitmap.colors(32, 32) { x, y in
      (x / 8 + y / 8) % 2 == 0 ? BGRA(0, 128, 255) : .clear
    }
    let drawn = try Drawing.stretch.drawn(source, width, width)
    let fringes = drawn.allPixels.filter { pixel in
      pixel.red != pixel.alpha || pixel.blue != 0
        || abs(Int(pixel.green) * 255 - Int(pixel.alpha) * 128) > 255
    }
    #expect(fringes == [])
  }

  @Test("keeps colours at most as bright as their alpha, where a cubic would overshoot")
  func boundsColorsByAlpha() throws {
    let source = try Bitmap.colors(8, 8) { x, y in
      (x + y) % 3 == 0 ? BGRA(100, 0, 100, 100) : BGRA(0, 100, 0, 100)
    }
    let drawn = try Drawing.stretch.drawn(source, 31, 31)
    let glowing = drawn.allPixels.filter { max($0.blue, $0.green, $0.red) > $0.alpha }
    #expect(glowing == [])
  }

  @Test("shows nothing of what lies outside of a crop")
  func doesNotBleedIntoCrops() throws {
    let source = try Bitmap.colors(30, 30) { x, y in
      (10..<20).contains(x) && (10..<20).contains(y) ? .green : .red
    }
    let crop = Canvas.Rect(x: 1 / 3, y: 1 / 3, width: 1 / 3, height: 1 / 3)
    for side in [1, 3, 7, 10, 25] {
      let drawn = try Drawing.stretch(crop: crop).drawn(source, side, side)
      #expect(drawn.allPixels == [.green])
    }
  }

  @Test("keeps rows and columns in their order", arguments: [4, 8, 3, 19])
  func keepsOrientation(side: Int) throws {
    let source = try Bitmap.colors(8, 8) { x, y in
      y < 4 ? (x < 4 ? .red : .green) : (x < 4 ? .blue : .white)
    }
    let drawn = try Drawing.stretch.drawn(source, side, side)
    let last = side - 1
    #expect(drawn[0, 0].red > 200 && drawn[0, 0].blue < 50 && drawn[0, 0].green < 50)
    #expect(drawn[last, 0].green > 200 && drawn[last, 0].red < 50)
    #expect(drawn[0, last].blue > 200 && drawn[0, last].green < 50)
    #expect(drawn[last, last].distance(to: .white) < 50)
  }

  @Test("repeats the border where more than the source is asked for")
  func repeatsTheBorder() throws {
    let source = try Bitmap.tight(4, 1, .gray8) { x, _ in [UInt8(x * 50)] }
    let whole = Canvas.Rect(x: 0, y: 0, width: 4, height: 1)
    let resampler = try Resampler(
      layout: source.layout, region: Canvas.Rect(x: -3, y: -1, width: 10, height: 3),
      limits: whole, size: PixelSize(width: 10, height: 3), .nearest)
    var row = [UInt8](repeating: 9, count: 10)
    source.withUnsafeBytes { pixels in
      row.withUnsafeMutableBytes { resampler.writeRow(2, of: pixels, to: $0.baseAddress!) }
    }
    #expect(row == [0, 0, 0, 0, 50, 100, 150, 150, 150, 150])
  }

  @Test("reports memory that cannot be had instead of ending the process")
  func reportsMissingMemory() {
    #expect(throws: DrawingError.self) { _ = try ScratchMemory(byteCount: 1 << 60) }
  }
}
