import CMappedFiles
import Locking
import Synchronization

/// Figures of a table, and memory that it can do without.
extension TableLookup {
  var statistics: TableStatistics {
    let (storage, diskByteCount) = (storage, file?.slotReader.diskByteCount ?? 0)
    return current.withLock { current in
      TableStatistics(
        slotCount: current.file?.layout.slotCount ?? opener.layout.slotCount,
        liveCount: current.index.liveCount,
        leasedCount: current.index.leasedSlots.count,
        unverifiedCount: current.index.unverifiedCount,
        evictionCount: current.index.evictionCount,
        damageCount: formerDamageCount.load(ordering: .relaxed) + current.index.damageCount,
        hitCount: formerHitCount.load(ordering: .relaxed) + current.index.states.hitCount,
        diskByteCount: diskByteCount,
        mappedByteCount: current.file?.mappedByteCount ?? 0,
        isOwner: current.isOwner, storage: storage)
    }
  }

  /// Asks the system with a call or a few; all `nil` for a closed table.
  var residency: TableResidency {
    // The file stays open as long as it is held here.
    let file = file
    return file.map { TableResidency(of: $0.descriptor, mapped: $0.base, $0.layout) }
      ?? TableResidency(residentByteCount: nil, dirtyByteCount: nil)
  }

  func freeSpareBuffers() {
    pool.freeSpareBuffers()
    reader?.freeSpareBuffers()
  }

  /// Has the system take the pages of images without a lease before others.
  ///
  /// It takes no lease and no claim: a slot that is leased or written meanwhile loses nothing, since the
  /// system only takes pages that it can read again.
  func coolPages() {
    var slot: Int? = 0
    // Part by part under the lock, so that no lookup waits long, and no file is kept for this.
    while let first = slot { slot = current.withLock { $0.file?.coolPages(from: first) } }
  }
}

extension TableResidency {
  /// - Parameter base: Where all of the file is mapped, if it is.
  init(of descriptor: Int32, mapped base: UnsafeRawPointer?, _ layout: TableLayout) {
    let counts = fic_count_pages(descriptor, base, base == nil ? 0 : layout.fileByteCount)
    residentByteCount =
      counts.resident < 0 ? nil : Int(counts.resident) * SystemMemory.pageByteCount
    dirtyByteCount = counts.dirty < 0 ? nil : Int(counts.dirty) * SystemMemory.pageByteCount
  }
}

extension TableFile {
  /// The address space that one look at the slots covers, in bytes.
  private static let coolingByteCount = 4 << 20

  /// Does so for the next few slots; returns the slot to go on with, `nil` at the end.
  fileprivate func coolPages(from first: Int) -> Int? {
    let slotCount = base == nil ? 0 : states.preparedCount
    guard first < slotCount else { return nil }
    let end = min(slotCount, first + max(1, Self.coolingByteCount / layout.stride))
    var start = first
    for slot in first..<end where !states.isUnleased(slot) {
      coolPages(of: start..<slot)
      start = slot + 1
    }
    coolPages(of: start..<end)
    return end
  }

  /// The pages that the slots share with no other slot.
  private func coolPages(of slots: Range<Int>) {
    guard let base else { return }
    let page = SystemMemory.pageByteCount
    let start = (layout.slotOffset(slots.lowerBound) + page - 1) / page * page
    let end = layout.slotOffset(slots.upperBound) / page * page
    guard start < end else { return }
    let bytes = UnsafeRawBufferPointer(start: base + start, count: end - start)
    // Only a hint: where the system does not know it, the pages go in the usual order.
    try? system.cool(bytes, of: descriptor, at: start)
  }
}
