import TableStore

extension ImageCache {
  /// Lets go of the locks on all table files until ``resume()``, for a process about to be stopped.
  ///
  /// iOS ends an app that is suspended while it has files in a shared container locked. Call this
  /// when the app goes to the background, and ``resume()`` when it comes back; a cache in the app's
  /// own caches folder needs neither.
  ///
  /// ```swift
  /// .onChange(of: scenePhase) { _, phase in
  ///   Task { if phase == .active { await cache.resume() } else { try? await cache.suspend() } }
  /// }
  /// ```
  ///
  /// Removals and the order of use are written first. Pictures on screen stay as they are. Until
  /// ``resume()`` another process may take the tables over; this one still finds pictures in them,
  /// by copying and checking each, and keeps new ones in private files, which are moved into the
  /// tables afterwards and lost if the process ends before. Caches of one process on one namespace
  /// share their tables: these are suspended until each of the caches that asked for it resumes.
  ///
  /// Tables with ``ImageFormat/Protection/complete`` cannot be suspended once the device is locked, so
  /// suspend as soon as the app leaves the screen; the system locks their files some seconds later.
  ///
  /// Suspend before ``close()`` if pictures of a closed cache stay on screen, since those keep its
  /// locks.
  ///
  /// - Throws: ``ImageCacheError/diskFull``, ``ImageCacheError/protectedNow(format:)`` and
  ///   ``ImageCacheError/storageUnavailable(_:)`` when a table is still locked, at the latest until its last picture is let go; the other tables are
  ///   suspended all the same. ``ImageCacheError/closed``.
  public func suspend() async throws(ImageCacheError) {
    guard life != .closed else { throw .closed }
    life = .suspended
    // A process in the background is not to hold what it can do without.
    spareMemory.pause()
    var failure: ImageCacheError?
    for table in tables.all where life != .active {
      do throws(ImageCacheError) {
        try await table.write { store throws(TableError) in try store.suspend() }
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  /// Takes the tables again that ``suspend()`` let go, and brings new pictures along.
  ///
  /// Tables that another process has taken over stay with it: this one reads them, and takes each
  /// over at its first change after the other process is gone. Pictures found in a table taken back
  /// are checked anew at their first hit, since anybody may have written meanwhile.
  public func resume() async {
    guard life != .closed else { return }
    life = .active
    spareMemory.resume()
    // Resuming throws nothing.
    for table in tables.all where life == .active { try? await table.write { $0.resume() } }
  }
}
