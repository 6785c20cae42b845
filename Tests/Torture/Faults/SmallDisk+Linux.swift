#if os(Linux)
  import Glibc

  /// A file system that is soon full.
  enum SmallDisk {
    /// False where this process may not mount anything.
    static func mount(at path: String, byteCount: Int) -> Bool {
      Glibc.mount("tmpfs", path, "tmpfs", 0, "size=\(byteCount)") == 0
    }

    static func unmount(_ path: String) { _ = umount2(path, Int32(MNT_DETACH)) }
  }
#endif
