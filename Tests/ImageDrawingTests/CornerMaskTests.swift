import Pixels
import Testing

@testable import ImageDrawing

@Suite("Round corners", .timeLimit(.minutes(10)))
struct CornerMaskTests {
  /// The share of a pixel inside, from 32 x 32 points.
  private func coverage(
    _ x: Int, _ y: Int, isInside: (_ x: Double, _ y: Double) -> Bool
  ) -> Double {
    var count = 0
    for line in 0..<32 {
      for column in 0..<32 {
        let isIn = isInside(
          Double(x) + (Double(column) + 0.5) / 32, Double(y) + (Double(line) + 0.5) / 32)
        count += isIn ? 1 : 0
      }
    }
    return Double(count) / 1024
  }

  private func isInRoundedRect(
    _ x: Double, _ y: Double, _ width: Double, _ height: Double, _ radius: Double
  ) -> Bool {
    let dx = max(radius - x, x - (width - radius), 0)
    let dy = max(radius - y, y - (height - radius), 0)
    return dx * dx + dy * dy <= radius * radius
  }

  @Test(
    "cover as much of each pixel as the outline does",
    arguments: [(20, 20), (21, 13), (1, 1), (2, 9), (40, 3)])
  func ellipse(width: Int, height: Int) throws {
    let white = try Bitmap.colors(4, 4) { _, _ in .white }
    let drawn = try Drawing.stretch(corners: .ellipse).drawn(white, width, height)
    for y in 0..<height {
      for x in 0..<width {
        let expected = coverage(x, y) { x, y in
          let dx = x / Double(width) * 2 - 1
          let dy = y / Double(height) * 2 - 1
          return dx * dx + dy * dy <= 1
        }
        // Half of a line is what sixteen of them may miss of a pixel.
        #expect(abs(Double(drawn[x, y].alpha) - expected * 255) <= 8.5)
      }
    }
  }

  @Test("have their radius in points", arguments: [(2.0, 1.0), (3.5, 2.0), (100, 1)])
  func rounded(radius: Double, scale: Double) throws {
    let white = try Bitmap.colors(4, 4) { _, _ in .white }
    let drawn = try Drawing.stretch(corners: .rounded(radius: radius))
      .drawn(white, 24, 16, scale: scale)
    let pixels = min(8, radius * scale)
    for y in 0..<16 {
      for x in 0..<24 {
        let expected = coverage(x, y) { isInRoundedRect($0, $1, 24, 16, pixels) }
        #expect(abs(Double(drawn[x, y].alpha) - expected * 255) <= 6)
      }
    }
  }

  @Test("are the same on all four corners")
  func symmetry() throws {
    let white = try Bitmap.colors(4, 4) { _, _ in .white }
    let drawn = try Drawing.stretch(corners: .rounded(radius: 5)).drawn(white, 15, 14)
    for y in 0..<14 {
      for x in 0..<15 {
        #expect(drawn[x, y] == drawn[14 - x, y])
        #expect(drawn[x, y] == drawn[x, 13 - y])
      }
    }
  }

  @Test("stay square for a radius that is no length", arguments: [0, -3, Double.nan])
  func square(radius: Double) throws {
    let white = try Bitmap.colors(4, 4) { _, _ in .white }
    let drawn = try Drawing.stretch(corners: .rounded(radius: radius)).drawn(white, 8, 8)
    #expect(drawn.allPixels == [.white])
  }

  @Test("let the background be seen, in formats without alpha at least black")
  func background() throws {
    let white = try Bitmap.colors(4, 4) { _, _ in .white }
    let corner = { (drawing: Drawing, format: PixelFormat) in
      try drawing.drawn(white, 20, 20, format)[0, 0]
    }
    #expect(try corner(.stretch(corners: .ellipse), .bgra32) == .clear)
    #expect(try corner(.stretch(corners: .ellipse), .bgrx32) == .black)
    #expect(try corner(.stretch(background: .red, corners: .ellipse), .bgrx32) == .red)
    #expect(try corner(.stretch(background: .red, corners: .ellipse), .bgra32) == .red)
  }

  @Test("are the image's where it does not fill the slot")
  func followTheImage() throws {
    let white = try Bitmap.colors(8, 4) { _, _ in .white }
    let drawn = try Drawing.aspectFit(corners: .rounded(radius: 4)).drawn(white, 16, 16)
    #expect(drawn[8, 3] == .clear && drawn[8, 4] == .white)
    #expect(drawn[0, 4].alpha < 30 && drawn[0, 8].alpha > 220)
    #expect(drawn[0, 11].alpha < 30 && drawn[15, 11].alpha < 30 && drawn[8, 11] == .white)
  }
}
