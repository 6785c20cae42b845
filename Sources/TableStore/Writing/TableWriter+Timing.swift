import Locking

extension TableWriter {
  /// Notes that the present stamp is that of a time, and names the latest one that was noted a lifetime ago.
  mutating func noteTime(_ time: Int64, lifetime: Int64) throws(TableError) -> UInt64? {
    try ensureWritable()
    guard let file = lookup.file else { throw .closed }
    let stamp = lookup.current.withLock { $0.index.markUses() }
    let isOwner = ownedFile === file
    try opener.wrapping { () throws(SystemError) in
      // First: a use that is lost with the process must be later than all pairs.
      if isOwner { try writeRecency(to: file) }
      var times = useTimes ?? (isOwner ? opener.readUseTimes(of: file) : UseTimes())
      let former = times
      times.note(stamp, at: time, lifetime: lifetime)
      useTimes = times
      if isOwner, times != former { try opener.write(times, of: file) }
    }
    return useTimes?.stamp(at: time - lifetime)
  }
}
