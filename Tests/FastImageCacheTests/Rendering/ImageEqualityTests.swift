import FastImageCache
import Foundation
import TestSupport
import Testing

@Suite("Two leases", .timeLimit(.minutes(10)))
struct ImageEqualityTests {
  @Test("on one image are equal, also when it was asked for twice")
  func areEqual() async throws {
    let fixture = try await Fixture()
    let stored = try await fixture.cache.store(solid(1), for: Photo("a"), format: .row)
    let hit = try #require(fixture.cache.cachedImage(for: Photo("a"), format: .row))
    #expect(hit == stored && hit.hashValue == stored.hashValue)
    #expect(Set([hit, stored, stored]).count == 1)
  }

  @Test("on different images differ, also when these look alike")
  func differ() async throws {
    let fixture = try await Fixture()
    let first = try await fixture.cache.store(solid(1), for: Photo("a"), format: .row)
    let other = try await fixture.cache.store(solid(1), for: Photo("b"), format: .row)
    let anew = try await fixture.cache.store(solid(1), for: Photo("a"), format: .row)
    #expect(first != other && first != anew && anew != other)
  }

  @Test("in private memory are equal to their copies only")
  func tellsPrivateApart() async throws {
    let format = ImageFormat(
      name: "row", size: .exact(PixelSize(width: 8, height: 8)), capacity: 4, devices: .watch)
    let fixture = try await Fixture([format])
    let first = try await fixture.cache.store(solid(1), for: Photo("a"), format: format)
    let second = try await fixture.cache.store(solid(1), for: Photo("a"), format: format)
    let copy = first
    #expect(first.isPrivate && first == copy && first != second)
  }
}
