#if canImport(Darwin)
  /// A file system that is soon full; none here, since a disk image would need other programs.
  enum SmallDisk {
    static func mount(at path: String, byteCount: Int) -> Bool { false }
    static func unmount(_ path: String) {}
  }
#endif
