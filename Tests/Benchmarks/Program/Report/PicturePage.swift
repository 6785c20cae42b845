import FastImageCache
import Foundation

/// Rows of pictures of one size with labels, as SVG around one JPEG picture.
struct PicturePage: Plot {
  struct Tile {
    /// In `bgrx32`.
    let bitmap: Bitmap
    /// Below the picture.
    let label: String
  }

  struct Row {
    let name: String
    let tiles: [Tile]
  }

  let title: String
  let columns: [String]
  let rows: [Row]

  private static let (gap, top, line) = (8, 52, 18)
  private static let quality = 0.8

  /// The size of every tile.
  private var tile: PixelSize {
    rows.first?.tiles.first?.bitmap.size ?? PixelSize(width: 1, height: 1)
  }

  private var size: PixelSize {
    PixelSize(
      width: Self.gap + columns.count * (tile.width + Self.gap), height: y(of: rows.count))
  }

  private func x(of column: Int) -> Int { Self.gap + column * (tile.width + Self.gap) }

  /// The upper edge of a row, whose name stands there.
  private func y(of row: Int) -> Int { Self.top + row * (tile.height + 2 * Self.line) }

  func svg() throws -> String {
    let picture = try picture().jpegData(quality: Self.quality).base64EncodedString()
    let heads = columns.enumerated().map { text($1, x(of: $0), Self.top - 8) }
    let labels = rows.enumerated().flatMap { number, row in
      [text(row.name, x(of: 0), y(of: number) + Self.line - 5)]
        + row.tiles.enumerated().filter { !$1.label.isEmpty }.map { column, tile in
          text(tile.label, x(of: column), y(of: number) + self.tile.height + 2 * Self.line - 5)
        }
    }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(size.width) \(size.height)" \
      font-family="sans-serif" font-size="12" role="img" aria-label="\(title)">
      <image width="\(size.width)" height="\(size.height)" href="data:image/jpeg;base64,\(picture)"/>
      <text x="\(Self.gap)" y="22" font-size="15">\(title)</text>
      \((heads + labels).joined(separator: "\n"))
      </svg>

      """
  }

  private func text(_ text: String, _ x: Int, _ y: Int) -> String {
    "<text x=\"\(x)\" y=\"\(y)\">\(text)</text>"
  }

  /// All pictures at their places on white.
  private func picture() throws -> Bitmap {
    let layout = PixelLayout(for: size, format: .bgrx32)
    return try Bitmap(layout: layout) { target in
      target.initializeMemory(as: UInt8.self, repeating: 0xFF)
      for (number, row) in rows.enumerated() {
        for (column, tile) in row.tiles.enumerated() {
          tile.bitmap.withUnsafeBytes { source in
            for line in 0..<tile.bitmap.size.height {
              let start = line * tile.bitmap.layout.rowBytes
              let place = (y(of: number) + Self.line + line) * layout.rowBytes + x(of: column) * 4
              UnsafeMutableRawBufferPointer(rebasing: target[place...]).copyMemory(
                from: UnsafeRawBufferPointer(
                  rebasing: source[start..<start + tile.bitmap.size.width * 4]))
            }
          }
        }
      }
    }
  }
}
