#if canImport(Darwin)
  import CommandSupport
  import Darwin

  /// What this process has of the system at one moment; mappings and address space are not counted
  /// here.
  struct ProcessFigures: Sendable {
    let memoryByteCount: Int
    let addressSpaceByteCount: Int
    let descriptorCount: Int
    let mappingCount: Int

    static func now() -> ProcessFigures {
      ProcessFigures(
        memoryByteCount: ProcessMemory.privateByteCount(), addressSpaceByteCount: 1 << 40,
        descriptorCount: (0..<getdtablesize()).count { fcntl($0, F_GETFD) != -1 }, mappingCount: 0)
    }
  }
#endif
