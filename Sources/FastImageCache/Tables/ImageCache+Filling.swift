package import Pixels

extension ImageCache {
  /// Draws a bitmap as the entity wants it and stores it, on the calling thread.
  ///
  /// For a cache that nobody else has yet, whose tables are idle: neither loads nor listeners are told,
  /// and the family is not drawn along.
  package nonisolated func fill(
    _ bitmap: Bitmap, for entity: some ImageEntity, format: ImageFormat
  ) throws(ImageCacheError) {
    let request = try request(for: entity, format: format)
    let drawn = try maker.draw(request, bitmap, of: bitmap.size) { false }.get()
    let image = try request.table.storeIfIdle(drawn, for: request.key, recorder) { true }
    precondition(image != nil, "A cache that is being filled is nobody else's yet.")
  }
}
