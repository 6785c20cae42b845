#if !canImport(Darwin)
  import CCURL
  import Foundation
  import Locking
  import TestSupport
  import Testing

  @testable import FastImageCache
  @testable import ImageSources

  @Suite("A loop over libcurl", .timeLimit(.minutes(10)))
  struct CurlLoopTests {
    private func makeTransfer() -> HTTPTransfer {
      HTTPTransfer(
        HTTPExchange(byteCountLimit: 100),
        begin: { DownloadBuffer($0, continuing: $1, byteCountLimit: 100) }, report: { _ in })
    }

    private func load(_ url: URL, through mailbox: CurlMailbox) async throws -> Data? {
      let transfer = makeTransfer()
      let outcome = try await transfer.outcome(
        start: { mailbox.post(.start(transfer, HTTPRequest(url: url))) }, cancel: {})
      return if case .arrived(let arrival) = outcome { arrival.bytes } else { nil }
    }

    @Test("that finds no memory fails its loads, and later ones find a loop that has some")
    func noMemory() async throws {
      let server = try HTTPServer(["/a": .ok(Data("a".utf8))])
      let hasMemory = Lock(false)
      let mailbox = CurlMailbox(options: .patient) {
        hasMemory.withLock { $0 } ? fic_curl_multi_init() : nil
      }
      defer { mailbox.post(.stop) }
      await #expect(throws: ImageSourceError.noMemoryForRequest) {
        try await load(server.url("/a"), through: mailbox)
      }
      hasMemory.withLock { $0 = true }
      #expect(try await load(server.url("/a"), through: mailbox) == Data("a".utf8))
    }

    @Test("fails a load whose request libcurl does not take")
    func refusesRequest() async throws {
      let mailbox = CurlMailbox(options: .patient) {
        // No handle of libcurl's, which refuses each call with it; the test leaves it behind.
        calloc(1, 1 << 16)
      }
      defer { mailbox.post(.stop) }
      let url = try #require(URL(string: "http://127.0.0.1/"))
      await #expect(throws: ImageSourceError.noMemoryForRequest) {
        try await load(url, through: mailbox)
      }
    }

    @Test("keeps its connections where it finds no memory for others")
    func keepsConnections() async throws {
      let server = try HTTPServer(["/a": .ok(Data("a".utf8))])
      let request = HTTPRequest(url: server.url("/a"))
      let (first, second, calls) = (makeTransfer(), makeTransfer(), Counter())
      let startSecond = Lock<(@Sendable () -> Void)?>(nil)
      let mailbox = CurlMailbox(options: .patient) {
        if calls.increment() == 1 { return fic_curl_multi_init() }
        // At once, since libcurl closes a connection that rests for two minutes.
        startSecond.withLock { $0 }?()
        return nil
      }
      startSecond.withLock { $0 = { mailbox.post(.start(second, request)) } }
      defer {
        startSecond.withLock { $0 = nil }
        mailbox.post(.stop)
      }
      _ = try await second.outcome(
        start: {
          mailbox.post(.start(first, request))
          mailbox.post(.closeIdle)
        }, cancel: {})
      for buffer in [first.completeBuffer, second.completeBuffer] {
        #expect(buffer?.bytes == Data("a".utf8))
      }
      #expect(calls.value == 2 && server.connections.value == 1)
    }

    @Test("has requests wait for the first connection where its handshake tells the protocol")
    func sharesConnections() throws {
      for (text, waits) in [
        ("https://a.example/", true), ("HTTPS://a/", true), ("http://a/", false),
      ] {
        #expect(CurlExchange.waitsForConnection(to: try #require(URL(string: text))) == waits)
      }
    }

    @Test("tells a stream that was reset from a connection that is lost")
    func tellsResets() {
      #expect(CurlExchange.isReset(CURLE_HTTP2_STREAM))
      for code in [CURLE_OK, CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_PARTIAL_FILE] {
        #expect(!CurlExchange.isReset(code))
      }
    }
  }

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
