/// The file of a table's pairs of stamp and time: `UseTimes` beside the table's own file. It belongs to the owner of
/// the table, and has no lock of its own.
extension TableOpener {
  private var timesName: String { TableDirectory.timesName(of: fileName) }

  /// What an earlier session noted; nothing where there is no file that fits.
  ///
  /// - Throws: Why a file that is there cannot be read, so that it is not replaced.
  func readUseTimes(of file: TableFile) throws(SystemError) -> UseTimes {
    if directory.isMemory { return UseTimes() }
    let descriptor: FileDescriptor
    do throws(SystemError) {
      descriptor = FileDescriptor(
        try system.openFile(timesName, in: directory.descriptor, .reading))
    } catch  where error.isMissing || error.isReplaceable {
      return UseTimes()
    }
    let status = try system.status(of: descriptor.value)
    guard status.isRegularFile, status.isPrivate,
      var times = UseTimes(
        try system.read(descriptor.value, count: UseTimes.maximumByteCount, at: 0),
        nonce: file.header.nonce)
    else { return UseTimes() }
    times.resume(after: file.states.earlierStamp)
    return times
  }

  /// Puts a file with these pairs in the place of the older one, which stays after an error.
  func write(_ times: UseTimes, of file: TableFile) throws(SystemError) {
    if directory.isMemory { return }
    let temporary = TableDirectory.temporaryName(for: fileName)
    let descriptor = FileDescriptor(
      try system.openFile(temporary, in: directory.descriptor, .creating))
    do throws(SystemError) {
      try system.protect(descriptor.value, as: protection)
      try system.write(times.bytes(nonce: file.header.nonce), to: descriptor.value, at: 0)
      try system.rename(temporary, to: timesName, in: directory.descriptor)
    } catch {
      try? system.unlink(temporary, in: directory.descriptor)
      throw error
    }
  }
}
