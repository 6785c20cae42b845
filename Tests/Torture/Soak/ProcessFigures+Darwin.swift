#if canImport(Darwin)
  import CommandSupport
  import Darwin

  extension ProcessFigures {
    static func now() -> ProcessFigures {
      ProcessFigures(
        memoryByteCount: ProcessMemory.privateByteCount(), usedByteCount: nil,
        addressSpaceByteCount: 1 << 40,
        descriptorCount: (0..<getdtablesize()).count { fcntl($0, F_GETFD) != -1 },
        mappingCount: 0, threadCount: 0)
    }
  }
#endif
