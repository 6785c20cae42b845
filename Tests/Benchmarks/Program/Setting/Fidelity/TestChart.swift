import FastImageCache
import Foundation

/// A chart whose details a decode may lose or make up.
enum TestChart: String, CaseIterable {
  case zonePlate = "zone plate"
  case grid = "grids of one pixel"
  case text

  /// The chart as a square of gray.
  func bitmap(side: Int) throws -> Bitmap {
    let layout = PixelLayout(for: PixelSize(width: side, height: side), format: .bgrx32)
    return try Bitmap(layout: layout) { bytes in
      for y in 0..<side {
        for x in 0..<side {
          let level = level(x, y, side)
          for channel in 0..<3 { bytes[y * layout.rowBytes + x * 4 + channel] = level }
        }
      }
    }
  }

  private func level(_ x: Int, _ y: Int, _ side: Int) -> UInt8 {
    switch self {
    case .zonePlate:
      let (across, down) = (Double(x) - Double(side) / 2, Double(y) - Double(side) / 2)
      let phase = Double.pi * (across * across + down * down) / Double(side)
      return UInt8((127.5 + 127.5 * cos(phase)).rounded())
    case .grid:
      // One line in sixteen pixels, and in the lower right quarter one in two.
      if x > side / 2, y > side / 2 { return y.isMultiple(of: 2) ? 0 : 255 }
      return x.isMultiple(of: 16) || y.isMultiple(of: 16) ? 0 : 255
    case .text: return Self.isInk(x, y, dot: max(1, side / 320)) ? 0 : 255
    }
  }

  /// Columns of seven dots, the highest in the lowest bit.
  private static let letters: [Character: [UInt8]] = [
    "F": [0x7F, 0x09, 0x09, 0x09, 0x01], "A": [0x7E, 0x11, 0x11, 0x11, 0x7E],
    "S": [0x46, 0x49, 0x49, 0x49, 0x31], "T": [0x01, 0x01, 0x7F, 0x01, 0x01],
    "I": [0x00, 0x41, 0x7F, 0x41, 0x00], "M": [0x7F, 0x02, 0x0C, 0x02, 0x7F],
    "G": [0x3E, 0x41, 0x49, 0x49, 0x7A], "E": [0x7F, 0x49, 0x49, 0x49, 0x41],
    "C": [0x3E, 0x41, 0x41, 0x41, 0x22], "H": [0x7F, 0x08, 0x08, 0x08, 0x7F], " ": [],
  ]

  private static let sentence = Array("FAST IMAGE CACHE ")

  /// Lines of text, a fortieth of the height each.
  private static func isInk(_ x: Int, _ y: Int, dot: Int) -> Bool {
    let (column, row) = (x / dot, y / dot)
    // Each line begins with another letter.
    let letter = letters[sentence[(column / 6 + row / 9) % sentence.count]] ?? []
    guard column % 6 < letter.count, row % 9 < 7 else { return false }
    return letter[column % 6] >> (row % 9) & 1 == 1
  }
}
