import CommandSupport
import OriginalStore
import TableStore

/// Removes the originals and partials of one store, or those of them that a filter picks.
struct OriginalClearing {
  let store: OriginalFolders.Store
  let filter: PictureFilter

  private struct Name: Hashable {
    let digest: OriginalDigest
    let isPartial: Bool
  }

  /// - Returns: False for a store that another program has open.
  func run() throws -> Bool {
    let folder = store.folder
    guard let index = try folder.ownIndex() else { return false }
    // Deletes what a killed process had begun.
    _ = try folder.sweep()
    let names = try filter.isEmpty ? allNames() : passingNames()
    for name in names {
      try Task.checkCancellation()
      if name.isPartial {
        try folder.removePartial(name.digest)
      } else {
        try folder.remove(name.digest)
      }
    }
    for (place, record) in index.records
    where names.contains(
      Name(digest: record.key, isPartial: record.flags.contains(.partial)))
    { try index.clear(place) }
    try folder.synchronize()
    let partialCount = names.count { $0.isPartial }
    Console.print(
      "\(store.title): \((names.count - partialCount).counted("original"))"
        + (partialCount > 0 ? " and \(partialCount.counted("partial"))" : "") + " removed")
    return true
  }

  private func allNames() throws -> Set<Name> {
    let (originals, partials) = try store.folder.names()
    return Set(
      originals.map { Name(digest: $0, isPartial: false) }
        + partials.map { Name(digest: $0, isPartial: true) })
  }

  /// Damaged files pass no filter: nothing is known of them.
  private func passingNames() throws -> Set<Name> {
    var names: Set<Name> = []
    try store.folder.survey { file in
      try Task.checkCancellation()
      switch file {
      case .original(let digest, let original):
        if filter.passes([original.id, original.facts.entity], original.facts) {
          names.insert(Name(digest: digest, isPartial: false))
        }
      case .partial(let digest, let partial):
        if filter.passes([partial.id, partial.facts.entity], partial.facts) {
          names.insert(Name(digest: digest, isPartial: true))
        }
      case .damaged: return
      }
    }
    return names
  }
}
