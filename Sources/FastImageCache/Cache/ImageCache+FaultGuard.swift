import TableStore

extension ImageCache {
  /// Lets this process survive another program that cuts a table file short while its images are
  /// on screen.
  ///
  /// Reading a mapped page that its file has lost raises SIGBUS, which ends a process. With the
  /// guard such a page reads as zeros: black or transparent. A moment later each table whose file was
  /// cut goes on with a new file that has the images left; the others are misses and are loaded
  /// anew. The guard helps as well when a disk fails under a mapping.
  ///
  /// The cache never installs the guard by itself, because a signal has one handler in a process:
  ///
  /// - Call this once, early, after crash reporters were installed. Their handlers still get every
  ///   SIGBUS that is not about a table. A handler that is installed later comes first, and has to
  ///   pass on the signals that are not its own.
  /// - No thread that reads pixels may block SIGBUS.
  /// - The guard protects this process only, and no display server or graphics driver that reads the
  ///   pages itself.
  /// - A lost page shows as zeros until the next request for the image; no event tells of it.
  /// - The first 1024 mappings of a process are guarded.
  /// - The guard has not run on Apple platforms yet; a debugger there stops at the fault before any
  ///   handler.
  ///
  /// - Throws: ``ImageCacheError/storageUnavailable(_:)`` when the handler cannot be installed.
  public static func installFaultGuard() throws(ImageCacheError) {
    do { try FaultGuard.install() } catch { throw ImageCacheError(error) }
  }
}
