#if canImport(Darwin)
  /// A file system that is soon full; a disk image would need programs that this leaves alone.
  enum SmallDisk {
    static func mount(at path: String, byteCount: Int) -> Bool { false }
    static func unmount(_ path: String) {}
  }
#endif
