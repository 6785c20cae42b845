extension ImageCache {
  /// Gives memory back. No image is lost, and no hit gets slower than a page fault.
  ///
  /// The cache calls this itself when the system is short of memory, until it is closed, in a process that has decoded
  /// or drawn an image: with ``MemoryTrim/spare`` at a warning, which costs no byte of a network, and with
  /// ``MemoryTrim/pages`` when it is serious. On Apple platforms these are the system's notices. On Linux 5.2 and later
  /// they come from the pressure files of the kernel: that of the machine, and that of the process's control group in a
  /// hierarchy of version 2. When some task waited for memory for 0.2 of 2 seconds, that is a warning; when all tasks
  /// did for 0.1, it is serious. That is watched from some seconds after the first image on. Where there is no such
  /// file, or the process may not use it (older kernels ask for `CAP_SYS_RESOURCE`), nothing happens by itself.
  ///
  /// An app that goes to the background may call it too:
  ///
  /// ```swift
  /// func sceneChanged(isActive: Bool, _ cache: ImageCache) {
  ///   if !isActive { cache.trimMemory(.pages) }
  /// }
  /// ```
  ///
  /// Spare memory of decodes belongs to all caches of the process; connections to the source, where it is
  /// a ``URLImageSource`` or a chain with one. Connections are closed when no download of the source is
  /// under way.
  ///
  /// Cost: from any thread, which waits for no disk and no load. ``MemoryTrim/pages`` looks at every slot,
  /// and makes a system call for each run of images that nobody holds.
  ///
  /// - Parameter level: How much.
  public nonisolated func trimMemory(_ level: MemoryTrim) {
    memory.trim(level)
    if level != .spare { registry.forgetFailures() }
  }

  /// Has the next requests of an entity ask its source, whatever they met before.
  package nonisolated func forgetFailures(of id: ImageID) { registry.forgetFailures(of: id) }

  /// The bytes in memory that ``MemoryTrim/partials`` would give back.
  package nonisolated var partialByteCount: Int { partials.byteCount }
}
