#if !canImport(Darwin)
  import Foundation
  import Testing

  @testable import FastImageCache
  @testable import ImageSources

  @Suite("libcurl", .timeLimit(.minutes(10)))
  struct CurlLibraryTests {
    @Test("leaves OpenSSL usable for threads that end while the process exits")
    func keepsOpenSSLAtExit() async {
      await #expect(processExitsWith: .exitCode(7)) {
        // Handlers run in the reverse order of their registration: this one after OpenSSL's, whose first
        // functions register it.
        atexit {
          // Fails for good once OpenSSL has cleaned up; OPENSSL_init_crypto(3).
          typealias Initialize = @convention(c) (UInt64, OpaquePointer?) -> CInt
          let names = ["libcrypto.so.3", "libcrypto.so.1.1"]
          let library = names.lazy.compactMap { dlopen($0, RTLD_NOW | RTLD_NOLOAD) }.first
          // Other systems have libcurl over another library.
          guard let library else { _exit(7) }
          guard let function = dlsym(library, "OPENSSL_init_crypto") else { _exit(3) }
          _exit(unsafeBitCast(function, to: Initialize.self)(0, nil) == 1 ? 7 : 4)
        }
        try CurlLibrary.load()
        exit(0)
      }
    }
  }
#endif
