import FastImageCache
import Foundation
import ImageCodecs
import ImageDrawing
import TableStore

/// The parts of a miss, called one after the other on the calling thread: the cost without joining,
/// cancelling or waiting.
struct BareMiss: Sendable {
  let format: ImageFormat
  private let table: Table

  /// - Parameter cache: Its table keeps the images.
  init(_ cache: ImageCache, _ format: ImageFormat) throws {
    self.format = format
    table = try Gallery.table(of: cache, format)
  }

  /// Reads, decodes, draws and stores.
  func run(for image: BenchImage) throws {
    guard let file = image.file else { throw BenchFailure.missingImage }
    let data = try Data(contentsOf: file)
    let decoder = try ImageDecoders.standard.decoder(for: data)
    let fullSize = try decoder.header(of: data).size
    let drawing = image.drawing(for: format)
    let drawn = drawing.minimumSourceSize(source: fullSize, slot: format.size, upTo: false)
    let minimum = DecodeMargin.balanced.minimumSize(for: drawn, of: fullSize)
    var request = DecodeRequest(minimumSize: minimum)
    request.hasMargin = true
    request.region = drawing.sourceRegion(source: fullSize, slot: format.size, upTo: false)
    let bitmap = try decoder.decode(data, request)
    let layout = PixelLayout(for: format.size, format: format.pixelFormat)
    try Gallery.insert(for: image, format.size, into: table) { bytes in
      try drawing.draw(
        bitmap, into: bytes, layout: layout, scale: format.scale, upTo: false,
        isCancelled: { false })
    }
  }

  func close() { table.close() }
}
