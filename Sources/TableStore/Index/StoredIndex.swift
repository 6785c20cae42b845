import CMappedFiles
import CMemoryHints
import Synchronization

/// The part of a table's index that outlives the process: a chain of slots for each bucket of digests, and of
/// each slot its stamp and its mark. It is memory, and an index file may be mapped in its place.
///
/// A slot that is found here is only a guess: its record is read from the table file and compared before the
/// image counts for anything. So whatever an index file has in it, a hit is right.
///
/// Invariants:
/// 1. Each change is one store, or several of which each leaves whole chains. So a process may die between
///    any two of them.
/// 2. A slot is marked as in hand before it is unlinked, and before its record or content changes. It
///    stays so until it is linked with a whole record, or its record is zeros. So the next owner finds all
///    that a dead one left unfinished; it unlinks those slots and erases their records.
/// 3. A new image is linked before the older one of its entity is taken in hand, and live after that. So
///    two live slots never have the same entity.
/// 4. No number from here is followed unchecked: one beyond the slots ends a chain, and a chain longer than
///    `longestChain` is cut off.
/// 5. All changes happen under the index lock, by the owner of the table file. Hits read heads and next slots
///    at any time.
/// 6. The memory keeps its address while this object lives, with a file in its place or without.
///
/// `@unchecked Sendable` is safe by invariant 5: what hits read is atomic.
final class StoredIndex: @unchecked Sendable {
  enum Mark: UInt8 {
    /// The record is zeros, or the slot was never used.
    case free = 0
    /// The slot is linked, and has an image.
    case live = 1
    /// The record may be anything.
    case changing = 2
  }

  struct Item: ~Copyable {
    let hash: Atomic<UInt32>
    let next: Atomic<UInt32>
    let stamp: Atomic<UInt64>
  }

  /// Chains of random digests have a few slots; only damage makes longer ones, or circles.
  static let longestChain = 1024

  let layout: IndexLayout
  let heads: UnsafeMutablePointer<Atomic<UInt32>>
  let items: UnsafeMutablePointer<Item>
  private let marks: UnsafeMutablePointer<Atomic<UInt8>>
  private let memory: ZeroPages<UInt8>
  /// Made of the table file's nonce, so that no program can choose ids that share a chain.
  private(set) var key: UInt64 = 0
  /// Called after each store, in tests.
  private var step: (@Sendable () -> Void)?
  private var descriptor: Int32?
  private var guardNumber: Int32 = -1

  init(slotCount: Int) {
    layout = IndexLayout(slotCount: slotCount)
    memory = ZeroPages(count: layout.byteCount)
    let base = UnsafeMutableRawPointer(memory.base)
    heads = (base + IndexLayout.headsOffset).bindMemory(
      to: Atomic<UInt32>.self, capacity: layout.bucketCount)
    items = (base + layout.itemsOffset).bindMemory(to: Item.self, capacity: slotCount)
    marks = (base + layout.marksOffset).bindMemory(to: Atomic<UInt8>.self, capacity: slotCount)
  }

  deinit { letGo() }

  /// Begins the use by a table file.
  func attach(nonce: UInt64, step: (@Sendable () -> Void)?) {
    key = LaneHash.mix(nonce ^ LaneHash.keys.1, LaneHash.keys.6)
    self.step = step
  }

  // MARK: Header

  var newestGeneration: UInt64 {
    get { word(9).pointee.load(ordering: .relaxed) }
    set { word(9).pointee.store(newValue, ordering: .releasing) }
  }

  /// No stamp here is later.
  var newestStamp: UInt64 {
    get { word(10).pointee.load(ordering: .relaxed) }
    set { word(10).pointee.store(newValue, ordering: .releasing) }
  }

  /// Slots from here on were never used.
  var usedCount: Int {
    get { Int(min(word(11).pointee.load(ordering: .relaxed), UInt64(layout.slotCount))) }
    set {
      word(11).pointee.store(UInt64(newValue), ordering: .releasing)
      step?()
    }
  }

  private func word(_ number: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
    UnsafeMutableRawPointer(memory.base + number * 8).assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  // MARK: Searching

  /// The hash of an entity, whose lowest bits are its bucket.
  @inline(__always)
  static func hash(_ entity: TableID.Digest, key: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: LaneHash.mix(entity.low ^ key, entity.high ^ LaneHash.keys.2))
  }

  @inline(__always)
  func hash(of entity: TableID.Digest) -> UInt32 { Self.hash(entity, key: key) }

  func hash(of slot: Int) -> UInt32 { items[slot].hash.load(ordering: .relaxed) }

