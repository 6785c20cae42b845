import FastImageCache
import Foundation
import TestSupport
import Testing

@Suite("A URL as an entity", .timeLimit(.minutes(10)))
struct URLEntityTests {
  private let url = URL(fileURLWithPath: "/pictures/7")

  @Test("is found again by the same URL, and removed by it or its id")
  func isFoundByItsText() async throws {
    let fixture = try await Fixture()
    let same = try #require(URL(string: "file:///pictures/7"))
    try await fixture.cache.store(solid(3), for: url, format: .row)
    #expect(fixture.cache.cachedImage(for: same, format: .row)?.solidNumber == 3)
    #expect(fixture.cache.containsImage(for: ImageID(same), format: .row))
    try await fixture.cache.removeImage(for: same, format: .row)
    #expect(!fixture.cache.containsImage(for: url, format: .row))
    try await fixture.cache.store(solid(3), for: url, format: .row)
    try await fixture.cache.removeImages(for: ImageID(url))
    #expect(!fixture.cache.containsImage(for: url, format: .row))
  }

  @Test("shares the load of an entity with that URL")
  func sharesLoads() async throws {
    let gate = CancellableGate()
    let fixture = try await Fixture(source: ScriptedSource(gate: gate))
    let photo = Photo("a", url: url.absoluteString)
    async let first = fixture.cache.image(for: photo, format: .row)
    async let second = fixture.cache.image(for: url, format: .row)
    await fixture.subscribers(2)
    gate.open()
    #expect(try await [first.solidNumber, second.solidNumber] == [7, 7])
    #expect(fixture.source.started.value == 1)
  }
}
