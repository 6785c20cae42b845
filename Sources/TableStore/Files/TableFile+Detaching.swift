extension TableFile {
  /// Gives slots pages of their own at the same addresses, so that another process may write to the
  /// file while they are leased.
  ///
  /// The system exchanges the pages of a range in one step: a concurrent reader finds the old or the new
  /// page, and both hold the same.
  ///
  /// The caller has the lock of this file, and no lease on it may begin any more, or a slot could
  /// later show an outdated copy. After an error some of the slots are detached.
  func detach(_ slots: [Int], to copy: TableFile) throws(SystemError) {
    guard let base else { return }
    // Slots that share pages write them twice, alike.
    let ranges = slots.map(pages)
    for range in ranges {
      // Read by call: a page that the file has lost reads as zeros and raises no signal.
      var bytes = try system.read(descriptor, count: range.count, at: range.lowerBound)
      bytes += repeatElement(0, count: range.count - bytes.count)
      try system.write(bytes, to: copy.descriptor, at: range.lowerBound)
    }
    for range in ranges {
      _ = try system.map(
        copy.descriptor, byteCount: range.count, at: range.lowerBound,
        over: UnsafeMutableRawPointer(mutating: base + range.lowerBound))
    }
  }

  /// The whole pages that hold a slot, as offsets in the file.
  private func pages(of slot: Int) -> Range<Int> {
    let page = SystemMemory.pageByteCount
    let start = layout.slotOffset(slot)
    let end = start + layout.contentByteCount
    return (start / page * page)..<((end + page - 1) / page * page)
  }
}
