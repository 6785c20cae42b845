import Foundation
import TestSupport
import Testing

@testable import FastImageCache

/// Each round gives up loads of which one has the only place, or the only connection, and the others wait for it.
@Suite("Loads that are given up together", .timeLimit(.minutes(10)))
struct GivingUpTests {
  private let photos = (0..<8).map { Photo(ImageID($0), url: "test:/\($0)") }

  enum Way: CaseIterable {
    case prefetch, loop, cancelledLoop, movedWindow, releasedWindow, refresh, close
  }

  /// Lets one load ask, has all be given up, and waits until none is left.
  ///
  /// - Parameter waiting: How many requests of a prefetch wait then.
  private func giveUp(
    _ way: Way, in fixture: Fixture, of photos: [Photo], asking: Counter, waiting: Int = 2
  ) async throws {
    let cache = fixture.cache
    let (formats, format) = (cache.formats, cache.formats[0])
    func begun(_ count: Int) async {
      await asking.reaches(1)
      await fixture.subscribers(count)
    }
    switch way {
    case .prefetch:
      let task = Task { await cache.prefetch(photos, format: format) }
      await begun(waiting)
      task.cancel()
      #expect(await task.value.failedCount == 0)
    case .loop:
      // A hit, so that the loop can be left while the others load.
      try await cache.store(solid(1), for: Photo("hit"), format: format)
      for await _ in cache.images(for: photos + [Photo("hit")], format: format) {
        await begun(photos.count)
        break
      }
    case .cancelledLoop:
      let task = Task { for await _ in cache.images(for: photos, format: format) {} }
      await begun(photos.count)
      task.cancel()
      await task.value
    case .movedWindow, .releasedWindow:
      var window: PrefetchWindow<Photo>? = PrefetchWindow(cache, format: format)
      window?.move(to: photos)
      await begun(waiting)
      window?.move(to: way == .movedWindow ? [] : photos)
      if way == .releasedWindow { window = nil }
      withExtendedLifetime(window) {}
    case .refresh:
      struct Several: ImageEntity {
        var imageID: ImageID { "several" }
        func sourceURL(for format: ImageFormat) -> URL? { URL(string: "test:/\(format.name)") }
      }
      for format in formats {
        try await cache.store(solid(1), for: Several(), format: format)
      }
      let task = Task { try await cache.refresh(Several()) }
      await begun(formats.count)
      task.cancel()
      _ = await task.result
    case .close:
      let task = Task { for await _ in cache.images(for: photos, format: format) {} }
      await begun(photos.count)
      await cache.close()
      await task.value
    }
    await cache.loadsHaveEnded()
  }

  @Test("begin none that waits for a place", arguments: Way.allCases)
  func beginsNone(way: Way) async throws {
    let formats = [.row] + (1...6).map { ImageFormat("\($0)", $0) }
    for _ in 0..<40 {
      let (gate, order) = (CancellableGate(), Order())
      let source = ScriptedSource { url, _, _ in
        order.note(url.lastPathComponent)
        try await gate.pass()
        return .bitmap(try solid(1))
      }
      let fixture = try await Fixture(
        way == .refresh ? formats : [.row.with(capacity: 32)], source: source
      ) {
        $0.resources = LoadResources(localWidth: 1)
      }
      try await giveUp(way, in: fixture, of: photos, asking: source.started)
      #expect(source.started.value == 1, "\(order.notes)")
      if source.started.value > 1 { break }
    }
  }

  @Test(
    "send no request of those that wait for a connection",
    arguments: [Way.prefetch, .cancelledLoop])
  func sendNone(way: Way) async throws {
    for _ in 0..<20 {
      let gate = Gate()
      defer { gate.open() }
      let server = try HTTPServer { _ in HTTPReply([.wait(gate)]) }
      var http = HTTPOptions()
      (http.connectionsPerHost, http.idleTimeout) = (1, .seconds(3600))
      let fixture = try await Fixture([.row.with(capacity: 32)], from: URLImageSource(http: http))
      let photos = (0..<8).map { Photo(ImageID($0), url: server.url("/\($0)").absoluteString) }
      try await giveUp(
        way, in: fixture, of: photos, asking: server.requests, waiting: photos.count)
      #expect(server.requests.value == 1, "\(server.arrivedRequests.map(\.path))")
      if server.requests.value > 1 { break }
    }
  }
}
