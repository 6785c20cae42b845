import Pixels
import TableStore

extension ImageCache {
  /// The closest picture to the wanted one that some table has, at once, from any thread; never loads.
  ///
  /// Where several are there, the first of these that the policy allows:
  ///
  /// 1. the wanted picture itself,
  /// 2. this version in a sibling format with these proportions: in the smallest format that is larger,
  ///    else in the largest,
  /// 3. another version.
  ///
  /// The wanted picture is an ``ImagePreview/Kind/variant(_:)`` of its own format, and settled; no other
  /// picture is. The call is no use of the picture: the order in which pictures make room stays.
  ///
  /// ```swift
  /// if let (image, preview) = cache.closestCachedImage(for: photo, format: .row) {
  ///   show(image)
  ///   print(preview.isSettled ? "the picture" : "until it is loaded")
  /// }
  /// ```
  ///
  /// Cost: a lookup under a lock, and one more for each format of the family until a picture is found. The
  /// first look at a picture of an earlier session reads and checks its pixels.
  ///
  /// - Parameters:
  ///   - entity: Its pictures are looked up.
  ///   - format: One of ``formats``; for any other the answer is `nil`.
  ///   - policy: Which pictures may stand in.
  public nonisolated func closestCachedImage(
    for entity: some ImageEntity, format: ImageFormat, policy: VariantPolicy = VariantPolicy()
  ) -> (image: CachedImage, preview: ImagePreview)? {
    guard let own = tables[format]?.format else { return nil }
    let search = VariantSearch(wanted: own, policy: policy)
    let id = entity.imageID
    var best: (standing: TableVariant.Standing, image: CachedImage, preview: ImagePreview)?
    // The best format first, so that a later picture has to be closer.
    for format in search.formats(among: formats) {
      let key = ImageKey(entity: id, version: entity.versionID(for: format), format: format.name)
      guard let (image, standing) = tables[format]?.variant(for: key),
        best.map({ standing < $0.standing }) ?? true,
        let preview = search.preview(standing, image.size, in: format)
      else { continue }
      best = (standing, image, preview)
      if standing == .current { break }
    }
    return best.map { ($0.image, $0.preview) }
  }
}
