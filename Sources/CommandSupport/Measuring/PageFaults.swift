#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// How often this process waited for the disk to bring a page.
package enum PageFaults {
  /// Major faults since the process began: getrusage(2).
  package static var majorCount: Int {
    var usage = rusage()
    // `RUSAGE_SELF`, which is an enumeration in one C library and a number in another.
    guard getrusage(.init(0), &usage) == 0 else { return 0 }
    return Int(usage.ru_majflt)
  }
}