  /// The first live slot under a hash that `isIt`, the one linked last first.
  @inline(__always)
  func slot(under hash: UInt32, where isIt: (Int) -> Bool) -> Int? {
    var next = head(of: hash).pointee.load(ordering: .relaxed)
    var count = 0
    while next != 0, next <= layout.slotCount, count < Self.longestChain {
      let slot = Int(next) - 1
      if self.hash(of: slot) == hash, mark(of: slot) == .live, isIt(slot) { return slot }
      next = items[slot].next.load(ordering: .relaxed)
      count += 1
    }
    return nil
  }

  func mark(of slot: Int) -> Mark? { Mark(rawValue: marks[slot].load(ordering: .relaxed)) }

  func stamp(of slot: Int) -> UInt64 { items[slot].stamp.load(ordering: .relaxed) }

  func setStamp(_ stamp: UInt64, of slot: Int) {
    newestStamp = max(newestStamp, stamp)
    items[slot].stamp.store(stamp, ordering: .relaxed)
  }

  /// The slots in use that are not live.
  var otherSlots: [Int] {
    (0..<usedCount).filter { mark(of: $0) != .live }
  }

  // MARK: Changing

  func setMark(_ mark: Mark, of slot: Int) {
    marks[slot].store(mark.rawValue, ordering: .releasing)
    step?()
  }

  /// Links a slot with a whole record, and takes the older slot of its entity in hand.
  func replace(_ older: Int?, with slot: Int, hash: UInt32, stamp: UInt64) {
    setStamp(stamp, of: slot)
    link(slot, hash)
    if let older { setMark(.changing, of: older) }
    setMark(.live, of: slot)
    if let older { unlink(older) }
  }

  /// Takes a slot in hand, out of its chain.
  func take(_ slot: Int) {
    let isLinked = mark(of: slot) != .free
    setMark(.changing, of: slot)
    if isLinked { unlink(slot) }
  }

  /// Links the slots of a file that is being read, which no other process finds before they are kept.
  ///
  /// A value without references, which would be counted for each record.
  struct Builder {
    fileprivate let heads: UnsafeMutablePointer<Atomic<UInt32>>
    fileprivate let items: UnsafeMutablePointer<Item>
    fileprivate let marks: UnsafeMutablePointer<Atomic<UInt8>>
    fileprivate let mask: Int
    fileprivate let key: UInt64
    private(set) var count = 0
    private(set) var newestStamp: UInt64 = 0
    private(set) var newestGeneration: UInt64 = 0
    /// Entities under whose hash there is more than one slot: a crash may have left two records of one.
    private(set) var twins: [TableID.Digest] = []

    fileprivate init(_ stored: StoredIndex) {
      (heads, items, marks) = (stored.heads, stored.items, stored.marks)
      (mask, key) = (stored.layout.bucketCount - 1, stored.key)
    }

    /// Prefetches the head of an entity's chain and then its first slot, for an insertion a little later.
    /// With many records, an insertion mostly waits for memory.
    @inline(__always)
    func prefetch(_ entity: TableID.Digest, isNear: Bool) {
      let head = heads + Int(StoredIndex.hash(entity, key: key)) & mask
      guard isNear else { return fic_expect(head) }
      let first = head.pointee.load(ordering: .relaxed)
      if first != 0 { fic_expect(items + Int(first) - 1) }
    }

    /// Links a slot.
    @inline(__always)
    mutating func adopt(_ record: SlotRecord, in slot: Int) {
      let hash = StoredIndex.hash(record.entity, key: key)
      let head = heads + Int(hash) & mask
      let first = head.pointee.load(ordering: .relaxed)
      var next = first
      while next != 0 {
        let item = items + Int(next) - 1
        if item.pointee.hash.load(ordering: .relaxed) == hash {
          twins.append(record.entity)
          break
        }
        next = item.pointee.next.load(ordering: .relaxed)
      }
      let stamp = TableIndex.stamp(of: record)
      items[slot].hash.store(hash, ordering: .relaxed)
      items[slot].stamp.store(stamp, ordering: .relaxed)
      items[slot].next.store(first, ordering: .relaxed)
      head.pointee.store(UInt32(slot + 1), ordering: .releasing)
      marks[slot].store(Mark.live.rawValue, ordering: .relaxed)
      newestStamp = max(newestStamp, stamp)
      newestGeneration = max(newestGeneration, record.generation)
      count += 1
    }
  }

  /// Begins to link the slots of a file.
  func makeBuilder(slotCount: Int) -> Builder {
    Platform.populate(memory.base, layout.itemsOffset + slotCount * IndexLayout.itemByteCount)
    return Builder(self)
  }

