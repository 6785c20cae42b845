#if os(Linux)
  import Glibc
  import Pixels

  /// Private memory of this process.
  package enum ProcessMemory {
    /// Bytes in memory that belong to no file: `RssAnon` of proc(5).
    package static func privateByteCount() -> Int {
      let line = lines(of: "/proc/self/status").first { $0.hasPrefix("RssAnon:") }
      let kilobytes = line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
      return (kilobytes.flatMap { Int($0) } ?? 0) * 1024
    }

    /// Returns freed memory to the system, so that later allocations show in the figures:
    /// malloc_trim(3).
    package static func releaseFreeMemory() {
      SpareMemory.clearAll()
      // Looked up by name, since the Glibc module leaves out <malloc.h>, and other C libraries have
      // no such function.
      guard let symbol = dlsym(nil, "malloc_trim") else { return }
      // The type is the one in malloc_trim(3).
      let trim = unsafeBitCast(symbol, to: (@convention(c) (Int) -> CInt).self)
      _ = trim(0)
    }

    private static func lines(of path: String) -> [Substring] {
      guard let file = fopen(path, "r") else { return [] }
      defer { fclose(file) }
      // Files of proc(5) announce no size, and this one is shorter than a page.
      var bytes = [UInt8](repeating: 0, count: 8192)
      let count = fread(&bytes, 1, bytes.count, file)
      return String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n")
    }
  }
#endif
