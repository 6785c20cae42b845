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
/// - What a continuation hands over when it is resumed before its task came to wait: the runtime tells
///   the sanitizer of tasks that are made to go on, and that one just goes on.
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
  private static let release: Pass? = {
    dlsym(LinkedSymbols.everywhere, "__tsan_release").map { unsafeBitCast($0, to: Pass.self) }
  }()
  private static let acquire: Pass? = {
    dlsym(LinkedSymbols.everywhere, "__tsan_acquire").map { unsafeBitCast($0, to: Pass.self) }
  }()

  package static func willWrite(_ bytes: UnsafeRawPointer, byteCount: Int) {
    writeRange?(bytes, UInt(byteCount))
  }

  /// To be called before a continuation is resumed, with an object that the waiting task names too.
  package static func willResume(at place: some AnyObject) {
    release?(Unmanaged.passUnretained(place).toOpaque())
  }

  /// To be called by the task that waited.
  package static func didResume(at place: some AnyObject) {
    acquire?(Unmanaged.passUnretained(place).toOpaque())
  }
}
