package import FastImageCache

extension ImagePlace {
  /// An image of one cache. With options it is loaded by them, previews first; an image that the table has is
  /// shown whatever they say.
  package struct Request: Sendable {
    package let entity: any ImageEntity
    package let format: ImageFormat
    package let cache: ImageCache
    package let options: LoadOptions?
    /// Whether the place is told which part of the bytes has arrived.
    package var tellsFraction = false
    /// Whether the place has a report of the load, for debugging.
    package var wantsReport = false

    package init(
      _ entity: any ImageEntity, format: ImageFormat, cache: ImageCache, options: LoadOptions? = nil
    ) {
      (self.entity, self.format, self.cache, self.options) = (entity, format, cache, options)
    }

    var target: PlaceTarget {
      PlaceTarget(
        cache: ObjectIdentifier(cache), entity: entity.imageID, format: format,
        version: entity.versionID(for: format), options: options)
    }
  }
}

/// The image of one version of one entity, in one format of one cache.
struct PlaceTarget: DisplayTarget {
  let cache: ObjectIdentifier
  let entity: ImageID
  let format: ImageFormat
  let version: ImageID
  let options: LoadOptions?

  /// In another format of its family, too: the one may stay until the other comes.
  func isOfSameImage(as other: PlaceTarget) -> Bool {
    guard (cache, entity) == (other.cache, other.entity) else { return false }
    return format.name == other.format.name
      || format.family != nil && format.family == other.format.family
  }
}
