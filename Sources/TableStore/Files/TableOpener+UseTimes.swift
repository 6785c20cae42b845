/// The file of a table's pairs of stamp and time: `UseTimes` beside the table's own file. It belongs to the owner of
/// the table, and has no lock of its own.
extension TableOpener {
  private var timesName: String { TableDirectory.timesName(of: fileName) }

  /// What an earlier session noted; nothing where there is no file that fits.
  func readUseTimes(of file: TableFile) -> UseTimes {
    // Any failure has images kept for longer.
    guard !directory.isMemory,
      let opened = try? system.openFile(timesName, in: directory.descriptor, .reading)
    else { return UseTimes() }
    let descriptor = FileDescriptor(opened)
    guard let status = try? system.status(of: descriptor.value), status.isRegularFile,
      status.isPrivate,
      let bytes = try? system.read(
        descriptor.value, count: UseTimes.maximumByteCount, at: 0),
      var times = UseTimes(bytes, nonce: file.header.nonce)
    else { return UseTimes() }
    times.resume(after: file.states.earlierStamp)
    return times
  }

  /// Puts a file with these pairs in the place of the older one.
  func write(_ times: UseTimes, of file: TableFile) throws(SystemError) {
    if directory.isMemory { return }
    do throws(SystemError) {
      try system.unlink(timesName, in: directory.descriptor)
    } catch  where error.isMissing {}
    let descriptor = FileDescriptor(
      try system.openFile(timesName, in: directory.descriptor, .creating))
    try system.protect(descriptor.value, as: protection)
    try system.write(times.bytes(nonce: file.header.nonce), to: descriptor.value, at: 0)
  }
}
