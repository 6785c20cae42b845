import ImageSources
import Pixels
package import TableStore

/// The frames of animations behind their first ones. A frame is an image of an entity of its own, which its animation's
/// entity and its index make; its version is the nonce of its load.
///
/// Invariants:
/// 1. A frame is stored only while the table has its animation's first frame, of the same load.
/// 2. A frame is found only by the nonce that its first frame tells. So frames of two loads are never mixed.
/// 3. What removes or replaces a first frame removes the frames that it tells of.
extension ImageTable {
  /// What the slot of an animation's first frame tells.
  ///
  /// - Parameters:
  ///   - nonce: That of the load.
  ///   - metadataByteCount: The metadata beside it.
  /// - Returns: `.unkept` for an animation that is beyond the format's limit, or that the table has no room for.
  nonisolated func motion(
    of timeline: AnimationTimeline, nonce: UInt64, metadataByteCount: Int
  ) -> SlotMotion {
    guard case .allFrames(let byteLimit) = format.animation, let store else {
      return .unkept(nonce: nonce)
    }
    let motion = SlotMotion.stored(StoredMotion(nonce: nonce, timeline: timeline))
    let bytes = timeline.frameCount.multipliedReportingOverflow(by: store.slotByteCount)
    let room = format.metadataByteLimit + SlotMotion.leastByteCount
    guard !bytes.overflow, bytes.partialValue <= byteLimit, timeline.frameCount <= store.slotCount,
      motion.bytes.count + metadataByteCount <= room
    else { return .unkept(nonce: nonce) }
    return motion
  }

  /// Frames that are looked for where no first frame tells how many there are.
  static let searchedFrameCount = 4096

  /// Whether the table has an image and all frames behind it.
  ///
  /// - Parameter unkept: The answer for an animation whose frames are not kept.
  nonisolated func hasAllFrames(of key: ImageKey, orUnkept unkept: Bool = false) -> Bool {
    switch cachedImage(for: key)?.motion {
    case nil: return false
    case .still: return true
    case .unkept: return unkept
    case .stored(let motion):
      return (1..<motion.timeline.frameCount).allSatisfy { hasFrame($0, of: key.entity, motion) }
    }
  }

  /// A frame behind the first, if the table has it.
  ///
  /// - Parameter verifies: Whether one of an earlier session is read and checked.
  nonisolated func frame(
    _ index: Int, of entity: ImageID, _ motion: StoredMotion, verifies: Bool
  ) -> CachedImage? {
    let key = motion.key(of: index, of: entity)
    let entry =
      verifies
      ? store?.entry(for: key) : store?.verifiedEntry(entity: key.entity, version: key.version)
    return entry.map { image(of: $0) }
  }

  /// Whether the table has a frame behind the first; it was perhaps not checked yet.
  nonisolated func hasFrame(_ index: Int, of entity: ImageID, _ motion: StoredMotion) -> Bool {
    store?.contains(motion.key(of: index, of: entity)) == true
  }

  /// Stores a frame in a turn of the actor's queue, on a worker's thread.
  ///
  /// - Parameter mayStore: The turn begins with this question; it must not wait.
  /// - Returns: A lease; `nil` where the frame is not stored, since the first frame of its load is not there any more,
  ///   or since the table cannot take it.
  nonisolated func storeFrame(
    _ drawn: SealedSlot, of key: ImageKey, _ motion: StoredMotion, _ recorder: CacheRecorder,
    if mayStore: @Sendable () -> Bool
  ) -> CachedImage? {
    let stored = executor.runBlocking { () -> Result<Insertion?, TableError> in
      guard let store, mayStore(), cachedImage(for: key)?.motion.nonce == motion.nonce else {
        return .success(nil)
      }
      return Result { () throws(TableError) in try store.insert(drawn) }
    }
    switch stored {
    case .failure(let error):
      note(error)
      recorder.storeFailed(key, reason: "\(error)")
      return nil
    case .success(let insertion):
      tell(insertion?.eviction, recorder)
      return insertion.map { image(of: $0.entry) }
    }
  }

  /// The frames behind the first one that an entity has, as that one tells; none in a table that keeps no animations.
  ///
  /// - Parameter count: Frames that there may be where no first one tells, since it was evicted or damaged.
  nonisolated func frames(of entity: TableID, orUpTo count: Int = 1) -> [TableID] {
    guard format.hasAnimations, let store else { return [] }
    let first = store.variant(of: TableKey(entity: entity, version: entity))
    let count = first.map { image(of: $0.entry).motion.frameCount } ?? count
    return (1..<max(count, 1)).map { entity.frame($0) }
  }

  /// Gives an animation's frames to another entity, in a turn; its image has moved.
  ///
  /// - Parameter replaced: The frames that the other entity had.
  nonisolated func moveFrames(
    from old: ImageID, to new: ImageID, _ first: CachedImage, _ replaced: [TableID],
    in store: Table
  ) throws(TableError) {
    try store.removeFrames(replaced)
    for index in 1..<max(first.motion.frameCount, 1) {
      _ = try store.changeEntity(from: old.tableID.frame(index), to: new.tableID.frame(index))
    }
  }

  /// Removes those of the listed images in whose place no other one was stored, with their frames.
  func remove(_ listed: [TableEntryInfo]) throws(ImageCacheError) -> [TableEntryInfo] {
    try write { store throws(TableError) in
      try store.remove(listed, withFrames: format.hasAnimations)
    } ?? []
  }
}

extension Table {
  /// Removes those of the listed images in whose place no other one was stored.
  ///
  /// - Parameter withFrames: Whether the table keeps animations, whose frames are removed with the first.
  /// - Returns: The removed images, without frames.
  package func remove(
    _ listed: [TableEntryInfo], withFrames: Bool
  ) throws(TableError) -> [TableEntryInfo] {
    let removed = try remove(listed)
    for info in removed where withFrames {
      let count = SlotMotion.parting(info.metadata).motion.frameCount
      try removeFrames((1..<max(count, 1)).map { info.frame($0) })
    }
    return removed
  }

  /// Removes the frames that there are of these.
  func removeFrames(_ frames: some Sequence<TableID>) throws(TableError) {
    for frame in frames where contains(frame) { _ = try remove(frame) }
  }
}

extension StoredMotion {
  /// The key of a frame behind the first.
  func key(of index: Int, of entity: ImageID) -> TableKey { key(of: entity.tableID.frame(index)) }

  /// The key of a frame behind the first whose entity is known.
  package func key(of frame: TableID) -> TableKey {
    TableKey(entity: frame, version: TableID(nonce))
  }
}
