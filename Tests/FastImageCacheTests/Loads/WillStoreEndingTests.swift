import FastImageCache
import Foundation
import Locking
import TestSupport
import Testing

@Suite("A call of the hook before a store", .timeLimit(.minutes(10)))
struct WillStoreEndingTests {
  private let gate = Gate()
  private let asked = Counter()
  private let photo = Photo("a", url: "test:/1")

  /// A cache whose hook waits at the gate, in its first call.
  private func fixture() async throws -> Fixture {
    try await Fixture(willStore: { [gate, asked] image in
      guard asked.increment() == 1 else { return }
      gate.waitBlocking()
      image.bitmap = try solid(9)
    })
  }

  private func request(_ photo: Photo, in fixture: Fixture) -> Task<CachedImage, any Error> {
    Task { try await fixture.cache.image(for: photo, format: .row) }
  }

  @Test("keeps no cancelled subscriber, and nothing is stored after the last one left")
  func endsWithWaiters() async throws {
    let fixture = try await fixture()
    let task = request(photo, in: fixture)
    await asked.reaches(1)
    task.cancel()
    await #expect { try await task.value } throws: { $0.isCancelled }
    gate.open()
    await fixture.quiet()
    #expect(await fixture.cache.statistics().stores == 0)
  }

  @Test("does not keep a closed cache, whose subscribers hear of that at once")
  func endsWithCache() async throws {
    let fixture = try await fixture()
    let task = request(photo, in: fixture)
    await asked.reaches(1)
    await fixture.cache.close()
    await #expect(throws: ImageCacheError.closed) { try await task.value }
    gate.open()
    await fixture.quiet()
  }

  @Test("changes nothing in an image that is stored by hand meanwhile")
  func losesToStore() async throws {
    let fixture = try await fixture()
    let task = request(photo, in: fixture)
    await asked.reaches(1)
    try await fixture.cache.store(solid(3), for: photo, format: .row)
    #expect(try await task.value.solidNumber == 3)
    gate.open()
    await fixture.quiet()
    #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber == 3)
  }

  @Test("outlives a removal of its image, which is delivered and not stored")
  func outlivesRemoval() async throws {
    let fixture = try await fixture()
    let task = request(photo, in: fixture)
    await asked.reaches(1)
    try await fixture.cache.removeImage(for: photo, format: .row)
    gate.open()
    let image = try await task.value
    #expect(image.isPrivate && image.solidNumber == 9)
    #expect(!fixture.cache.containsImage(for: photo, format: .row))
  }

  @Test("for a store by hand throws nothing away but the store of a cancelled task")
  func endsWithTask() async throws {
    let fixture = try await Fixture(willStore: { [gate, asked] _ in
      asked.increment()
      gate.waitBlocking()
      throw HookError()
    })
    let task = Task { try await fixture.cache.store(solid(1), for: photo, format: .row) }
    await asked.reaches(1)
    task.cancel()
    gate.open()
    await #expect { try await task.value } throws: { $0.isCancelled }
    #expect(!fixture.cache.containsImage(for: photo, format: .row))
  }

  @Test("for a store by hand outlives the cache, which stores nothing more")
  func outlivesCache() async throws {
    let fixture = try await fixture()
    let task = Task { try await fixture.cache.store(solid(1), for: photo, format: .row) }
    await asked.reaches(1)
    await fixture.cache.close()
    gate.open()
    await #expect(throws: ImageCacheError.closed) { try await task.value }
  }
}
