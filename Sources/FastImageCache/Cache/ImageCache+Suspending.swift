import TableStore

extension ImageCache {
  /// Unlocks all table files until ``resume()``, for a process about to be stopped.
  ///
  /// iOS ends an app that is suspended while it has files in a shared container locked. Call this
  /// when the app goes to the background, and ``resume()`` when it comes back; a cache in the app's
  /// own caches folder needs neither.
  ///
  /// ```swift
  /// func sceneChanged(isActive: Bool, _ cache: ImageCache) async throws {
  ///   if isActive { await cache.resume() } else { try await cache.suspend() }
  /// }
  /// ```
  ///
  /// The cache writes removals and the order of use first. Leases stay valid. Until ``resume()``
  /// another process may take the tables over; this one still finds images in them, by copying and
  /// checking each. It keeps new images in private files: ``resume()`` moves them into the tables,
  /// and they are lost if the process ends before. Caches of one process on one namespace share their
  /// tables, which stay suspended until each cache that suspended them resumes.
  ///
  /// A store of originals closes its database too, until each cache that suspended it resumes, is closed, or
  /// has lost its last reference. It answers no request and keeps no original meanwhile.
  ///
  /// Tables with ``ImageFormat/Protection/complete`` cannot be suspended once the device is locked, so
  /// suspend as soon as the app leaves the screen; the system locks their files some seconds later.
  ///
  /// Leases of a closed cache keep its files locked: if some outlive the cache, suspend before
  /// ``close()``.
  ///
  /// - Throws: ``ImageCacheError/diskFull``, ``ImageCacheError/protectedDataUnavailable(format:)`` and
  ///   ``ImageCacheError/storageUnavailable(_:)`` when a file stays locked, until its last lease ends
  ///   at the latest; the other tables are suspended all the same. ``ImageCacheError/closed``.
  public func suspend() async throws(ImageCacheError) {
    guard life != .closed else { throw .closed }
    life = .suspended
    // A process in the background holds no memory that it can do without.
    spareMemory.pause()
    await originalsUser?.suspend()
    let failure = await failureOfTables { table async throws(ImageCacheError) in
      guard life == .suspended else { return }
      try await table.write { store throws(TableError) in try store.suspend() }
    }
    if let failure { throw failure }
  }

  /// Locks the tables again that ``suspend()`` unlocked, and moves new images into them.
  ///
  /// Tables that another process has taken over stay with it: this one reads them, and takes each
  /// over at its first change after the other process is gone. The first hit on each image of a
  /// table taken back checks it anew, since any process may have written meanwhile.
  public func resume() async {
    guard life != .closed else { return }
    life = .active
    spareMemory.resume()
    originalsUser?.resume()
    // Resuming throws nothing.
    for table in tables.all where life == .active { try? await table.write { $0.resume() } }
  }
}
