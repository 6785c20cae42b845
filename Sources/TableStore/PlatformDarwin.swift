#if canImport(Darwin)
  import Darwin

  /// What Darwin spells in its own way; `PlatformLinux.swift` has the same face.
  enum Platform {
    /// Brings a file's bytes to the device, which may keep them in a cache of its own: the full
    /// barrier of `fcntl(2)` takes too long for pictures that can be drawn again.
    static func synchronize(_ descriptor: Int32) -> Int32 { fsync(descriptor) }

    /// `RTLD_DEFAULT` of `dlsym(3)`, which Swift does not import.
    static var everywhere: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: -2) }
  }
#endif
