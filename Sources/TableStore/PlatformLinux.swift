#if !canImport(Darwin)
  import Glibc

  /// What Linux spells in its own way; `PlatformDarwin.swift` has the same face.
  enum Platform {
    /// Brings a file's bytes to the device, with as much of its status as is needed to read them.
    static func synchronize(_ descriptor: Int32) -> Int32 { fdatasync(descriptor) }

    /// `RTLD_DEFAULT` of `dlsym(3)`, a null pointer here, which Swift does not import.
    static var everywhere: UnsafeMutableRawPointer? { nil }
  }
#endif
