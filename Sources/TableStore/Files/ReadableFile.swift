/// A table file that is open for reading: a descriptor, without the mapping and the leases of a `TableFile`.
/// Of a guest file that its process left it has the lock, so that no other process writes to it meanwhile.
final class ReadableFile: Sendable {
  /// The table that the file must belong to. A file that other users may write, or of another
  /// table, can hold any images, with the right hashes.
  struct Expectation: Sendable {
    let name: String
    let geometry: TableGeometry
  }

  let slotReader: SlotReader
  /// How often the process had forked when it opened the file.
  private let forks = ForkWatch.start()

  /// - Returns: `nil` where there is no file, and for anything but the expected table of this
  ///   version.
  static func open(
    _ fileName: String, in directory: TableDirectory, expecting expectation: Expectation?,
    system: SystemCalls
  ) throws(SystemError) -> ReadableFile? {
    let descriptor: FileDescriptor
    do throws(SystemError) {
      descriptor = FileDescriptor(
        try system.openFile(fileName, in: directory.descriptor, .reading))
    } catch  where error.isMissing || error.isReplaceable {
      return nil
    } catch  where error.isRefusal && !system.isLock(error) {
      // Refused for good, so no image in it can be found later.
      return nil
    }
    let status = try system.status(of: descriptor.value)
    guard status.isRegularFile else { return nil }
    let bytes = try system.read(descriptor.value, count: TableLayout.headerByteCount, at: 0)
    guard let header = TableHeader(reading: bytes) else { return nil }
    if let expectation {
      guard status.isPrivate, header.name == expectation.name,
        header.layout.geometry == expectation.geometry
      else { return nil }
    }
    return ReadableFile(descriptor, header, system)
  }

  init(
    _ descriptor: consuming FileDescriptor, _ header: TableHeader, _ system: SystemCalls
  ) {
    slotReader = SlotReader(descriptor: descriptor.release(), header: header, system: system)
  }

  deinit {
    // As with `TableFile`: a child of fork(2) shares the lock.
    if forks == ForkWatch.generation { SystemCalls.unlock(slotReader.descriptor) }
    SystemCalls.closeFile(slotReader.descriptor)
  }

  var header: TableHeader { slotReader.header }

  /// True when the file has lost its name to another one.
  func isReplaced() throws(SystemError) -> Bool {
    try slotReader.system.status(of: slotReader.descriptor).linkCount == 0
  }
}
