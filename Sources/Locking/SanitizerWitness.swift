#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Where `dlsym(3)` looks: `RTLD_DEFAULT`, whose macro Swift cannot import.
package enum LinkedSymbols {
  #if canImport(Darwin)
    package static var everywhere: UnsafeMutableRawPointer? { .init(bitPattern: -2) }
  #else
    package static var everywhere: UnsafeMutableRawPointer? { nil }
  #endif
}

/// Tells the thread sanitizer what it cannot see; without the sanitizer there is nobody to tell.
///
/// - Writes that reach mapped bytes by way of `pwrite(2)`.
/// - What a continuation hands over when it is resumed before its task came to wait: the runtime tells the sanitizer of
///   the resumption, but not of the task, which just goes on.
package enum SanitizerWitness {
  private typealias WriteRange = @convention(c) (UnsafeRawPointer, UInt) -> Void
  private typealias Pass = @convention(c) (UnsafeMutableRawPointer) -> Void

  // Looked up by name, because only sanitized programs have the functions. The casts are safe: the
  // interface of the sanitizer fixes the parameters.
  private static let writeRange: WriteRange? = {
    dlsym(LinkedSymbols.everywhere, "__tsan_write_range").map {
      unsafeBitCast($0, to: WriteRange.self)
    }
  }()
  private static let acquire: Pass? = {
    dlsym(LinkedSymbols.everywhere, "__tsan_acquire").map { unsafeBitCast($0, to: Pass.self) }
  }()

  package static func willWrite(_ bytes: UnsafeRawPointer, byteCount: Int) {
    writeRange?(bytes, UInt(byteCount))
  }

  /// To be called by a task that waited for a continuation.
  package static func didResume() {
    guard let acquire else { return }
    withUnsafeCurrentTask { task in
      // The address by which the runtime tells of the resumption: the only field of the struct.
      if let task { acquire(unsafeBitCast(task, to: UnsafeMutableRawPointer.self)) }
    }
  }
}
