import FastImageCache
import Pixels

extension Mark {
  /// The cells of a side.
  private static let side = 8
  private static let (dark, bright): (UInt8, UInt8) = (24, 232)

  /// A picture of the mark, whose side is a multiple of 8 pixels.
  func bitmap(side pixels: Int = 64) throws -> Bitmap {
    let rows = cells
    let cell = pixels / Self.side
    return try Bitmap(
      size: PixelSize(width: pixels, height: pixels), format: .bgrx32
    ) { bytes, layout in
      for y in 0..<pixels {
        for x in 0..<pixels {
          let (column, row) = (x / cell, y / cell)
          let isBright =
            switch row {
            case 0: Self.firstRow[column]
            case Self.side - 1: Self.lastRow[column]
            default: rows[(row - 1) * Self.side + column]
            }
          let offset = y * layout.rowBytes + x * 4
          for channel in 0..<3 { bytes[offset + channel] = isBright ? Self.bright : Self.dark }
          bytes[offset + 3] = 255
        }
      }
    }
  }

  /// The mark of a picture that is whole and upright, whatever its size and pixel format; `nil` for others.
  init?(_ image: CachedImage) {
    let layout = image.layout
    self.init(layout.size, { image.withPixels($0) }, layout)
  }

  init?(_ bitmap: Bitmap) {
    self.init(bitmap.size, { bitmap.withPixels($0) }, bitmap.layout)
  }

  private init?(
    _ size: PixelSize, _ withPixels: ((RawSpan) -> [Bool]?) -> [Bool]?, _ layout: PixelLayout
  ) {
    let cells = withPixels { span in
      span.withUnsafeBytes { bytes -> [Bool]? in
        var cells: [Bool] = []
        for row in 0..<Self.side {
          for column in 0..<Self.side {
            let x = (2 * column + 1) * size.width / (2 * Self.side)
            let y = (2 * row + 1) * size.height / (2 * Self.side)
            switch Self.brightness(x, y, bytes, layout) {
            case ..<96: cells.append(false)
            case 160...: cells.append(true)
            default: return nil
            }
          }
        }
        return cells
      }
    }
    guard let cells, Array(cells.prefix(Self.side)) == Self.firstRow,
      Array(cells.suffix(Self.side)) == Self.lastRow
    else { return nil }
    self.init(cells: Array(cells.dropFirst(Self.side).dropLast(Self.side)))
  }

  private static func brightness(
    _ x: Int, _ y: Int, _ bytes: UnsafeRawBufferPointer, _ layout: PixelLayout
  ) -> Int {
    let offset = y * layout.rowBytes + x * layout.format.bytesPerPixel
    switch layout.format {
    case .gray8: return Int(bytes[offset])
    case .bgr16:
      // Green: the middle five of fifteen bits.
      return (Int(bytes[offset + 1] & 3) << 3 | Int(bytes[offset] >> 5)) * 255 / 31
    default: return Int(bytes[offset + 1])
    }
  }
}
