import Foundation

/// One picture that somebody asked for and no table has.
final class ImageRequest: Sendable {
  let entity: any ImageEntity
  let table: ImageTable
  let key: ImageKey
  let url: URL?
  /// All formats that the cache has.
  let tables: TableSet
  /// The questions that the task works on which made the request.
  let contexts = ReentrancyContext.current
  /// Called when the load goes ahead: its source is about to be asked, or whoever has the picture
  /// already. Perhaps more than once, and not where the load ends before.
  let whenLoading: (@Sendable () -> Void)?

  var format: ImageFormat { table.format }

  /// What requests are joined by.
  var origin: FlightOrigin { url.map { .url($0) } ?? .entity(key.entity) }

  init(
    entity: any ImageEntity, table: ImageTable, tables: TableSet,
    whenLoading: (@Sendable () -> Void)? = nil
  ) {
    self.whenLoading = whenLoading
    self.entity = entity
    self.table = table
    self.tables = tables
    key = ImageKey(
      entity: entity.imageID, version: entity.versionID(for: table.format),
      format: table.format.name)
    url = entity.sourceURL(for: table.format)
  }

  /// What the entity would be asked for in each other format of the cache.
  func versionsElsewhere() -> [ImageKey] {
    tables.all.filter { $0 !== table }.map { other in
      ImageKey(
        entity: key.entity, version: entity.versionID(for: other.format), format: other.format.name)
    }
  }

  /// The requests for the other formats of the family, unless the entity lets none draw along.
  func family() -> [ImageRequest] {
    guard let family = format.family, entity.wantsAllFormats(inFamily: family) else { return [] }
    return tables.family(family).filter { $0.format.name != key.format && $0.isStored }
      .map { ImageRequest(entity: entity, table: $0, tables: tables) }
  }

  /// Those of the family that want the same source and are missing.
  func siblings() -> [ImageRequest] {
    family().filter { $0.url == url && !$0.table.contains($0.key) }
  }
}

/// One running load: who it is, what it holds, and what it may ask of the registry.
final class Flight: Sendable {
  let id: FlightID
  let url: URL?
  let urgency: Urgency
  /// That of the flight's task, and of the tasks that its source or an entity begins, unless these
  /// choose another.
  let taskPriority: Priority
  let permit: LoadPermit
  let progress = FlightProgress()
  /// Lives on at least until the flight is over.
  let registry: InFlightRegistry

  init(
    id: FlightID, url: URL?, priority: Priority, gates: LoadGates, registry: InFlightRegistry
  ) {
    (self.id, self.url, self.registry) = (id, url, registry)
    urgency = Urgency(priority)
    taskPriority = priority
    permit = LoadPermit(gates: gates, urgency: urgency)
  }
}
