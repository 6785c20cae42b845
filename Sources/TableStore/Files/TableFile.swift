import CMappedFiles
import Locking

/// An open table file that this process may write: descriptor, lock, mapping and leases.
///
/// It is written with `pwrite(2)`, so that a full disk is an error and never a signal. The mapping may reach
/// beyond the file's end; only written slots are leased.
///
/// Invariants:
/// 1. Descriptor and mapping live exactly as long as this object. A ``CurrentTable`` retains it, and from
///    then on `Retirement` does, until its last lease ends. The lock goes with the descriptor, so a
///    new owner never writes under a lease of this process; it goes earlier only when the file has
///    lost its name, or when all leased slots were detached from it.
/// 2. No code truncates a file that is open here.
///
/// `@unchecked Sendable` is safe: all state is constant, and the mapped bytes of a slot change only
/// while there is no lease on it (invariant 3 of `TableIndex`).
final class TableFile: @unchecked Sendable {
  let descriptor: Int32
  let header: TableHeader
  let states: SlotStates
  /// The mapping; `nil` where slots are copied instead: on a volume that is not safe to map, where
  /// a locked device closes the file, and where the system has no room for it.
  let base: UnsafeRawPointer?
  /// The mapping's number with the fault guard.
  private let guardNumber: Int32
  let system: SystemCalls
  /// How often the process had forked when it opened the file.
  private let forks = ForkWatch.start()

  /// Takes over the descriptor of a file that has this header and, if it has a name, its lock.
  init(
    descriptor: consuming FileDescriptor, header: TableHeader, isMapped: Bool,
    statesPool: SlotStatesPool,
    system: SystemCalls
  ) {
    self.descriptor = descriptor.release()
    self.header = header
    self.system = system
    states = statesPool.take(slotCount: header.layout.slotCount)
    // A refused mapping costs copies and no images, so it is no error.
    base =
      isMapped && system.volumeKind(of: self.descriptor) == .safeToMap
      ? (try? system.map(self.descriptor, byteCount: header.layout.fileByteCount)).map {
        UnsafeRawPointer($0)
      } : nil
    guardNumber = base.map { fic_guard_add($0, header.layout.fileByteCount, 0) } ?? -1
    states.attach(
      content: base.map { $0 + header.layout.slotOffset(0) }, layout: header.layout,
      nonce: header.nonce, indexStep: system.indexStep)
  }

  deinit {
    fic_guard_remove(guardNumber)
    if let base { system.unmap(base, byteCount: layout.fileByteCount) }
    states.detach()
    unlock()
    SystemCalls.closeFile(descriptor)
  }

  /// Gives the lock up, for good; this process must not write to the file any more.
  func unlock() {
    // A child of fork(2) shares the lock with its parent, which still needs it.
    if !isInherited { SystemCalls.unlock(descriptor) }
  }

  /// True in a child of the process that opened the file.
  var isInherited: Bool { forks != ForkWatch.generation }

  var layout: TableLayout { header.layout }

  /// Bytes of address space.
  var mappedByteCount: Int { base == nil ? 0 : layout.fileByteCount }

  func slotAddress(of slot: Int) -> SlotAddress { SlotAddress(nonce: header.nonce, slot: slot) }

  /// The mapped content of a slot; the caller has a lease on it.
  @inline(__always)
  func mappedContent(of slot: Int) -> UnsafeRawPointer? {
    base.map { $0 + layout.slotOffset(slot) }
  }

  // MARK: Writing

  func writeContent(_ content: UnsafeRawBufferPointer, to slot: Int) throws(SystemError) {
    if let mapped = mappedContent(of: slot) {
      SanitizerWitness.willWrite(mapped, byteCount: content.count)
    }
    try system.write(content, to: descriptor, at: layout.slotOffset(slot))
  }

  /// Writes one record; `nil` writes zeros, after which the slot is free for every opener.
  func writeRecord(_ record: SlotRecord?, to slot: Int) throws(SystemError) {
    try writeRecords([record], from: slot)
  }

  /// Writes the records of neighbouring slots with one call.
  func writeRecords(_ records: [SlotRecord?], from slot: Int) throws(SystemError) {
    let size = TableLayout.recordByteCount
    var bytes = [UInt8](repeating: 0, count: records.count * size)
    bytes.withUnsafeMutableBytes { bytes in
      for (index, record) in records.enumerated() {
        let field = UnsafeMutableRawBufferPointer(rebasing: bytes[(index * size)...].prefix(size))
        record?.write(to: field, at: slotAddress(of: slot + index))
      }
    }
    try system.write(bytes, to: descriptor, at: layout.recordOffset(slot))
  }

  func synchronize() throws(SystemError) { try system.synchronize(descriptor) }

  /// A reader of the same descriptor, for proofs and for opening.
  var slotReader: SlotReader { SlotReader(descriptor: descriptor, header: header, system: system) }
}
