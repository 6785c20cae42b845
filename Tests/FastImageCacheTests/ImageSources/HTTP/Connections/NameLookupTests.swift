#if os(Linux)
  import CTestProbes
  @testable import FastImageCache
  @testable import ImageSources
  import Foundation
  import TestSupport
  import Testing

  @Suite("A slow name server", .timeLimit(.minutes(10)))
  struct NameLookupTests {
    @Test("holds up no other load when one that asks it is cancelled", .enabled(if: holdsLookups))
    func holdsUpNobody() async throws {
      probe_begin_lookups()
      defer { probe_end_lookups() }
      let server = try HTTPServer(["/a": .ok(Data("a".utf8))])
      let source = URLImageSource { $0.allowsInsecureHTTP = true }
      let address = try #require(URL(string: "http://\(PROBE_HELD_HOST)/"))
      let held = Task { try await bytes(address, from: source) }
      let looked = Counter()
      Thread.detachNewThread {
        probe_wait_for_lookup()
        looked.increment()
      }
      await looked.reaches(1)
      held.cancel()
      await #expect(throws: CancellationError.self) { try await held.value }
      #expect(try await bytes(server.url("/a"), from: source) == Data("a".utf8))
    }

    private static var holdsLookups: Bool {
      HTTPConnections.leavesLookupsBehind && probe_holds_lookups() != 0
    }
  }
#endif
