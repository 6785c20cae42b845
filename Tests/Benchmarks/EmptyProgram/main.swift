// The least that a Swift program costs: it writes one byte, so that its reader knows when it ran.

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

var byte: UInt8 = 1
// A reader that is gone needs no byte.
_ = write(STDOUT_FILENO, &byte, 1)
