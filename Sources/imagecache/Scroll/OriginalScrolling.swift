import CommandSupport
import FastImageCache
import Foundation
import ImageCodecs
import ImageDrawing

/// Reads the photograph itself, decodes it at reduced size and draws it when it comes into view.
struct OriginalScrolling: ScrollMethod {
  static let name = "decode original"

  let cells: [ScrollCell]
  let size: PixelSize
  let pixelFormat: PixelFormat

  func touch() throws {
    for url in Set(cells.map(\.photo.url)) { _ = try FileReader.read(LocalPath(url)) }
  }

  func image(ofCell cell: Int) throws -> Bitmap {
    let drawing = cells[cell].drawing
    let data = try FileReader.read(LocalPath(cells[cell].photo.url))
    let decoder = try ImageDecoders.standard.decoder(for: data)
    let fullSize = try decoder.header(of: data).size
    let drawn = drawing.minimumSourceSize(source: fullSize, slot: size, upTo: false)
    // Twice the drawn size, as the cache decodes it.
    let wanted = PixelSize(
      width: min(drawn.width * 2, fullSize.width), height: min(drawn.height * 2, fullSize.height))
    let source = try decoder.decode(data, DecodeRequest(minimumSize: wanted))
    return try source.drawn(drawing, size, pixelFormat)
  }
}
