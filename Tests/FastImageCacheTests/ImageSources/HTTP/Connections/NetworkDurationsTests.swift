import Foundation
import TestSupport
import Testing

@testable import FastImageCache
@testable import ImageSources

@Suite("The times of requests", .timeLimit(.minutes(10)))
struct NetworkDurationsTests {
  private func stages(_ ends: [Int]) -> [Int64] {
    let times = NetworkDurations(ends: ends)
    return [times.lookup, times.connect, times.handshake, times.firstByte, times.transfer].map {
      $0.components.attoseconds / 1_000_000_000_000
    }
  }

  @Test("are the parts between the ends of the stages")
  func areParts() {
    #expect(stages([100, 300, 900, 1500, 2000]) == [100, 200, 600, 600, 500])
    // Plain http.
    #expect(stages([100, 300, 0, 1500, 2000]) == [100, 200, 0, 1200, 500])
    // A connection that was there.
    #expect(stages([0, 0, 0, 1500, 2000]) == [0, 0, 0, 1500, 500])
    #expect(stages([]) == [0, 0, 0, 0, 0])
    let twice = NetworkDurations(ends: [1, 2]) + NetworkDurations(ends: [10, 30])
    #expect(twice == NetworkDurations(ends: [11, 32]))
  }

  #if !canImport(Darwin)
    @Test("are told in the report of a load from a web server, redirects included, and of no other")
    func areTold() async throws {
      let server = try HTTPServer(["/a": .redirect(to: "/b"), "/b": .ok(try solid(1).pngData())])
      let test = try await Fixture(from: URLImageSource(http: .patient))
      let photo = Photo(1, url: server.url("/a").absoluteString)
      let report = try await test.cache.load(photo, format: .row).report
      let network = try #require(report.network)
      #expect(network.firstByte > .zero && network.handshake == .zero)
      #expect(network.firstByte + network.connect + network.transfer <= report.fetchDuration)
      #expect(try await test.cache.load(photo, format: .row).report.network == nil)
      let data = "data:image/png;base64,\(try solid(2).pngData().base64EncodedString())"
      #expect(try await test.cache.load(Photo(2, url: data), format: .row).report.network == nil)
    }
  #endif
}
