#if canImport(Darwin)
  import Darwin

  /// Darwin's forms of calls that differ between systems; `PlatformLinux.swift` has the same face.
  enum Platform {
    /// Brings a file's bytes to the device, which may keep them in a cache of its own: the full
    /// barrier of `fcntl(2)` takes too long for images that can be drawn again.
    static func synchronize(_ descriptor: Int32) -> Int32 { fsync(descriptor) }

    static let hasFileProtection = true

    /// By the numbers of `open_dprotected_np(2)`.
    static func protect(_ descriptor: Int32, as protection: FileProtection) -> Int32 {
      let number: Int32 =
        switch protection {
        case .complete: 1
        case .untilFirstUnlock: 3
        case .none: 4
        }
      return fcntl(descriptor, F_SETPROTECTIONCLASS, number)
    }

    static func allocate(_ descriptor: Int32, _ byteCount: Int) -> Int32 {
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { return -1 }
      if status.st_size >= byteCount { return 0 }
      var store = fstore_t(
        fst_flags: UInt32(F_ALLOCATEALL), fst_posmode: F_PEOFPOSMODE, fst_offset: 0,
        fst_length: off_t(byteCount), fst_bytesalloc: 0)
      if fcntl(descriptor, F_PREALLOCATE, &store) == -1 { return -1 }
      return ftruncate(descriptor, off_t(byteCount))
    }

    /// The system keeps a changed page in memory until it finds room for it.
    static func writesInPlace(_ descriptor: Int32) -> Bool { true }

    static func birthTime(of descriptor: Int32) -> Int64 {
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { return 0 }
      return Int64(status.st_birthtimespec.tv_sec) &* 1_000_000_000
        &+ Int64(status.st_birthtimespec.tv_nsec)
    }

    /// Pages of memory come at their first use.
    static func populate(_ start: UnsafeMutableRawPointer, _ byteCount: Int) {}

    static func readBootID() -> String? {
      var bytes = [UInt8](repeating: 0, count: 64)
      var count = bytes.count
      guard sysctlbyname("kern.bootsessionuuid", &bytes, &count, nil, 0) == 0, count > 32 else {
        return nil
      }
      return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// A file that loses its name at once: Darwin can write to no file of memory by `pwrite(2)`.
    ///
    /// A process that is killed between the two calls leaves an empty file.
    static func makeMemoryFile(in folder: String) -> Int32 {
      let path = "\(folder)/imagetable-\(UInt64.random(in: .min ... .max))"
      let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
      if descriptor != -1 { unlink(path) }
      return descriptor
    }

    /// Has the system take pages of a shared mapping before others: here `MADV_DONTNEED` only puts pages
    /// on the inactive queue, and drops none. `MADV_FREE` would be for private memory.
    static func cool(_ start: UnsafeMutableRawPointer?, _ byteCount: Int) -> Int32 {
      madvise(start, byteCount, MADV_DONTNEED)
    }

    /// By the name of its file system.
    static func volumeKind(of descriptor: Int32) -> VolumeKind {
      var status = statfs()
      // An unknown volume counts as unsteady.
      guard fstatfs(descriptor, &status) == 0 else { return .unsafeToMap }
      let name = withUnsafeBytes(of: &status.f_fstypename) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      return namesSafeToMap.contains(name) ? .safeToMap : .unsafeToMap
    }

    static func isOnNetwork(_ descriptor: Int32) -> Bool {
      var status = statfs()
      return fstatfs(descriptor, &status) == 0 && status.f_flags & UInt32(MNT_LOCAL) == 0
    }

    /// All others are on a network, in another program, or on sticks and cards.
    private static let namesSafeToMap: Set<String> = ["apfs", "hfs", "ufs", "tmpfs"]
  }
#endif
