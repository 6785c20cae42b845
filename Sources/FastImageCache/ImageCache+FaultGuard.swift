import TableStore

extension ImageCache {
  /// Lets this process outlive somebody else's cutting short of a table file while its pictures are
  /// on screen.
  ///
  /// Reading a mapped page that its file has lost raises SIGBUS, which ends a process. With the
  /// guard such a page reads as zeros, which shows as black or transparent. A moment later each
  /// table whose file was cut goes on with a new file that has the pictures left, so that the others
  /// are misses and are loaded anew. The same helps when a disk fails under a mapping.
  ///
  /// It is a decision of the program and never taken by itself, because a signal has one handler in
  /// a process:
  ///
  /// - Call it once, early, after crash reporters were installed, whose handlers then still get every
  ///   SIGBUS that is not about a table. A handler that is installed later comes first, and has to
  ///   pass on what is not its own.
  /// - SIGBUS must not be blocked in any thread that reads pixels.
  /// - It helps this process only. A display server or a graphics driver that reads the pages itself
  ///   is on its own.
  /// - A lost page shows as zeros until the picture is asked for again; nobody is told.
  /// - The first 1024 mappings of a process are guarded.
  /// - On Apple platforms it has not run yet; a debugger there stops at the fault before any handler.
  ///
  /// - Throws: ``ImageCacheError/storageUnavailable(_:)`` when the handler cannot be installed.
  public static func installFaultGuard() throws(ImageCacheError) {
    do { try FaultGuard.install() } catch { throw ImageCacheError(error) }
  }
}
