import CommandSupport
import FastImageCache
import OriginalStore

/// Reads every byte of one store, and names what is damaged.
struct OriginalProof {
  private(set) var damageCount = 0

  init(of store: OriginalFolders.Store) throws {
    var (originalCount, partialCount) = (0, 0)
    var damages: [String] = []
    try store.folder.survey { file in
      try Task.checkCancellation()
      switch file {
      case .original: originalCount += 1
      case .partial(_, let partial) where !partial.isDamaged: partialCount += 1
      case .partial(_, let partial):
        let place = partial.contentByteCount
        damages.append("the partial of \(partial.id) is damaged behind byte \(place)")
      case .damaged(let digest, let isPartial):
        damages.append("the \(isPartial ? "partial" : "original") \(digest.fileName) is damaged")
      }
    }
    damageCount = damages.count
    for damage in damages { Console.print("\(store.title): \(damage)".printable) }
    Console.print(
      "\(store.title): \(originalCount.counted("original"))"
        + (partialCount > 0 ? " and \(partialCount.counted("partial"))" : "") + " intact"
        + (damages.isEmpty ? "" : ", \(damageCount) damaged"))
  }
}
