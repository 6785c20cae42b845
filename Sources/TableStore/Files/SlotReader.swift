/// Reads records and slots of a table file with `pread(2)`, to which a truncated file or a sector that cannot be
/// read is an ordinary failure, and believes nothing it cannot check.
struct SlotReader: Sendable {
  /// Picks records by slot and content.
  typealias Filter = (_ slot: Int, _ record: SlotRecord) -> Bool

  /// A record whose hash is right.
  typealias Found = (slot: Int, record: SlotRecord)

  /// The result of reading a slot.
  enum Finding {
    /// Every byte is as stored.
    case intact(SlotTrailer)
    /// Other bytes, or none. The entity is known where the trailer can still be read.
    case damaged(entity: StoredID?)
    /// Not read, because the device is locked.
    case refused(SystemError)

    var trailer: SlotTrailer? {
      if case .intact(let trailer) = self { trailer } else { nil }
    }
  }

  let descriptor: Int32
  let header: TableHeader
  let system: SystemCalls

  private var layout: TableLayout { header.layout }

  /// Prefetch distances in records: one memory access, and then a second one that depends on the first.
  private static var leads: (Int, Int) { (32, 16) }

  /// Calls `body` with each record whose hash is right, in the order of slots.
  ///
  /// - Parameters:
  ///   - slots: The slots to read; the file must have them.
  ///   - prefetching: Called with the entity of a record a little ahead, whose hash was not
  ///     checked; first from afar, and again when the record is near.
  @inline(__always)
  func forEachRecord(
    in slots: Range<Int>, prefetching: (TableID.Digest, _ isNear: Bool) -> Void = { _, _ in },
    found body: (Int, SlotRecord) -> Void
  ) throws(SystemError) {
    let size = TableLayout.recordByteCount
    // Chunks of 64 kB, which are still in the processor's caches when they are checked.
    let chunk = min(slots.count, 1024)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: chunk * size, alignment: 64)
    defer { buffer.deallocate() }
    for start in stride(from: slots.lowerBound, to: slots.upperBound, by: max(1, chunk)) {
      let count = min(chunk, slots.upperBound - start)
      let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<(count * size)])
      let byteCount = try system.read(descriptor, into: part, at: layout.recordOffset(start))
      let readCount = byteCount / size
      for index in 0..<readCount {
        let (far, near) = (index + Self.leads.0, index + Self.leads.1)
        if far < readCount { prefetching(SlotRecord.entity(in: part, at: far * size), false) }
        if near < readCount { prefetching(SlotRecord.entity(in: part, at: near * size), true) }
        let bytes = UnsafeRawBufferPointer(rebasing: part[(index * size)..<((index + 1) * size)])
        if let record = SlotRecord(reading: bytes, at: slotAddress(of: start + index)) {
          body(start + index, record)
        }
      }
    }
  }

  /// All records as a list.
  func records() throws(SystemError) -> [Found] {
    var found: [Found] = []
    try forEachRecord(in: 0..<writtenSlotCount()) { found.append((slot: $0, record: $1)) }
    return found
  }

  /// Of the records of each entity the one that was stored last.
  static func newestPerEntity(_ records: [Found]) -> [TableID.Digest: Found] {
    Dictionary(records.map { ($0.record.entity, $0) }) {
      $0.record.generation < $1.record.generation ? $1 : $0
    }
  }

  /// Reads the record of one slot.
  func record(of slot: Int) throws(SystemError) -> SlotRecord? {
    let size = TableLayout.recordByteCount
    let bytes = try system.read(descriptor, count: size, at: layout.recordOffset(slot))
    guard bytes.count == size else { return nil }
    return bytes.withUnsafeBytes { SlotRecord(reading: $0, at: slotAddress(of: slot)) }
  }

  /// Reads the removals that the file remembers.
  func removals() throws(SystemError) -> RemovalLog {
    let bytes = try system.read(
      descriptor, count: RemovalLog.byteCount, at: RemovalLog.offset)
    return RemovalLog(reading: bytes, nonce: header.nonce)
  }

  /// Reads a whole slot into `content`, which has that size, and checks every byte.
  func read(
    _ slot: Int, record: SlotRecord, into content: UnsafeMutableRawBufferPointer
  ) -> Finding {
    let byteCount: Int
    do throws(SystemError) {
      byteCount = try system.read(descriptor, into: content, at: layout.slotOffset(slot))
    } catch {
      // Any other error counts as damage: the image is lost, and a miss has no errno.
      return system.isLock(error) ? .refused(error) : .damaged(entity: nil)
    }
    guard byteCount == content.count else { return .damaged(entity: nil) }
    let bytes = UnsafeRawBufferPointer(content)
    let trailer = SlotTrailer(
      reading: UnsafeRawBufferPointer(rebasing: bytes[layout.trailerOffset...]))
    let hash = SlotContent.hash(of: bytes)
    // Only a forged trailer has an image larger than its slot.
    guard let trailer, fits(trailer.extent),
      record.covers(contentHash: hash, at: slotAddress(of: slot))
    else { return .damaged(entity: trailer?.entity) }
    return .intact(trailer)
  }

  /// Reads the trailer of a slot and no pixels; `nil` unless its ids can be those of the record.
  func trailer(of slot: Int, record: SlotRecord) throws(SystemError) -> SlotTrailer? {
    let bytes = try system.read(
      descriptor, count: layout.trailerByteCount,
      at: layout.slotOffset(slot) + layout.trailerOffset)
    let trailer = bytes.withUnsafeBytes { SlotTrailer(reading: $0) }
    guard let trailer, fits(trailer.extent), trailer.entity.agrees(with: record.entity),
      trailer.version.agrees(with: record.version)
    else { return nil }
    return trailer
  }

  /// Bytes of the file on its device, 0 when the system does not tell.
  var diskByteCount: Int {
    // A figure for people, so an error is not worth throwing.
    (try? system.status(of: descriptor))?.diskByteCount ?? 0
  }

  // MARK: Private

  private func fits(_ extent: SlotExtent) -> Bool {
    (1...layout.geometry.width).contains(extent.width)
      && (1...layout.geometry.height).contains(extent.height)
  }

  private func slotAddress(of slot: Int) -> SlotAddress {
    SlotAddress(nonce: header.nonce, slot: slot)
  }

  /// Slots that end beyond the end of the file were never written whole.
  func writtenSlotCount() throws(SystemError) -> Int {
    let beyondFirst =
      try system.status(of: descriptor).byteCount - layout.slotsOffset - layout.contentByteCount
    return beyondFirst < 0 ? 0 : min(beyondFirst / layout.stride + 1, layout.slotCount)
  }
}