  @inline(__always)
  private func link(_ slot: Int, _ hash: UInt32) {
    let head = head(of: hash)
    items[slot].hash.store(hash, ordering: .relaxed)
    items[slot].next.store(head.pointee.load(ordering: .relaxed), ordering: .releasing)
    // Releasing: a hit that finds the slot sees the rest of its chain.
    put(UInt32(slot + 1), in: head)
  }

  private func unlink(_ slot: Int) {
    let head = head(of: hash(of: slot))
    var word = head
    for _ in 0..<Self.longestChain {
      let next = word.pointee.load(ordering: .relaxed)
      if next == 0 { return }
      if next > layout.slotCount { return put(0, in: word) }
      let after = nextWord(of: Int(next) - 1)
      if next == slot + 1 { return put(after.pointee.load(ordering: .relaxed), in: word) }
      word = after
    }
    put(0, in: head)
  }

  @inline(__always)
  private func put(_ value: UInt32, in word: UnsafeMutablePointer<Atomic<UInt32>>) {
    word.pointee.store(value, ordering: .releasing)
    step?()
  }

  @inline(__always)
  private func head(of hash: UInt32) -> UnsafeMutablePointer<Atomic<UInt32>> {
    heads + Int(hash) & (layout.bucketCount - 1)
  }

  private func nextWord(of slot: Int) -> UnsafeMutablePointer<Atomic<UInt32>> {
    let item = UnsafeMutableRawPointer(items + slot)
    return (item + MemoryLayout<Atomic<UInt32>>.stride).assumingMemoryBound(to: Atomic<UInt32>.self)
  }

  // MARK: The file

  /// True while a file is mapped here, so that it has every change.
  var isKept: Bool { descriptor != nil }

  /// Maps a file with the right identity, this size, and its blocks; false where it does not fit.
  ///
  /// Nothing is taken from it but its header's word on generations, stamps and slots in use.
  func open(_ file: consuming FileDescriptor, _ system: SystemCalls) throws(SystemError) -> Bool {
    try map(file, system)
    let isFitting =
      newestGeneration < SlotRecord.maximumGeneration && newestStamp < UInt64.max / 2
      && word(11).pointee.load(ordering: .relaxed) <= layout.slotCount
    if !isFitting { letGo() }
    return isFitting
  }

  /// Writes all to an empty file that has this size and its blocks, and maps it here.
  ///
  /// The identity comes last, so that a process that dies meanwhile leaves a file that fits nowhere.
  func keep(
    in file: consuming FileDescriptor, as identity: IndexIdentity, _ system: SystemCalls
  ) throws(SystemError) {
    let parts = [
      IndexIdentity.byteCount..<layout.itemsOffset,
      layout.itemsOffset..<layout.itemsOffset + usedCount * IndexLayout.itemByteCount,
      layout.marksOffset..<layout.marksOffset + usedCount,
    ]
    for part in parts where !part.isEmpty {
      let bytes = UnsafeRawBufferPointer(start: memory.base + part.lowerBound, count: part.count)
      try system.write(bytes, to: file.value, at: part.lowerBound)
    }
    try system.write(identity.bytes, to: file.value, at: 0)
    try map(file, system)
  }

  private func map(
    _ file: consuming FileDescriptor, _ system: SystemCalls
  ) throws(SystemError) {
    // In one step; a hit finds the same in the pages of before and after.
    _ = try system.map(
      file.value, byteCount: layout.byteCount, over: memory.base, isWritable: true)
    guardNumber = fic_guard_add(memory.base, layout.byteCount, 1)
    descriptor = file.release()
  }

  /// True when another program cut the file short, so that parts of this memory are gone.
  func isCut(_ system: SystemCalls) -> Bool {
    // A status that cannot be read is no sign of a cut.
    guard let descriptor, let status = try? system.status(of: descriptor) else { return false }
    return status.byteCount < layout.byteCount
  }

  /// Puts memory without slots in the place of a file, which is left as it is.
  func letGo() {
    guard let descriptor else { return }
    fic_guard_remove(guardNumber)
    memory.renew()
    SystemCalls.closeFile(descriptor)
    self.descriptor = nil
  }

  /// Lends all bytes, to tests.
  func withBytes(_ body: (UnsafeMutableRawBufferPointer) -> Void) {
    body(UnsafeMutableRawBufferPointer(start: memory.base, count: layout.byteCount))
  }

  /// Forgets all slots.
  func clear() {
    letGo()
    memory.renew()
  }
}
