/// A guest file whose process has left it, locked by this one while its pictures are taken in.
///
/// Invariant: while this object lives no other process writes to the file, so that records and
/// slots of it are read as those of an own file.
final class LeftGuest: Sendable {
  let fileName: String
  let slotReader: SlotReader
  /// The file of this process's own time as a guest, which keeps descriptor and lock.
  private let ownFile: TableFile?
  /// How often the process had forked when it locked the file.
  private let forks = ForkWatch.start()

  /// - Parameter descriptor: Of the locked file.
  init(
    _ fileName: String, descriptor: consuming FileDescriptor, header: TableHeader,
    system: SystemCalls
  ) {
    self.fileName = fileName
    slotReader = SlotReader(descriptor: descriptor.release(), header: header, system: system)
    ownFile = nil
  }

  init(_ fileName: String, file: TableFile) {
    self.fileName = fileName
    slotReader = file.slotReader
    ownFile = file
  }

  deinit {
    guard ownFile == nil else { return }
    // As with `TableFile`: a child of fork(2) shares the lock.
    if forks == ForkWatch.generation { SystemCalls.unlock(slotReader.descriptor) }
    SystemCalls.closeFile(slotReader.descriptor)
  }

  /// Deletes the file, whose pictures are in the table and on the device.
  func delete(in directory: TableDirectory) throws(SystemError) {
    try directory.unlink(fileName, ifItIs: slotReader.descriptor)
    // Leases may keep it open; held, its lock would only get a suspended process killed.
    ownFile?.unlock()
  }
}
