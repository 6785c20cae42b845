#if canImport(Darwin)
  import CommandSupport
  import Darwin

  /// Memory, descriptors and mappings of this process at one moment; figures that this system does
  /// not give are `nil` or constant.
  struct ProcessFigures: Sendable {
    let memoryByteCount: Int
    let usedByteCount: Int?
    let addressSpaceByteCount: Int
    let descriptorCount: Int
    let mappingCount: Int
    let threadCount: Int

    static func now() -> ProcessFigures {
      ProcessFigures(
        memoryByteCount: ProcessMemory.privateByteCount(), usedByteCount: nil,
        addressSpaceByteCount: 1 << 40,
        descriptorCount: (0..<getdtablesize()).count { fcntl($0, F_GETFD) != -1 },
        mappingCount: 0, threadCount: 0)
    }
  }
#endif
