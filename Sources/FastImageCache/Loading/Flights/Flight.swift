package import Foundation

/// One picture that somebody asked for and no table has.
package final class ImageRequest: Sendable {
  package let entity: any ImageEntity
  package let table: ImageTable
  package let key: ImageKey
  package let url: URL?
  /// All formats that the cache has.
  package let tables: TableSet
  /// Who waits for the task that made the request.
  package let asking = Asking.current
  /// Called when the load goes ahead: its source is about to be asked, or whoever has the picture
  /// already. Perhaps more than once, and not where the load ends before.
  package let whenLoading: (@Sendable () -> Void)?

  package var format: ImageFormat { table.format }

  /// What requests are joined by.
  package var origin: FlightOrigin { url.map { .url($0) } ?? .entity(key.entity) }

  package init(
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
  package func versionsElsewhere() -> [ImageKey] {
    tables.all.filter { $0 !== table }.map { other in
      ImageKey(
        entity: key.entity, version: entity.versionID(for: other.format), format: other.format.name)
    }
  }

  /// The requests for the other formats of the family, unless the entity lets none draw along.
  package func family() -> [ImageRequest] {
    guard let family = format.family, entity.wantsAllFormats(inFamily: family) else { return [] }
    return tables.family(family).filter { $0.format.name != key.format && $0.isStored }
      .map { ImageRequest(entity: entity, table: $0, tables: tables) }
  }

  /// Those of the family that want the same source and are missing.
  package func siblings() -> [ImageRequest] {
    family().filter { $0.url == url && !$0.table.contains($0.key) }
  }
}

/// What a running load knows of itself.
package struct Flight: Sendable {
  package let id: FlightID
  package let url: URL?
  package let urgency: Urgency
  /// That of the flight's task, and of the tasks that its source or an entity begins, unless these
  /// choose another.
  let taskPriority: Priority
  package let permit: LoadPermit
  package let progress = FlightProgress()

  package init(id: FlightID, url: URL?, priority: Priority, gates: LoadGates) {
    self.id = id
    self.url = url
    urgency = Urgency(priority)
    taskPriority = priority
    permit = LoadPermit(gates: gates, urgency: urgency)
  }
}
