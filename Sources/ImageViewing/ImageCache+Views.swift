public import FastImageCache

extension ImageCache {
  /// Has the views on screen that show an entity's image look into this cache again, in all formats:
  /// after the image was stored by hand, or removed.
  ///
  /// A view shows what it finds at once. Where it finds nothing, it keeps what it shows until the
  /// image is loaded; a load under way begins anew. Views of another version look for theirs.
  ///
  /// Cost: one look at each view, and one lookup for each that can be seen.
  ///
  /// - Parameter entity: Whose image changed.
  @MainActor public func reloadViews(of entity: some ImageEntity) {
    reloadViews(of: entity.imageID)
  }

  /// The same for the entity of an id.
  ///
  /// - Parameter id: Whose image changed.
  @MainActor public func reloadViews(of id: ImageID) {
    ImagePlace.reload(for: id, in: self)
  }

  /// Has all views on screen look into this cache again: after ``removeAllImages()``, for example.
  @MainActor public func reloadAllViews() { ImagePlace.reload(for: nil, in: self) }

  /// Asks again for the images that failed and can be seen, in the views of all caches.
  ///
  /// For a button, or after signing in. When the network is back, the views ask by themselves.
  @MainActor public static func retryFailedImages() { ImagePlace.retryFailed() }
}
