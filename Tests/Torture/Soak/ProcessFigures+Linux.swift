#if os(Linux)
  import CInterposer
  import CommandSupport
  import Glibc

  extension ProcessFigures {
    static func now() -> ProcessFigures {
      let used = interposer_bytes_in_use()
      let pages = text(of: "/proc/self/statm").split(separator: " ").first.flatMap { Int($0) } ?? 0
      return ProcessFigures(
        memoryByteCount: ProcessMemory.privateByteCount(),
        usedByteCount: used < 0 ? nil : used,
        addressSpaceByteCount: pages * Int(getpagesize()),
        descriptorCount: entryCount(of: "/proc/self/fd"),
        mappingCount: text(of: "/proc/self/maps").split(separator: "\n").count,
        threadCount: entryCount(of: "/proc/self/task"))
    }

    /// Counts a folder's entries, without `.` and `..`.
    private static func entryCount(of path: String) -> Int {
      guard let folder = opendir(path) else { return 0 }
      defer { closedir(folder) }
      var count = -2
      while readdir(folder) != nil { count += 1 }
      return count
    }

    private static func text(of path: String) -> String {
      guard let file = fopen(path, "r") else { return "" }
      defer { fclose(file) }
      // Files of proc(5) announce no size.
      var bytes: [UInt8] = []
      var part = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        let count = fread(&part, 1, part.count, file)
        if count == 0 { return String(decoding: bytes, as: UTF8.self) }
        bytes += part[..<count]
      }
    }
  }
#endif
