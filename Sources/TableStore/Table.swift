import Locking
import Synchronization

/// Images of one geometry in a file, found by key.
///
/// Any thread may call any method. A lookup takes a lock only for a miss or a first look, and never
/// waits for a writer. Writers go one after the other, and block their threads during their system
/// calls. A hit returns exactly the bytes that were stored for its key, whatever happened to the file.
///
/// Several openings of one table in one process share it, and have to agree on its capacity. Where another
/// process has the table, this one reads it by copying, and takes it over at the first change after the other is
/// gone.
package final class Table: Sendable {
  let core: TableCore
  /// The core's; a hit reaches it in one step.
  private let lookup: TableLookup
  private enum State: UInt8, AtomicRepresentable { case refusesDamaged, showsDamaged, closed }
  /// Tells also whether images of damaged files are found, beside those of whole ones, so that a hit asks one
  /// question.
  private let state: Atomic<State>

  /// Opens the table called `name`, or makes it.
  ///
  /// A file of the same name with another geometry or of another program version is replaced; one
  /// with another capacity gives its newest images to the new one.
  ///
  /// - Parameters:
  ///   - protection: the class of all files of this table.
  ///   - showsDamaged: whether this opening finds images of damaged files by the key that they would have
  ///     otherwise.
  ///   - fallsBack: has a table whose file cannot be made or written read what there is, and keep its
  ///     images in private memory, 64 MiB at most, until a change finds the file to be had again.
  ///   - system: the calls to the operating system, which tests observe and refuse.
  ///   - onNotice: called for each image that is found damaged, and when `storage` is or becomes another
  ///     than `.ready`, until this opening is closed. A lookup or a writer calls it, maybe in the middle of a
  ///     change, so it must neither wait nor use the table.
  /// - Throws: `TableError.invalidName`, `.invalidGeometry`, `.invalidCapacity`; `.occupied` when a
  ///   directory has the file's name; `.protectedDataUnavailable` when the device is locked; `.openOtherwise`
  ///   when this process has the table open with another capacity or protection; `.diskFull` or
  ///   `.system` when there is no way to make a file.
  package init(
    name: String, in directory: TableDirectory, geometry: TableGeometry, capacity: TableCapacity,
    protection: FileProtection = .none, showsDamaged: Bool = false, fallsBack: Bool = false,
    system: SystemCalls = .live, onNotice: @escaping @Sendable (TableNotice) -> Void = { _ in }
  ) throws(TableError) {
    let layout = try TableLayout(geometry: geometry, capacity: capacity)
    let opener = try TableOpener(
      directory: directory, name: name, layout: layout, protection: protection,
      fallsBack: fallsBack, system: system)
    state = Atomic(showsDamaged ? .showsDamaged : .refusesDamaged)
    core = try TableRegistry.shared.open(opener)
    lookup = core.lookup
    lookup.listeners.withLock { $0[ObjectIdentifier(self)] = onNotice }
    let storage = storage
    if storage != .ready { onNotice(.storage(storage)) }
  }

  deinit { close() }

  package var geometry: TableGeometry { core.opener.layout.geometry }

  /// Images that the table can hold.
  package var slotCount: Int { lookup.slotCount }

  /// Where the images of this process go.
  package var storage: TableStorage { lookup.storage }

  /// Bytes of the file from one image's slot to the next.
  package var slotByteCount: Int { core.opener.layout.stride }

  // MARK: Looking up

  /// The image of a key, leased, or `nil`.
  ///
  /// Costs one allocation and no system call, except at the first hit on an image of an earlier
  /// session, which is read and checked once.
  package func entry(for key: TableKey) -> TableEntry? {
    entry(entity: key.entity, version: key.version)
  }

  /// The same for a key in two parts.
  package func entry(entity: TableID, version: TableID) -> TableEntry? {
    guard state.load(ordering: .relaxed) == .refusesDamaged else {
      return entryOrPart(entity, version)
    }
    if lookup.isChild { leaveToParent() }
    return lookup.entry(entity: entity, version: version)
  }

  /// The same for an image that this process has stored or verified; reads no file and takes no lock.
  package func verifiedEntry(entity: TableID, version: TableID) -> TableEntry? {
    if isClosed { return nil }
    if lookup.isChild { leaveToParent() }
    return lookup.verifiedEntry(entity: entity, version: version)
  }

  /// The image of a key, unless it has to be read and checked first: reads no slot.
  ///
  /// Cost: a lookup under a lock; of an unverified image one system call, too.
  package func find(_ key: TableKey) -> TableFinding {
    guard isReadable else { return .missing }
    let found = lookup.find(key)
    if case .missing = found, showsDamaged { return lookup.find(key.damaged) }
    return found
  }

  /// The same where images of damaged files are found.
  @inline(never)
  private func entryOrPart(_ entity: TableID, _ version: TableID) -> TableEntry? {
    guard isReadable else { return nil }
    return lookup.entry(entity: entity, version: version)
      ?? lookup.entry(entity: entity, version: version.damaged)
  }

  @inline(never)
  private func leaveToParent() { core.writer.withLock { $0.leaveToParent() } }

  /// False once closed. In a child of fork(2), the file is the parent's before any look at it: the look
  /// might change the index, whose file both have mapped.
  private var isReadable: Bool {
    if isClosed { return false }
    if lookup.isChild { leaveToParent() }
    return true
  }

  /// True when a lookup would find the key; no use of it. An image of an earlier session counts
  /// before it has been checked, but its record is read at the first question, with one system
  /// call.
  package func contains(_ key: TableKey) -> Bool {
    storedImageState(for: key)?.isStale == false
  }

  /// True when there is an image of the entity, of whichever version; costs as much.
  package func contains(_ entity: TableID) -> Bool {
    storedImageState(of: entity) != nil
  }

  /// The image of the key's entity, of this version or of another one, leased as by a hit.
  ///
  /// Costs a lookup under a lock. The first look at an image of an earlier session reads and checks it,
  /// and so does each look at another process's.
  package func variant(of key: TableKey) -> TableVariant? {
    guard isReadable else { return nil }
    let found = lookup.variant(of: key)
    guard let found, found.entry.isDamaged else { return found }
    return showsDamaged ? lookup.variant(of: key.damaged) : nil
  }

  /// The key's image as its record tells, marked stale or not; no use of it. Costs as much as
  /// ``contains(_:)-(TableKey)``.
  package func storedImageState(for key: TableKey) -> StoredImageState? {
    guard isReadable else { return nil }
    // A record that cannot be read now is a miss now.
    return (try? lookup.image(of: key.entity, version: key.version))
      ?? (showsDamaged ? (try? lookup.image(of: key.entity, version: key.version.damaged)) : nil)
  }

  /// The entity's image, of whichever version, as its record tells; as ``storedImageState(for:)``.
  package func storedImageState(of entity: TableID) -> StoredImageState? {
    // As above.
    isReadable ? (try? lookup.image(of: entity)) : nil
  }

  /// True when the key is a miss only because the device is locked; costs nothing where files are
  /// mapped, and otherwise one system call.
  package func isProtectedNow(_ key: TableKey) -> Bool {
    isReadable
      && (lookup.isProtectedNow(key) || showsDamaged && lookup.isProtectedNow(key.damaged))
  }

  /// True when the device is locked and closes the table; costs as much.
  package var isLocked: Bool { !isClosed && lookup.isLocked }

  // MARK: Storing

  /// Memory to draw one image into, perhaps with the pixels of another one; `nil` when the system has none.
  package func makeBuffer() -> SlotBuffer? { lookup.pool.makeBuffer() }

  /// Stores a sealed image in place of the entity's older one, and leases it.
  ///
  /// - Throws: `TableError.allSlotsLeased`, `.diskFull`, `.protectedDataUnavailable`, `.system`, `.paused`
  ///   after failures in a row, `.closed`, `.foreignSlot`. Nothing is stored then, and the older
  ///   image stays.
  package func insert(_ sealed: SealedSlot) throws(TableError) -> Insertion {
    try change { writer throws(TableError) in try writer.insert(sealed) }
  }

  /// Stores a placeholder, unless the table has a real image of the entity, of whichever version and
  /// marked stale or not; `nil` then.
  ///
  /// - Throws: As ``insert(_:)``.
  package func insertPlaceholder(_ sealed: SealedSlot) throws(TableError) -> Insertion? {
    try change { writer throws(TableError) in try writer.insertPlaceholder(sealed) }
  }

  /// Stores the image of a key anew with other metadata, and leases it; `nil` if the key is a miss.
  ///
  /// - Throws: As ``insert(_:)``, and `TableError.metadataTooLarge`, `.outOfMemory`; the image keeps
  ///   its metadata then.
  package func setMetadata(
    _ metadata: [UInt8], of key: TableKey
  ) throws(TableError) -> Insertion? {
    try change { writer throws(TableError) in
      if let insertion = try writer.setMetadata(metadata, of: key) { return insertion }
      return showsDamaged ? try writer.setMetadata(metadata, of: key.damaged) : nil
    }
  }

  /// Gives the image of one entity to another, in place of that one's own, without a look at its
  /// pixels but to verify it; `nil` if the first has no intact image.
  ///
  /// A version that is the first entity's id becomes the other's. After a crash either entity has the image,
  /// or both.
  ///
  /// - Throws: As ``insert(_:)``, and then the first entity keeps its image; or as ``remove(_:)``, and
  ///   then both may have it.
  package func changeEntity(
    from old: TableID, to new: TableID
  ) throws(TableError) -> Insertion? {
    try change { writer throws(TableError) in try writer.changeEntity(from: old, to: new) }
  }

  // MARK: Marking

  /// Makes a miss of the entity's image for the rest of the session, or until the next store of the
  /// entity; ``variant(of:)`` finds it meanwhile. The file stays as it is.
  ///
  /// Where another process owns the file, that one goes on finding the image.
  ///
  /// - Throws: `TableError.protectedDataUnavailable` or `.system` when the entity's record cannot be read, and then
  ///   nothing was marked; `.closed`.
  package func markStale(_ entity: TableID) throws(TableError) {
    try change { writer throws(TableError) in try writer.markStale(entity) }
  }

  // MARK: Removing

  /// Removes the image of an entity, and tells whether there was one.
  ///
  /// It is a miss from now on, also after a crash of the process; where another process owns the file, in this
  /// process. After a power cut it may be back unless `flush()` was called.
  ///
  /// - Throws: `TableError.diskFull` or `.system` when the file still names the image, or does not
  ///   remember its removal, which is a miss all the same and is erased by the next change; `.system`
  ///   when another owner's file cannot be read, and then nothing was removed; `.protectedDataUnavailable` in
  ///   both cases; `.closed`.
  package func remove(_ entity: TableID) throws(TableError) -> Bool {
    try change { writer throws(TableError) in try writer.remove(entity) }
  }

  /// Removes those of the listed images in whose place no other one was stored, and returns them.
  ///
  /// - Throws: As ``remove(_:)``; some may be removed then.
  package func remove(_ listed: [TableEntryInfo]) throws(TableError) -> [TableEntryInfo] {
    try change { writer throws(TableError) in try writer.remove(listed) }
  }

  /// Removes all images, by putting a new file in the place of the old one.
  ///
  /// - Throws: `TableError.diskFull`, `.protectedDataUnavailable` or `.system`, and then nothing was removed;
  ///   `.closed`.
  package func removeAll() throws(TableError) {
    try change { writer throws(TableError) in try writer.removeAll() }
  }

  // MARK: Keeping

  /// Brings everything to the device, the order of use and guest files of processes that have ended included.
  /// If changes of a suspended table wait, takes the file for as long as that takes.
  ///
  /// - Throws: `TableError.inUse` when removals wait for another process, which owns the file, or
  ///   images do that are in no guest file;
  ///   `.diskFull`, `.protectedDataUnavailable`, `.system`, `.closed`.
  package func flush() throws(TableError) {
    try change { writer throws(TableError) in try writer.flush() }
  }

  /// Notes that the images were used up to a time, so that later calls tell which were used before then. Writes the
  /// order of use.
  ///
  /// - Parameters:
  ///   - time: Seconds since 1970.
  ///   - lifetime: Seconds.
  /// - Returns: Images with this ``TableEntryInfo/recency`` or an earlier one were not used for that long; `nil` where
  ///   no call was made so long ago.
  /// - Throws: `.protectedDataUnavailable`, `.closed`, and as ``flush()`` where the table's file was cut.
  package func noteTime(_ time: Int64, lifetime: Int64) throws(TableError) -> UInt64? {
    try change { writer throws(TableError) in try writer.noteTime(time, lifetime: lifetime) }
  }

  /// Writes the order of use, where this process owns the table; all else waits for ``flush()``.
  package func writeUses() throws(TableError) {
    try change { writer throws(TableError) in try writer.writeUses() }
  }

  /// Ends this opening; entries stay valid. With the last opening the table is flushed and its
  /// file, once the last entry is gone, left to others.
  package func close() {
    guard state.exchange(.closed, ordering: .relaxed) != .closed else { return }
    lookup.listeners.withLock { $0[ObjectIdentifier(self)] = nil }
    forgetSuspension()
    TableRegistry.shared.close(core)
  }

  // MARK: Giving memory back

  /// The part of the file that is in memory.
  package var residency: TableResidency { lookup.residency }

  /// Frees the buffers that are kept for the next images.
  package func freeSpareBuffers() { lookup.freeSpareBuffers() }

  /// Has the system take the pages of images without a lease before others. No image is lost; a
  /// later look at one of these may take a page fault.
  ///
  /// Costs a look at every slot, and one system call for each run of slots without a lease.
  package func coolPages() {
    if !isClosed { lookup.coolPages() }
  }

  // MARK: Looking inside

  /// Figures of this moment; counts all slots, so that it takes microseconds per thousand.
  package var statistics: TableStatistics { lookup.statistics }

  /// The next images of a listing, in the order of slots, which no writer waits for; none at its end.
  ///
  /// Images that are stored, changed or removed meanwhile may be missing or come twice; all others
  /// come once, or again where their file is replaced. Reads about a hundred records and trailers, and
  /// no pixels: ids are certain, size and metadata of an image that was not verified yet are not.
  ///
  /// - Throws: `TableError.protectedDataUnavailable`, `.closed`.
  package func list(_ cursor: inout ListingCursor) throws(TableError) -> [TableEntryInfo] {
    guard isReadable else { throw .closed }
    return try lookup.list(&cursor)
  }

  @inline(__always)
  var isClosed: Bool { state.load(ordering: .relaxed) == .closed }

  private var showsDamaged: Bool { state.load(ordering: .relaxed) == .showsDamaged }

  /// Makes one change, after those of other threads.
  func change<Result>(
    _ body: (inout TableWriter) throws(TableError) -> Result
  ) throws(TableError) -> Result {
    if isClosed { throw .closed }
    return try core.writer.withLock(body)
  }
}
