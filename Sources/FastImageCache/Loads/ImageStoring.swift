/// Stores the images of loads in their tables.
struct ImageStoring: Sendable {
  let recorder: CacheRecorder

  /// Stores a drawn image, on the worker's thread; the image is private where that fails, or is not wanted.
  func store(
    _ drawn: DrawnResult, for request: ImageRequest, of load: Load, as storage: LoadOptions.Storage
  ) -> (outcome: InFlightRegistry.Outcome, isStored: Bool) {
    var isStored = false
    let outcome = drawn.map { drawn in
      let slot = drawn.slot
      guard storage == .all else { return request.table.privateImage(slot) }
      guard drawn.mayBeStored else {
        recorder.refused(request.key)
        return request.table.privateImage(slot)
      }
      if let refusal = request.table.refusal(of: drawn.metadata, for: request.key) {
        // A later hit would lack the metadata.
        recorder.storeFailed(request.key, reason: refusal.description)
        return request.table.privateImage(slot)
      }
      let start = load.progress.now
      defer { load.progress.measure(\.store, since: start) }
      let stored = try? request.table.store(
        slot, for: request.key, recorder,
        StoreOrder(
          begun: load.id.number, request: request.generation,
          outdatesOthers: load.policy != .useCache, asked: load.progress.asked),
        oldest: { load.registry.oldest }, if: { load.isUnderWay })
      isStored = stored?.isStored == true
      // The recorder has the reason.
      return stored?.image ?? request.table.privateImage(slot)
    }
    return (outcome, isStored)
  }
}
