import Foundation
import TestSupport
import Testing

@testable import FastImageCache
@testable import ImageSources

@Suite("A server that gives no answer to a continuation", .timeLimit(.minutes(10)))
struct RangelessServerTests {
  private let original = Original.version(1)

  private func server(
    _ drop: [HTTPReply.Step], plain: @escaping @Sendable (Int) -> HTTPReply
  ) throws -> HTTPServer {
    try HTTPServer { request in
      request.firstByte == nil ? plain(request.number) : HTTPReply(drop)
    }
  }

  private func whole(cut: Int? = nil) -> HTTPReply {
    original.part(0..<3000, status: 200, cut: cut)
  }

  @Test("but closes its connection is asked once more without a range, in the same load")
  func closes() async throws {
    let whole = whole()
    let server = try server([.cut]) { _ in whole }
    let content = try await load(server.url("/a"), known: original.known(1000, from: server))
    #expect(content.arrivedBytes == original.bytes)
    #expect(server.arrivedRequests.map(\.firstByte) == [1000, nil])
  }

  #if !canImport(Darwin)
    // A session tells of no request that was sent before it ends.
    @Test("but is silent is asked so after one time limit")
    func isSilent() async throws {
      let whole = whole()
      let server = try server([.wait(Gate())]) { _ in whole }
      let clock = ManualClock()
      let source = URLImageSource(.limited(idle: 10), clock: clock) { _ in }
      let loading = Task {
        try await load(
          server.url("/a"), known: original.known(1000, from: server), from: source)
      }
      await server.requests.reaches(1)
      await clock.sleepers { !$0.isEmpty }
      clock.advance(by: .seconds(10))
      #expect(try await loading.value.arrivedBytes == original.bytes)
      #expect(server.arrivedRequests.map(\.firstByte) == [1000, nil])
    }
  #endif

  @Test("leaves what is kept until the whole answer begins")
  func keeps() async throws {
    let server = try server([.cut]) { _ in HTTPReply([.cut]) }
    let known = original.known(1000, from: server)
    let slot = Download(continuing: known)
    await #expect(throws: ImageSourceError.self) {
      try await load(server.url("/a"), known: known, slot: slot)
    }
    #expect(server.arrivedRequests.map(\.firstByte) == [1000, nil])
    #expect(slot.take()?.bytes == original.bytes.prefix(1000))
  }

  @Test("is not asked for a part again in that load")
  func goesOnPlain() async throws {
    let (broken, whole) = (whole(cut: 2000), whole())
    let server = try server([.cut]) { $0 == 2 ? broken : whole }
    let content = try await load(
      server.url("/a"), known: original.known(1000, from: server),
      from: URLImageSource(http: .retrying(1)))
    #expect(content.arrivedBytes == original.bytes)
    #expect(server.arrivedRequests.map(\.firstByte) == [1000, nil, nil])
  }

  @Test("because it cannot be reached is asked for the part again")
  func cannotBeReached() async throws {
    // Nobody listens there. The port of a server that has ended may be that of another test's server by now.
    let url = try #require(URL(string: "http://127.0.0.1:1/a"))
    var known = original.known(1000, from: try original.server())
    var terms = known.terms
    terms.origin = HTTPHost.origin(of: url)
    known = KnownOriginal(terms: terms, bytes: known.bytes, isWhole: false)
    let attempts = Counter()
    let source = URLImageSource(http: .retrying(1))
    await #expect(throws: ImageSourceError.self) {
      try await load(url, known: known, from: source) { step in
        guard step.retry != nil else { return }
        #expect(step.receivedByteCount == 1000)
        attempts.increment()
      }
    }
    #expect(attempts.value == 1)
  }
}
