package import Pixels

extension ImageCache {
  /// Draws a bitmap as the entity wants it and stores it, on the calling thread.
  ///
  /// For a cache that no other code has yet: loads under way are not told, and the family is not drawn
  /// along.
  package nonisolated func fill(
    _ bitmap: Bitmap, for entity: some ImageEntity, format: ImageFormat
  ) throws(ImageCacheError) {
    let request = try request(for: entity, format: format)
    let drawn = try maker.drawing.draw(request, bitmap, of: bitmap.size) { false }.get()
    _ = try request.table.store(
      drawn, for: request.key, recorder, .byHand(at: request.generation), oldest: { .max })
  }
}
