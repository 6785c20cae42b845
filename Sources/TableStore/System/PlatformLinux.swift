#if !canImport(Darwin)
  import CMappedFiles
  import Glibc

  /// Linux's forms of calls that differ between systems; `PlatformDarwin.swift` has the same face.
  enum Platform {
    /// Brings a file's bytes to the device, with the part of its status that reading them needs.
    static func synchronize(_ descriptor: Int32) -> Int32 { fdatasync(descriptor) }

    /// A locked device closes no file to its owner.
    static let hasFileProtection = false

    static func protect(_ descriptor: Int32, as protection: FileProtection) -> Int32 { 0 }

    /// -1 with `errno` set on failure.
    static func allocate(_ descriptor: Int32, _ byteCount: Int) -> Int32 {
      let code = posix_fallocate(descriptor, 0, off_t(byteCount))
      errno = code
      return code == 0 ? 0 : -1
    }

    /// True where a block that a file has is written in place, so that a full disk refuses no write to
    /// it: ext2 to ext4, XFS, tmpfs, overlays of them. Elsewhere, as on btrfs and ZFS, a write through a
    /// mapping may find the disk full, which is a signal.
    static func writesInPlace(_ descriptor: Int32) -> Bool {
      [0xEF53, 0x5846_5342, 0x0102_1994, 0x794C_7630].contains(fic_volume_type(descriptor))
    }

    /// When an open file was made; 0 where the system does not tell.
    static func birthTime(of descriptor: Int32) -> Int64 { fic_birth_time(descriptor) }

    /// Has pages of memory ready, which is faster at once than one fault for each, and fastest with huge
    /// ones (`MADV_HUGEPAGE`). Kernels before 5.14 do not know `MADV_POPULATE_WRITE`, and pages come at
    /// their first use.
    static func populate(_ start: UnsafeMutableRawPointer, _ byteCount: Int) {
      if byteCount >= 1 << 21 { _ = madvise(start, byteCount, 14) }
      _ = madvise(start, byteCount, 23)
    }

    static func readBootID() -> String? {
      let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return nil }
      defer { close(file) }
      return withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { bytes in
        let count = read(file, bytes.baseAddress, bytes.count)
        return count < 32 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
      }
    }

    /// A file of memory, which never has a name and reaches no disk but by swapping.
    ///
    /// - Parameter folder: Where systems without such files make them.
    static func makeMemoryFile(in folder: String) -> Int32 { fic_memory_file() }

    /// Has the system take pages of a shared mapping before others, by `MADV_COLD`; kernels before 5.4
    /// do not know it. `MADV_DONTNEED` would unmap the pages, and every next look would fault.
    static func cool(_ start: UnsafeMutableRawPointer?, _ byteCount: Int) -> Int32 {
      madvise(start, byteCount, MADV_COLD)
    }

    /// The kind of volume that an open file is on, by the numbers of statfs(2).
    static func volumeKind(of descriptor: Int32) -> VolumeKind {
      volumeKind(fileSystemType: fic_volume_type(descriptor))
    }

    static func volumeKind(fileSystemType type: UInt32) -> VolumeKind {
      typesUnsafeToMap.contains(type) ? .unsafeToMap : .safeToMap
    }

    static func isOnNetwork(_ descriptor: Int32) -> Bool {
      networkTypes.contains(fic_volume_type(descriptor))
    }

    /// From linux/magic.h, and otherwise from statfs(2) or the drivers.
    private static let networkTypes: Set<UInt32> = [
      0x6969,  // NFS
      0x517B, 0xFF53_4D42, 0xFE53_4D42,  // SMB, CIFS, SMB 2
      0x0102_1997,  // 9P
      0x5346_414F, 0x6B41_4653,  // AFS
      0x00C3_6400,  // Ceph
      0x7375_7245,  // Coda
      0x564C,  // NCP
      0x7461_636F, 0x0116_1970,  // OCFS 2, GFS 2: several machines on one disk
    ]

    private static let typesUnsafeToMap = networkTypes.union([
      0,  // unknown
      0x6573_5546,  // FUSE
      0x4D44, 0x2011_BAB0,  // FAT, exFAT: sticks and cards
    ])
  }
#endif
