import Synchronization

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Memory that may be refused, unlike Swift's own allocation, which ends the process.
package enum SystemMemory {
  /// The unit in which the system maps files.
  static let pageByteCount = Int(getpagesize())

  package static func allocate(byteCount: Int, alignment: Int) -> UnsafeMutableRawPointer? {
    var memory: UnsafeMutableRawPointer?
    return posix_memalign(&memory, alignment, byteCount) == 0 ? memory : nil
  }

  @inline(__always)
  static func areEqual(
    _ first: UnsafeRawPointer, _ second: UnsafeRawPointer, byteCount: Int
  ) -> Bool {
    memcmp(first, second, byteCount) == 0
  }

  /// Frees memory that was allocated here.
  package static func deallocate(_ memory: UnsafeMutableRawPointer) { free(memory) }
}

/// Pages of zeros from the system; a page costs nothing until it is touched.
///
/// `calloc(3)` clears memory that was used before, all of it.
struct ZeroPages<Element: ~Copyable>: ~Copyable {
  let base: UnsafeMutablePointer<Element>
  private let byteCount: Int

  init(count: Int) {
    byteCount = max(1, count * MemoryLayout<Element>.stride)
    let access = PROT_READ | PROT_WRITE
    guard let start = mmap(nil, byteCount, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      start != MAP_FAILED
    else { preconditionFailure("There is no memory for \(byteCount) bytes of a table's index.") }
    base = start.bindMemory(to: Element.self, capacity: count)
  }

  deinit { munmap(base, byteCount) }

  /// Puts pages of zeros in the place of what is here by now, a mapped file or other zeros.
  func renew() {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED
    let fresh = mmap(base, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0)
    precondition(
      fresh == UnsafeMutableRawPointer(base), "There is no memory for pages that were there before."
    )
  }
}

/// Counts the calls of `fork(2)` between this process and its ancestor that started watching.
///
/// A child inherits descriptors, mappings and locks, but its parent does not know its leases, so
/// the child must notice the fork. Asking for the process's number would be a system call at each
/// hit.
package enum ForkWatch {
  private static let forks = Atomic<Int>(0)

  private static let isInstalled: Bool =
    pthread_atfork(
      nil, nil, { ForkWatch.forks.wrappingAdd(1, ordering: .relaxed) }) == 0

  /// Starts watching, and returns the count to compare `generation` with.
  package static func start() -> Int {
    _ = isInstalled
    return generation
  }

  /// The number of forks between this process and the one that started watching.
  package static var generation: Int { forks.load(ordering: .relaxed) }
}
