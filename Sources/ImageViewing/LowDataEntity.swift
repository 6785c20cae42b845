import FastImageCache
import Foundation

/// An entity at the address that is asked for while the user saves data.
///
/// Its images are of the entity's versions, so that they are placeholders of the real ones. Its originals are its own.
struct LowDataEntity: ImageEntity {
  let entity: any ImageEntity

  var imageID: ImageID { entity.imageID }
  var placeholderHash: PlaceholderHash? { entity.placeholderHash }
  func versionID(for format: ImageFormat) -> ImageID { entity.versionID(for: format) }
  func sourceURL(for format: ImageFormat) -> URL? { entity.lowDataURL(for: format) }
  func drawing(for format: ImageFormat) -> Drawing { entity.drawing(for: format) }
  func prerendersFamily(_ family: String) -> Bool { entity.prerendersFamily(family) }
}

extension ImagePlace.Request {
  /// The request for the smaller image of the same entity; `nil` without one, or for a request that reaches no network.
  var lowData: ImagePlace.Request? {
    var conditions = options ?? LoadOptions()
    guard conditions.scope == .network, !conditions.isPlaceholder,
      entity.lowDataURL(for: format) != nil
    else { return nil }
    conditions.isPlaceholder = true
    return with(LowDataEntity(entity: entity), conditions)
  }

  /// The same request, as far as it needs no network.
  private var local: ImagePlace.Request {
    var conditions = options ?? LoadOptions()
    conditions.scope = .local
    return with(entity, conditions)
  }

  private func with(
    _ entity: any ImageEntity, _ options: LoadOptions
  ) -> ImagePlace.Request {
    var request = ImagePlace.Request(entity, format: format, cache: cache, options: options)
    (request.tellsFraction, request.wantsReport) = (tellsFraction, wantsReport)
    return request
  }

  /// The smaller image, if the table has it.
  func cachedLowDataImage() -> CachedImage? {
    guard lowData != nil,
      let (image, preview) = cache.bestCachedImage(
        for: entity, format: format, fallback: .placeholders),
      preview.kind == .placeholder
    else { return nil }
    return image
  }

  /// Loads the image while the user saves data: what needs no network as it is, and else the smaller one.
  func loadSavingData(_ priority: RequestPriority?, _ tell: (Step) -> Void) async {
    guard let lowData else { return await load(priority, tell) }
    var needsNetwork = false
    await local.load(priority) { step in
      if case .failure(.notCached) = step { needsNetwork = true } else { tell(step) }
    }
    guard needsNetwork else { return }
    await lowData.load(priority) { step in
      if case .image(let image) = step { tell(.lowDataImage(image)) } else { tell(step) }
    }
  }
}

extension FallbackPolicy {
  /// Placeholders of the wanted format: other images stand in by the options of a request.
  fileprivate static let placeholders = FallbackPolicy(smallestScale: 1)
}
