import Foundation
import ImageSources
import Locking
import Pixels
import TableStore

/// One format's images, and the order in which one cache changes their table.
///
/// Each store, removal and flush is one turn of the actor's queue: a task awaits its turn, a worker
/// blocks its thread. The lock for writers below remains, because other caches of the process, the
/// fault guard and the table's last close write to the same file. A hit takes no turn: it reads the
/// published index on its caller's thread, and never waits for a write.
///
/// Invariants:
/// 1. This cache changes the table in turns of the queue only.
/// 2. A turn may wait for the disk but never for a worker, since workers wait for turns.
/// 3. `store` and `format` never change, so they are reached without isolation.
actor ImageTable {
  nonisolated let format: ImageFormat

  /// `nil` where images of this format are not kept on this kind of device.
  nonisolated let store: Table?
  private nonisolated let slots: PrivateSlots
  nonisolated let executor: SerialQueueExecutor
  private var order = TableOrder()
  /// Of the last store that was refused.
  nonisolated let storeFailure = Lock<TableError?>(nil)

  /// Whether images of this format are kept.
  nonisolated var isStored: Bool { store != nil }

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  init(format: ImageFormat, slots: PrivateSlots, store: Table?) {
    self.format = format
    self.slots = slots
    self.store = store
    executor = SerialQueueExecutor(label: "FastImageCache.table.\(format.name)")
  }

  /// Valid as long as this table lives.
  nonisolated var row: TableSet.Row {
    TableSet.Row(
      format: .passUnretained(format.fields), table: .passUnretained(self),
      store: store.map { .passUnretained($0) }, pixelFormat: format.pixelFormat, scale: format.scale
    )
  }

  // MARK: Reading, from any thread

  /// A lease on the image, if the table has it: the second look of a miss. A hit does not come here;
  /// `TableSet.cachedImage` asks the store.
  nonisolated func cachedImage(for key: ImageKey) -> CachedImage? {
    store?.entry(for: key.tableKey).map { image(of: $0) }
  }

  /// Looks in a turn of the actor's queue, for an image that has to be read and checked first.
  func verified(_ look: @Sendable () -> CachedImage?) -> CachedImage? {
    Task.isCancelled ? nil : look()
  }

  nonisolated func contains(_ key: ImageKey) -> Bool {
    store?.contains(key.tableKey) ?? false
  }

  /// An image of whichever version.
  nonisolated func contains(_ entity: ImageID) -> Bool {
    store?.contains(entity.tableID) ?? false
  }

  /// The image of the key's entity, perhaps of another version, which counts as used.
  nonisolated func variant(
    for key: ImageKey
  ) -> (image: CachedImage, standing: TableVariant.Standing)? {
    store?.variant(of: key.tableKey).map { (image(of: $0.entry), $0.standing) }
  }

  /// True when the device is locked, and the table can neither show nor take an image.
  nonisolated var isLocked: Bool { store?.isLocked ?? false }

  nonisolated func image(of entry: TableEntry) -> CachedImage {
    CachedImage(entry: entry, pixelFormat: format.pixelFormat, scale: format.scale)
  }

  /// The next entries of a listing, on a thread that may wait for the disk; none at its end, and none
  /// where images are not kept.
  nonisolated func entries(
    from cursor: inout ListingCursor
  ) throws(ImageCacheError) -> [CacheEntry] {
    guard let store else { return [] }
    do throws(TableError) {
      while true {
        let listed = try store.list(&cursor)
        let entries = listed.filter { !$0.isFrame }.map {
          CacheEntry($0, format: format, byteCount: store.slotByteCount)
        }
        if !entries.isEmpty || listed.isEmpty { return entries }
      }
    } catch {
      throw ImageCacheError(error)
    }
  }

  // MARK: Drawing, on a worker

  /// Draws an image into scratch memory, ready for ``store(_:for:_:if:)``.
  ///
  /// - Parameters:
  ///   - size: At most the format's size, in pixels.
  ///   - source: The size of the source's image, if the slot is to tell it.
  ///   - metadata: Bytes to be stored beside the pixels; left out if there is no room for them.
  ///   - isDamaged: Whether the image shows a part of a damaged file.
  ///   - motion: Tells of the frames behind this one.
  ///   - draw: Writes every byte that the layout has; they may be those of another image before.
  nonisolated func drawSlot(
    for key: ImageKey, size: PixelSize, source: PixelSize? = nil, metadata: Data = Data(),
    isDamaged: Bool = false,
    motion: SlotMotion = .still,
    _ draw: (UnsafeMutableRawBufferPointer, PixelLayout) throws -> Void
  ) throws -> SealedSlot {
    let kept = refusal(of: metadata, for: key) == nil ? Array(metadata) : []
    return try drawSlot(
      for: isDamaged ? key.tableKey.damaged : key.tableKey, size: size, source: source,
      bytes: format.hasAnimations ? motion.bytes + kept : kept, draw)
  }

  /// - Parameter bytes: Those beside the pixels.
  nonisolated func drawSlot(
    for key: TableKey, size: PixelSize, source: PixelSize? = nil, bytes: [UInt8] = [],
    _ draw: (UnsafeMutableRawBufferPointer, PixelLayout) throws -> Void
  ) throws -> SealedSlot {
    guard let layout = PixelLayout(size: size, format: format.pixelFormat),
      let buffer = slots.makeBuffer()
    else { throw BitmapError.outOfMemory(byteCount: slots.geometry.pixelByteCount) }
    try draw(UnsafeMutableRawBufferPointer(rebasing: buffer.pixels[..<layout.byteCount]), layout)
    UnsafeMutableRawBufferPointer(rebasing: buffer.pixels[layout.byteCount...])
      .initializeMemory(as: UInt8.self, repeating: 0)
    let extent = SlotExtent(width: size.width, height: size.height)
    let source = source.map {
      SourceExtent(width: UInt32(clamping: $0.width), height: UInt32(clamping: $0.height))
    }
    return try buffer.sealed(key: key, extent: extent, source: source, metadata: bytes)
  }

  /// Why an image with this metadata is not stored; `nil` where there is room.
  ///
  /// - Parameter motion: What the slot tells of frames; by default what takes the room that the format leaves for it.
  nonisolated func refusal(
    of metadata: Data, for key: ImageKey, beside motion: SlotMotion? = nil
  ) -> ImageCacheError? {
    let reserved = motion.map { max($0.bytes.count - SlotMotion.leastByteCount, 0) } ?? 0
    let limit = format.metadataByteLimit - reserved
    guard metadata.count > limit else { return nil }
    return .metadataTooLarge(
      entity: key.entity, format: key.format, byteCount: metadata.count, limit: limit)
  }

  /// A lease on the drawn image in private memory, which no table keeps.
  nonisolated func privateImage(_ drawn: SealedSlot) -> CachedImage {
    image(of: TableEntry(keepingPrivate: drawn))
  }

  // MARK: Giving memory back

  /// Frees the buffers that are kept for the next drawings, from any thread.
  nonisolated func freeSpareBuffers() {
    slots.freeSpareBuffers()
    store?.freeSpareBuffers()
  }

  /// Has the system take the pages of images that nobody holds before others; from any thread, takes no
  /// turn.
  nonisolated func coolPages() { store?.coolPages() }

  // MARK: Writing

  /// Stores a drawn image in a turn of the actor's queue, on the calling thread, which must be one
  /// that may block: it waits for the turns before, and for the disk.
  ///
  /// - Parameters:
  ///   - order: Tells it from removals and other stores, which may come first.
  ///   - oldest: The lowest number of a load or store that lives; asked in the turn, now and then.
  ///   - mayStore: The turn begins with this question; it must not wait.
  /// - Returns: A lease on the stored image. It is private and not stored if `mayStore` is false, if something
  ///   younger was stored or removed, if all slots are leased, if images are not kept on this kind of device, or
  ///   if it is a placeholder and the real one is there.
  /// - Throws: The table's error; the recorder has counted it.
  nonisolated func store(
    _ drawn: SealedSlot, for key: ImageKey, _ recorder: CacheRecorder,
    _ order: StoreOrder, oldest: @Sendable () -> Int, if mayStore: @Sendable () -> Bool = { true }
  ) throws(ImageCacheError) -> (image: CachedImage, isStored: Bool) {
    do throws(TableError) {
      let insertion = executor.runBlocking {
        assumeIsolated { $0.insert(drawn, key, order, oldest, mayStore) }
      }
      guard let insertion = try insertion.get() else { return (privateImage(drawn), false) }
      return (image(of: insertion, key, recorder), true)
    } catch {
      note(error)
      recorder.storeFailed(key, reason: "\(error)")
      if error == .allSlotsLeased { return (privateImage(drawn), false) }
      throw ImageCacheError(error, table: format.name)
    }
  }

  /// Remembers why a store was refused, but not that one was refused without a try after several failures.
  nonisolated func note(_ error: TableError) {
    if case .paused = error { return }
    storeFailure.withLock { $0 = error }
  }

  /// Stores an image anew with other metadata; `nil` if the table does not have it.
  func setMetadata(
    _ metadata: Data, for key: ImageKey, _ recorder: CacheRecorder
  ) throws(ImageCacheError) -> CachedImage? {
    let motion = format.hasAnimations ? cachedImage(for: key)?.motion ?? .still : nil
    if let refusal = refusal(of: metadata, for: key, beside: motion) { throw refusal }
    let insertion = try write { table throws(TableError) in
      try table.setMetadata((motion?.bytes ?? []) + metadata, of: key.tableKey)
    }
    return insertion.flatMap { $0 }.map { image(of: $0, key, recorder) }
  }

  /// Gives an entity's image to another entity; false if the table has no intact one.
  ///
  /// - Parameter removal: The number of the call. No load that began before brings the old entity's image back,
  ///   or stores one of the new entity over the one that moves.
  func changeEntity(
    from old: ImageID, to new: ImageID, _ removal: Generation.Removal, _ recorder: CacheRecorder
  ) throws(ImageCacheError) -> Bool {
    order.remove(old, at: removal.number) { removal.oldest }
    if store?.contains(old.tableID) == true {
      order.remove(new, at: removal.number) { removal.oldest }
    }
    let insertion = try write { table throws(TableError) in
      let replaced = frames(of: new.tableID)
      // Leased meanwhile, so that none of them makes room for the others' copies.
      let moving = frames(of: old.tableID).compactMap {
        table.variant(of: TableKey(entity: $0, version: $0))
      }
      defer { withExtendedLifetime(moving) {} }
      let insertion = try table.changeEntity(from: old.tableID, to: new.tableID)
      if let insertion {
        try moveFrames(from: old, to: new, image(of: insertion.entry), replaced, in: table)
      }
      return insertion
    }
    guard case .some(.some(let insertion)) = insertion else { return false }
    _ = image(of: insertion, ImageKey(entity: new, version: new, format: format.name), recorder)
    recorder.send(.removed(entity: old, format: format.name))
    return true
  }

  private nonisolated func image(
    of insertion: Insertion, _ key: ImageKey, _ recorder: CacheRecorder
  ) -> CachedImage {
    recorder.stored(key)
    tell(insertion.eviction, recorder)
    return image(of: insertion.entry)
  }

  /// Tells of an image that was evicted. An animation counts as evicted with its first frame.
  nonisolated func tell(_ eviction: Eviction?, _ recorder: CacheRecorder) {
    guard let eviction, eviction.entity?.isFrame != true else { return }
    let entity = eviction.entity.map { ImageID($0) }
    recorder.send(.evicted(entity: entity, format: format.name))
  }

  private func insert(
    _ drawn: SealedSlot, _ key: ImageKey, _ order: StoreOrder, _ oldest: () -> Int,
    _ mayStore: () -> Bool
  ) -> Result<Insertion?, TableError> {
    // A cancellation after a yes does not undo the store.
    guard let store, mayStore(),
      self.order.admit(key, order, isPlaceholder: drawn.isPlaceholder, oldest: oldest)
    else { return .success(nil) }
    return Result { () throws(TableError) in
      if drawn.isPlaceholder { return try store.insertPlaceholder(drawn) }
      let replaced = frames(of: key.entity.tableID)
      let insertion = try store.insert(drawn)
      // Those in front are replaced one by one.
      let kept = replaced.isEmpty ? 1 : image(of: insertion.entry).motion.frameCount
      try store.removeFrames(replaced.dropFirst(kept - 1))
      return insertion
    }
  }

  /// Removes images, so that none comes back whose load began before.
  ///
  /// - Parameters:
  ///   - entity: `nil` for the images of all.
  ///   - removal: The number of the call.
  func remove<Value: Sendable>(
    _ entity: ImageID?, _ removal: Generation.Removal,
    _ change: @Sendable (Table) throws(TableError) -> Value
  ) throws(ImageCacheError) -> Value? {
    order.remove(entity, at: removal.number) { removal.oldest }
    return try write(change)
  }

  /// Removes the image of an entity, with its frames, so that none comes back whose load began before.
  ///
  /// - Returns: Whether there was an image; `nil` where images are not kept.
  func remove(
    _ entity: ImageID, _ removal: Generation.Removal
  ) throws(ImageCacheError) -> Bool? {
    try remove(entity, removal) { table throws(TableError) in
      let frames = frames(of: entity.tableID, orUpTo: min(table.slotCount, Self.searchedFrameCount))
      let isRemoved = try table.remove(entity.tableID)
      try table.removeFrames(frames)
      return isRemoved
    }
  }

  /// Flushes the table, or changes it otherwise, in a turn of the actor's queue.
  ///
  /// - Returns: The value of `change`; `nil` where images are not kept.
  @discardableResult
  func write<Value: Sendable>(
    _ change: @Sendable (Table) throws(TableError) -> Value
  ) throws(ImageCacheError) -> Value? {
    do throws(TableError) { return try store.map(change) } catch {
      throw ImageCacheError(error, table: format.name)
    }
  }

  /// Notes in the order of use what time it is.
  ///
  /// - Returns: The stamp of the last uses before a lifetime ago, if one was noted then.
  func noteTime(_ time: Date, lifetime: Duration) throws(ImageCacheError) -> UInt64? {
    // Whatever the program's clock and format say, numbers that can be added.
    let (limit, seconds) = (Int64(1) << 40, time.timeIntervalSince1970)
    return try write { table throws(TableError) in
      try table.noteTime(
        Int64(max(0, min(seconds, Double(limit)))),
        lifetime: min(lifetime.components.seconds, limit))
    } ?? nil
  }

  /// Room for images, `nil` where they are not kept.
  nonisolated var slotCount: Int? { store?.slotCount }
}

extension ImageKey {
  var tableKey: TableKey { TableKey(entity: entity.tableID, version: version.tableID) }
}
