import Locking

extension TableWriter {
  /// Notes that the present stamp is that of a time, and names the latest one that was noted a lifetime ago.
  mutating func noteTime(_ time: Int64, lifetime: Int64) throws(TableError) -> UInt64? {
    try ensureWritable()
    guard let file = lookup.file else { throw .closed }
    let stamp = lookup.current.withLock { $0.index.markUses() }
    // A full disk fails the note and needs the removals, which go by the times that stand.
    try? note(stamp, at: time, lifetime: lifetime, in: file)
    return useTimes?.stamp(at: time - lifetime)
  }

  private mutating func note(
    _ stamp: UInt64, at time: Int64, lifetime: Int64, in file: TableFile
  ) throws(SystemError) {
    let isOwner = ownedFile === file
    // First: a use that is lost with the process must be later than all pairs.
    if isOwner { try writeRecency(to: file) }
    var times = useTimes ?? UseTimes()
    if isOwner, useTimes == nil { times = try opener.readUseTimes(of: file) }
    let former = times
    // A clock that stands more than an hour before the last store stands too early.
    if time + 3600 >= Int64(clamping: generation / 1_000_000) {
      times.note(stamp, at: time, lifetime: lifetime)
    }
    useTimes = times
    if isOwner, times != former { try opener.write(times, of: file) }
  }

  /// Writes the order of use, so that uses count though the process is killed.
  mutating func writeUses() throws(TableError) {
    try ensureWritable()
    guard let file = ownedFile else { return }
    try opener.wrapping { () throws(SystemError) in try writeRecency(to: file) }
  }
}
