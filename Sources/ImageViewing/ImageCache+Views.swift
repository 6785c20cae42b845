public import FastImageCache

extension ImageCache {
  /// Has the views on screen that show an entity's picture look into this cache again, in all formats:
  /// after the picture was stored by hand, or removed.
  ///
  /// A view shows what it finds at once. Where it finds nothing, it keeps what it shows until the
  /// picture is loaded; a load under way begins anew. Views of another version look for theirs.
  ///
  /// Cost: one look at each view, and one lookup for each that can be seen.
  ///
  /// - Parameter entity: Whose picture changed.
  @MainActor public func lookAgain(inViewsOf entity: some ImageEntity) {
    lookAgain(inViewsOf: entity.imageID)
  }

  /// The same for the entity of an id.
  ///
  /// - Parameter id: Whose picture changed.
  @MainActor public func lookAgain(inViewsOf id: ImageID) {
    PicturePlace.lookAgain(for: id, in: self)
  }

  /// Has all views on screen look into this cache again: after ``removeAllImages()``, for example.
  @MainActor public func lookAgainInAllViews() { PicturePlace.lookAgain(for: nil, in: self) }

  /// Asks again for the pictures that failed and can be seen, in the views of all caches.
  ///
  /// For a button, or after signing in. When the network is back, the views ask by themselves.
  @MainActor public static func retryFailedImages() { PicturePlace.retryFailed() }
}
