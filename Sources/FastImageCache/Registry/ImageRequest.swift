import Foundation
import ImageSources
import LoadQueue
import Locking
import Pixels
import TableStore

/// One request for an image that no table has.
final class ImageRequest: Sendable {
  let entity: any ImageEntity
  let table: ImageTable
  /// The image that its load stores: of the version of a placeholder, if the request is content with one.
  let key: ImageKey
  /// The real image.
  let realKey: ImageKey
  /// The number of its call.
  let generation: Int
  /// Its subscriber, if it waits: once.
  var subscriber: SubscriberID { SubscriberID(number: generation) }
  let url: URL?
  /// `nil` for a request without conditions.
  let options: LoadOptions?
  // The options that each load reads, since reading them there would copy all.
  let policy: LoadOptions.CachePolicy
  let isPlaceholder: Bool
  let storage: LoadOptions.Storage
  let originalLifetime: LoadOptions.OriginalLifetime?
  let conditions: LoadConditions
  let priority: RequestPriority?
  /// All formats that the cache has.
  let tables: TableSet
  /// The question that the requesting task works on.
  let callback = ActiveCallback.current
  /// Takes the animation, if all frames are asked for.
  let animation: AnimationAnswer?
  /// Called when the load goes ahead: when its source is about to be asked, or when another load or
  /// the entity has the image. Perhaps more than once, and never where the load ends before.
  let whenLoading: (@Sendable () -> Void)?
  /// The load that has shown the stale original which this request revalidates.
  let shownBy: OriginalLoad?

  var format: ImageFormat { table.format }

  /// The image that its table has: the wanted one, or else the placeholder, if the request is content with
  /// one.
  func storedImage() -> CachedImage? {
    if key.isAnimation, !table.hasAllFrames(of: realKey) { return nil }
    return table.cachedImage(for: realKey) ?? (isPlaceholder ? table.cachedImage(for: key) : nil)
  }

  /// When the image that stands in the table was stored, in seconds since 1970.
  var dateStored: Int64? {
    table.store?.storedImageState(for: realKey.tableKey).map { Int64($0.generation / 1_000_000) }
  }

  /// Whether ``storedImage()`` would find an image; for an animation also whether the table keeps its first frame only.
  var isStored: Bool {
    key.isAnimation
      ? table.hasAllFrames(of: realKey, orUnkept: true)
      : table.contains(realKey) || isPlaceholder && table.contains(key)
  }

  /// Whether the frames behind the first are kept too. A placeholder has one.
  var wantsFrames: Bool { format.hasAnimations && !isPlaceholder }

  /// Whether the device is locked, and with it the image that its table has.
  var isProtectedNow: Bool {
    guard let store = table.store else { return false }
    return store.isProtectedNow(realKey.tableKey)
      || isPlaceholder && store.isProtectedNow(key.tableKey)
  }

  /// The version that the entity names itself; `nil` for the default one.
  var explicitVersion: ImageID? {
    let isDefault = url.map(realKey.version.isAddress) ?? (realKey.version == realKey.entity)
    return isDefault ? nil : realKey.version
  }

  /// Finds the original in a store, for an image of a namespace.
  ///
  /// - Parameter version: That of the request's load, if it is explicit.
  func originalQuery(in namespace: ImageID, _ version: ImageID? = nil) -> OriginalQuery {
    let name = OriginalName(
      id: entity.originalID(for: format), account: options?.account,
      address: url.map { ImageID($0) } ?? key.entity)
    let owner = OriginalOwner(namespace: namespace, entity: key.entity)
    return OriginalQuery(
      name: name, version: version ?? realKey.version, owner: owner, suffices: isCovered)
  }

  /// Whether an original of some size has enough pixels for this image.
  func isCovered(by size: PixelSize) -> Bool {
    entity.drawing(for: format).isCovered(
      by: size, slot: format.size, upTo: format.keepsProportions)
  }

  init(
    entity: any ImageEntity, table: ImageTable, tables: TableSet, options: LoadOptions? = nil,
    animation: AnimationAnswer? = nil, generation: Int = Generation.next(),
    whenLoading: (@Sendable () -> Void)? = nil, shownBy: OriginalLoad? = nil
  ) {
    self.generation = generation
    (self.whenLoading, self.shownBy) = (whenLoading, shownBy)
    self.options = options
    policy = options?.cachePolicy ?? .useCache
    isPlaceholder = options?.isPlaceholder == true
    storage = options?.storage ?? .all
    originalLifetime = options?.originalLifetime
    conditions = options?.conditions ?? .ordinary
    priority = options?.priority
    self.entity = entity
    self.table = table
    self.tables = tables
    realKey = ImageKey(
      entity: entity.imageID, version: entity.versionID(for: table.format),
      format: table.format.name, isAnimation: animation != nil)
    self.animation = animation
    key = isPlaceholder ? realKey.placeholder : realKey
    url = entity.sourceURL(for: table.format)
  }

  /// The entity's images in the other formats of the cache, each in its present version.
  func versionsElsewhere() -> [ImageKey] {
    tables.all.filter { $0 !== table }.map { other in
      let real = ImageKey(
        entity: key.entity, version: entity.versionID(for: other.format), format: other.format.name)
      return isPlaceholder ? real.placeholder : real
    }
  }

  /// The requests for the other formats of the family, unless the entity refuses to draw them too.
  func family() -> [ImageRequest] {
    guard let family = format.family, entity.prerendersFamily(family) else { return [] }
    return others(among: tables.family(family))
  }

  /// The requests for the entity's images in other formats that are stored; of a placeholder for
  /// placeholders.
  private func others(among tables: [ImageTable]) -> [ImageRequest] {
    tables.filter { $0 !== table && $0.isStored }.map {
      ImageRequest(
        entity: entity, table: $0, tables: self.tables,
        options: isPlaceholder ? .placeholder : nil, generation: generation)
    }
  }

  /// The requests of the family that have the same source and whose images are missing.
  func siblings() -> [ImageRequest] {
    family().filter { $0.url == url && !$0.isStored }
  }

  /// The requests for the entity's other images that a table has and that have the same source: for a
  /// placeholder the placeholders among them, else the real ones.
  func outdated() -> [ImageRequest] {
    others(among: tables.all).filter {
      $0.url == url && $0.table.contains($0.key)
    }
  }

  /// The same request, for an image whose source was asked whether it changed.
  func revalidating(
    keeping storage: LoadOptions.Storage, shownBy load: OriginalLoad
  ) -> ImageRequest {
    var options = self.options ?? LoadOptions()
    options.cachePolicy = .revalidate
    options.storage = storage
    // Nobody waits for it.
    options.priority = nil
    return ImageRequest(
      entity: entity, table: table, tables: tables, options: options, shownBy: load)
  }
}

/// The animation that a load hands to one request before it answers it with the first frame.
final class AnimationAnswer: Sendable {
  private let given = Lock<CachedAnimation?>(nil)

  var animation: CachedAnimation? { given.withLock { $0 } }

  func give(_ animation: CachedAnimation) { given.withLock { $0 = animation } }
}

extension LoadOptions {
  /// The conditions of the images that are drawn along with a placeholder.
  fileprivate static let placeholder: LoadOptions = {
    var options = LoadOptions()
    options.isPlaceholder = true
    return options
  }()
}
