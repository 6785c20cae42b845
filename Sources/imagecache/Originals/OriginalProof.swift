import CommandSupport
import FastImageCache

/// Reads every byte of one store, and names what is damaged.
struct OriginalProof {
  private(set) var damageCount = 0

  init(of store: OriginalFolders.Store) async throws {
    let originals = try await store.store.inspect()
    var intact = (originals: 0, partials: 0)
    for original in originals.sorted(by: { "\($0.id)" < "\($1.id)" }) {
      try Task.checkCancellation()
      let kind = original.isUnfinished ? "partial" : "original"
      guard try await store.store.isIntact(original) else {
        damageCount += 1
        Console.print("\(store.title): the \(kind) \(original.id) is damaged".printable)
        continue
      }
      if original.isUnfinished { intact.partials += 1 } else { intact.originals += 1 }
    }
    Console.print(
      "\(store.title): \(intact.originals.counted("original"))"
        + (intact.partials > 0 ? " and \(intact.partials.counted("partial"))" : "") + " intact"
        + (damageCount == 0 ? "" : ", \(damageCount) damaged"))
  }
}

extension Original {
  var isUnfinished: Bool { arrivedByteCount < byteCount }
}
