import Foundation
import Pixels
import Testing

@testable import ImageDrawing

@Suite("A blur", .timeLimit(.minutes(10)))
struct BlurTests {
  /// `GaussianBlur` of Pillow 13.0, whose passes have the same boxes.
  @Test(
    "makes the bytes of another library that blurs with the same boxes",
    arguments: [
      (
        8, 4, 1.3,
        [
          [80, 92, 109, 122, 131, 136, 133, 127], [97, 105, 114, 122, 128, 133, 132, 129],
          [110, 113, 118, 124, 131, 134, 131, 127], [109, 112, 119, 129, 138, 138, 130, 121],
          [34, 52, 83, 117, 138, 148, 153, 156], [50, 66, 93, 119, 133, 139, 146, 152],
          [71, 86, 108, 122, 125, 127, 136, 147], [87, 100, 118, 124, 120, 118, 129, 143],
          [201, 186, 162, 137, 114, 104, 106, 114], [175, 161, 139, 120, 108, 109, 121, 134],
          [138, 125, 109, 102, 107, 122, 142, 156], [112, 99, 88, 93, 111, 136, 157, 168],
        ]
      ),
      (
        3, 5, 4.0,
        [
          [99, 100, 101], [104, 105, 106], [108, 109, 110], [112, 113, 114], [117, 118, 119],
          [78, 78, 79], [82, 82, 83], [86, 86, 87], [90, 90, 91], [94, 94, 95],
          [162, 161, 161], [158, 158, 158], [155, 155, 155], [152, 152, 151], [148, 148, 148],
        ]
      ),
    ] as [(Int, Int, Double, [[UInt8]])])
  func equalsPillow(width: Int, height: Int, radius: Double, rows: [[UInt8]]) throws {
    let source = try Bitmap.colors(width, height, .bgrx32) { x, y in
      BGRA(
        UInt8(truncatingIfNeeded: x * 41 + y * 97), UInt8(truncatingIfNeeded: x * x * 13 + y * 31),
        UInt8(truncatingIfNeeded: 255 - x * 29 - y * 53))
    }
    let drawn = try Drawing.stretch.filtered([.blur(radius: radius)])
      .drawn(source, width, height, .bgrx32)
    for y in 0..<height {
      let pixels = (0..<width).map { drawn[$0, y] }
      #expect(pixels.map(\.blue) == rows[y])
      #expect(pixels.map(\.green) == rows[height + y])
      #expect(pixels.map(\.red) == rows[2 * height + y])
      #expect(pixels.allSatisfy { $0.alpha == 255 })
    }
  }

  /// One pass of a box of the paper's length over a line, in full precision.
  private func pass(_ line: [Double], deviation: Double) -> [Double] {
    let half = (4 * deviation * deviation + 1).squareRoot() / 2
    let radius = Int((half - 0.5).rounded(.down))
    // The weight of the outermost two, found by the variance of the box and not by the paper's formula.
    let inner = (1...max(1, radius)).reduce(0.0) { $0 + Double($1 * $1) } * (radius > 0 ? 2 : 0)
    let next = Double((radius + 1) * (radius + 1))
    let variance = deviation * deviation / 3
    let edge = (variance * Double(2 * radius + 1) - inner) / (2 * next - 2 * variance)
    let sum = Double(2 * radius + 1) + 2 * edge
    return line.indices.map { x in
      let weighed = (-radius - 1...radius + 1).reduce(0.0) { total, offset in
        let pixel = line[min(max(0, x + offset), line.count - 1)]
        return total + pixel * (abs(offset) > radius ? edge : 1)
      }
      return weighed / sum
    }
  }

  @Test(
    "differs by at most six roundings from boxes in full precision, whatever the size",
    arguments: [0.3, 1, 2.5, 7.3, 40], [(20, 13), (1, 1), (1, 9), (70, 1), (17, 33), (65, 3)])
  func equalsDefinition(radius: Double, size: (width: Int, height: Int)) throws {
    let (width, height) = size
    let source = try Bitmap.noise(width, height, .bgra32, seed: 3)
    let drawn = try Drawing.stretch.filtered([.blur(radius: radius / 2)])
      .drawn(source, width, height, scale: 2)
    // No more than the longer side.
    let deviation = min(radius, Double(max(width, height)))
    for channel in 0..<4 {
      var plane = (0..<height).map { y in
        (0..<width).map { Double(source.channel(channel, $0, y)) }
      }
      for _ in 0..<3 { plane = plane.map { pass($0, deviation: deviation) } }
      for x in 0..<width {
        var column = plane.map { $0[x] }
        for _ in 0..<3 { column = pass(column, deviation: deviation) }
        for y in 0..<height {
          let byte = drawn.bytes[y * drawn.layout.rowBytes + x * 4 + channel]
          #expect(abs(Double(byte) - column[y]) <= 3, "\(x), \(y), \(channel)")
        }
      }
    }
  }

  @Test("is near to a Gaussian of its radius", arguments: [1.5, 4, 9])
  func isGaussian(radius: Double) throws {
    let source = try Bitmap.colors(128, 2, .bgrx32) { x, _ in x < 64 ? .black : .white }
    let drawn = try Drawing.stretch.filtered([.blur(radius: radius)]).drawn(source, 128, 2)
    for x in 0..<128 {
      let expected = 127.5 * (1 + erf((Double(x) - 63.5) / (radius * 2.0.squareRoot())))
      #expect(abs(Double(drawn[x, 0].red) - expected) <= 255 * 0.015, "\(x)")
    }
  }

  @Test("leaves an image of one colour as it is, to its edges")
  func keepsPlains() throws {
    for pixel in [BGRA.white, BGRA(3, 80, 200), BGRA(1, 40, 90, 120), .clear] {
      let source = try Bitmap.colors(19, 7) { _, _ in pixel }
      for radius in [0.1, 1, 3.3, 100] {
        let drawn = try Drawing.stretch.filtered([.blur(radius: radius)]).drawn(source, 19, 7)
        #expect(drawn.allPixels == [pixel], "\(radius)")
      }
    }
  }

  @Test("makes a wide image gray in the middle, and takes no longer for a larger radius")
  func boundsRadius() throws {
    let source = try Bitmap.colors(40, 1, .bgrx32) { x, _ in x < 20 ? .black : .white }
    let endless = Drawing.stretch.filtered([.blur(radius: .infinity)])
    let large = Drawing.stretch.filtered([.blur(radius: 40)])
    #expect(try endless.drawn(source, 40, 1).bytes == large.drawn(source, 40, 1).bytes)
  }
}

extension Bitmap {
  fileprivate func channel(_ channel: Int, _ x: Int, _ y: Int) -> UInt8 {
    withUnsafeBytes { $0[y * layout.rowBytes + x * 4 + channel] }
  }
}
