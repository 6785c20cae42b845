import FastImageCache
import ImageDrawing

extension Bitmap {
  /// The image drawn anew into another size, in sRGB.
  func drawn(
    _ drawing: Drawing, _ size: PixelSize, _ format: PixelFormat = .bgrx32
  ) throws -> Bitmap {
    try Bitmap(size: size, format: format) { target, layout in
      try drawing.draw(self, into: target, layout: layout, scale: 1, upTo: false) { false }
    }
  }
}
