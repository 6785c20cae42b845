import FastImageCache
import Foundation
import Locking
import TestSupport
import Testing

@Suite("A call of the hook before a store", .timeLimit(.minutes(10)))
struct WillStoreEndingTests {
  private let gate = CancellableGate()
  private let asked = Counter()
  private let ended = Counter()
  private let photo = Photo("a", url: "test:/1")

  /// A cache whose hook waits at the gate.
  private func fixture(source: ScriptedSource = ScriptedSource()) async throws -> Fixture {
    try await Fixture(
      source: source,
      willStore: { [gate, asked, ended] image, _ in
        asked.increment()
        do { try await gate.pass() } catch {
          ended.increment()
          throw error
        }
        image.bitmap = try solid(9)
      })
  }

  private func request(_ photo: Photo, in fixture: Fixture) -> Task<CachedImage, any Error> {
    Task { try await fixture.cache.image(for: photo, format: .row) }
  }

  @Test("is cancelled with the last waiter of its load, and nothing is stored")
  func endsWithWaiters() async throws {
    let fixture = try await fixture()
    let tasks = [request(photo, in: fixture), request(photo, in: fixture)]
    await fixture.waiters(2)
    await asked.reaches(1)
    tasks[0].cancel()
    await #expect { try await tasks[0].value } throws: { $0.isCancelled }
    #expect(ended.value == 0)
    tasks[1].cancel()
    await #expect { try await tasks[1].value } throws: { $0.isCancelled }
    await ended.reaches(1)
    await fixture.quiet()
    let statistics = await fixture.cache.statistics()
    #expect(statistics.stores == 0 && statistics.failures == 0 && statistics.drawings == 0)
  }

  @Test("for an entity that came later is cancelled with that one's waiters")
  func endsWithLateWaiters() async throws {
    let (first, second) = (CancellableGate(), CancellableGate())
    let fixture = try await Fixture(willStore: { [asked, ended] image, _ in
      asked.increment()
      if image.imageID == "a" { return try await first.pass() }
      do { try await second.pass() } catch {
        ended.increment()
        throw error
      }
    })
    let early = request(photo, in: fixture)
    await asked.reaches(1)
    let late = request(Photo("b", url: "test:/1"), in: fixture)
    await fixture.waiters(2)
    first.open()
    #expect(try await !early.value.isPrivate)
    await asked.reaches(2)
    late.cancel()
    await ended.reaches(1)
    await fixture.quiet()
    #expect(fixture.source.started.value == 1)
  }

  @Test("is cancelled when its cache is closed, whose waiters hear of that at once")
  func endsWithCache() async throws {
    let fixture = try await fixture()
    let task = request(photo, in: fixture)
    await asked.reaches(1)
    await fixture.cache.close()
    await #expect(throws: ImageCacheError.closed) { try await task.value }
    await ended.reaches(1)
    await fixture.quiet()
  }

  @Test("is cancelled when its picture is stored by hand meanwhile")
  func endsWithStore() async throws {
    let isFirst = Lock(true)
    let fixture = try await Fixture(willStore: { [gate, asked, ended] _, _ in
      guard
        isFirst.withLock({ isFirst in
          defer { isFirst = false }
          return isFirst
        })
      else { return }
      asked.increment()
      do { try await gate.pass() } catch {
        ended.increment()
        throw error
      }
    })
    let task = request(photo, in: fixture)
    await asked.reaches(1)
    try await fixture.cache.store(solid(3), for: photo, format: .row)
    #expect(try await task.value.solidNumber == 3)
    await ended.reaches(1)
    await fixture.quiet()
    #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber == 3)
  }

  @Test("outlives a removal of its picture, which is delivered and not stored")
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

  @Test("outlives a suspension, and its picture is kept")
  func outlivesSuspension() async throws {
    let fixture = try await fixture()
    let task = request(photo, in: fixture)
    await asked.reaches(1)
    try await fixture.cache.suspend()
    gate.open()
    #expect(try await task.value.solidNumber == 9)
    await fixture.cache.resume()
    #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber == 9)
  }

  @Test("for a store by hand is cancelled with the task that stores")
  func endsWithTask() async throws {
    let fixture = try await fixture()
    let task = Task { try await fixture.cache.store(solid(1), for: photo, format: .row) }
    await asked.reaches(1)
    task.cancel()
    await #expect { try await task.value } throws: { $0.isCancelled }
    #expect(ended.value == 1)
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
