/// A table file that is open for reading only.
final class ReadableFile: Sendable {
  /// Which table's file it has to be. One that others may write to, or that belonged to another
  /// table, can hold anything, with hashes that are right.
  struct Expectation: Sendable {
    let name: String
    let geometry: TableGeometry
  }

  let descriptor: Int32
  let header: TableHeader
  private let system: SystemCalls

  /// - Returns: `nil` where there is no file, and for anything that is no table of this version, or
  ///   not the one expected.
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
    } catch  where error.isRefusal && !system.hasFileProtection {
      // Closed for good, so it holds nothing that could be found later.
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

  private init(
    _ descriptor: consuming FileDescriptor, _ header: TableHeader, _ system: SystemCalls
  ) {
    self.descriptor = descriptor.release()
    self.header = header
    self.system = system
  }

  deinit { SystemCalls.closeFile(descriptor) }

  var reader: SlotReader { SlotReader(descriptor: descriptor, header: header, system: system) }

  /// True when the file has lost its name to another one.
  func isReplaced() throws(SystemError) -> Bool { try system.status(of: descriptor).linkCount == 0 }
}
