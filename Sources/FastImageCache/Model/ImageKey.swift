import ImageSources

/// Names one image: an entity, a version of its image, a format.
struct ImageKey: Hashable, Sendable {
  let entity: ImageID
  let version: ImageID
  let format: String

  /// The key under which a placeholder of the image is stored.
  var placeholder: ImageKey {
    ImageKey(entity: entity, version: version.placeholder, format: format)
  }
}
