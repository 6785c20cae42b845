import ImageSources

/// Names one image: an entity, a version of its image, a format.
struct ImageKey: Hashable, Sendable {
  let entity: ImageID
  let version: ImageID
  let format: String
  /// Whether all frames are meant. The request for them is answered after the one for the image, by the same load.
  var isAnimation = false

  /// The key under which a placeholder of the image is stored.
  var placeholder: ImageKey {
    ImageKey(entity: entity, version: version.placeholder, format: format)
  }

  /// The key of all frames.
  var animation: ImageKey {
    ImageKey(entity: entity, version: version, format: format, isAnimation: true)
  }

  /// The key of the image, which is the first frame.
  var image: ImageKey { ImageKey(entity: entity, version: version, format: format) }
}
