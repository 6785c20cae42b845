import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache

@Suite("An entity that asks the cache for other images", .timeLimit(.minutes(10)))
struct EntityReentrancyTests {
  /// An entity that is one more than another image.
  private func photo(
    _ id: ImageID, url: String, above other: Photo, in cache: ImageCache,
    format: ImageFormat = .row
  ) -> Photo {
    var photo = Photo(id, url: url)
    photo.ownImage = { wanted in
      guard wanted.name == ImageFormat.row.name else { return nil }
      let image = try await cache.image(for: other, format: format)
      return .bitmap(try solid((image.solidNumber ?? 0) + 1))
    }
    return photo
  }

  @Test("gets one of the same URL, and its own in another format")
  func asksForOthers() async throws {
    let fixture = try await Fixture([.row, .large])
    let plain = Photo("plain", url: "test:/5")
    let asking = photo("asking", url: "test:/5", above: plain, in: fixture.cache)
    #expect(try await fixture.image(asking).solidNumber == 6)
    #expect(fixture.source.started.value == 1)
    await fixture.quiet()
    let own = photo(
      "a", url: "test:/6", above: Photo("a", url: "test:/6"), in: fixture.cache, format: .large)
    #expect(try await fixture.image(own).solidNumber == 7)
    await fixture.quiet()
  }

  @Test("joins others that are loaded for those who do not ask")
  func sharesWithOutsiders() async throws {
    let (fixture, gate) = try await Fixture.gated()
    let cache = fixture.cache
    let plain = Photo("plain", url: "test:/2")
    let first = photo("first", url: "test:/1", above: plain, in: cache)
    let task = Task { try await cache.image(for: first, format: .row) }
    // For the first one's answer the load of the second URL has begun.
    await fixture.source.started.reaches(1)
    // It joins that load, and asks for the first one, which waits for it: no ring all the same.
    let last = photo("last", url: "test:/2", above: first, in: cache)
    let outsider = Task { try await cache.image(for: last, format: .row) }
    await fixture.subscribers(3)
    gate.open()
    #expect(try await task.value.solidNumber == 3)
    #expect(try await outsider.value.solidNumber == 4)
    await fixture.quiet()
  }

  @Test("counts as waiting only until it has answered")
  func asksLater() async throws {
    let (gate, later) = (CancellableGate(), CancellableGate())
    let fixture = try await Fixture(source: ScriptedSource(gate: gate))
    let cache = fixture.cache
    let begun = Lock<Task<CachedImage, any Error>?>(nil)
    var warming = Photo("a", url: "test:/5")
    warming.ownImage = { _ in
      let task = Task {
        try await later.pass()
        return try await cache.image(for: Photo("a", url: "test:/5"), format: .row)
      }
      begun.withLock { $0 = task }
      return nil
    }
    let entity = warming
    let task = Task { try await cache.image(for: entity, format: .row) }
    await fixture.source.started.reaches(1)
    later.open()
    await fixture.subscribers(2)
    gate.open()
    #expect(try await task.value.solidNumber == 5)
    #expect(try await begun.withLock { $0 }?.value.solidNumber == 5)
    #expect(fixture.source.started.value == 1)
    await fixture.quiet()
  }

  @Test("hears an error when it asks for itself")
  func asksForItself() async throws {
    let fixture = try await Fixture()
    let asking = photo(
      "a", url: "test:/5", above: Photo("a", url: "test:/5"), in: fixture.cache)
    await #expect(throws: ImageCacheError.self) { try await fixture.image(asking) }
    await fixture.quiet()
  }

  @Test("may ask for itself when nobody waits for its answer any more")
  func asksForItselfLate() async throws {
    let fixture = try await Fixture()
    let (cache, asked, later) = (fixture.cache, Counter(), CancellableGate())
    var other = Photo("a", url: "test:/5")
    other.ownImage = { _ in .bitmap(try solid(44)) }
    let answering = other
    let begun = Lock<Task<CachedImage, any Error>?>(nil)
    var asking = Photo("a", url: "test:/5")
    asking.ownImage = { _ in
      // A task of its own, which the cancellation of the load does not reach.
      let task = Task {
        try await later.pass()
        return try await cache.image(for: answering, format: .row)
      }
      begun.withLock { $0 = task }
      asked.increment()
      _ = try await task.value
      return nil
    }
    let entity = asking
    let leaving = Task { try await cache.image(for: entity, format: .row) }
    await asked.reaches(1)
    leaving.cancel()
    await #expect(throws: ImageCacheError.self) { try await leaving.value }
    await fixture.quiet()
    later.open()
    #expect(try await begun.withLock { $0 }?.value.solidNumber == 44)
    await fixture.quiet()
  }

  @Test("of another cache gets its own from there, and joins loads that began after its own")
  func asksAnotherCache() async throws {
    let gate = CancellableGate()
    let (fixture, elsewhere) = (
      try await Fixture(), try await Fixture(source: ScriptedSource(gate: gate))
    )
    let plain = Photo("a", url: "test:/5")
    let (asked, outsideBegan) = (Counter(), CancellableGate())
    var joining = Photo("a", url: "test:/5")
    joining.ownImage = { _ in
      asked.increment()
      try await outsideBegan.pass()
      let image = try await elsewhere.cache.image(for: plain, format: .row)
      return .bitmap(try solid((image.solidNumber ?? 0) + 1))
    }
    let asking = joining
    let joined = Task { try await fixture.image(asking) }
    await asked.reaches(1)
    let outsider = Task { try await elsewhere.cache.image(for: plain, format: .row) }
    await elsewhere.source.started.reaches(1)
    outsideBegan.open()
    await elsewhere.subscribers(2)
    gate.open()
    #expect(try await joined.value.solidNumber == 6)
    #expect(try await outsider.value.solidNumber == 5)
    #expect(elsewhere.source.started.value == 1)
    var answering = Photo("b")
    answering.ownImage = { _ in .bitmap(try solid(44)) }
    let second = photo("b", url: "test:/b", above: answering, in: elsewhere.cache)
    #expect(try await fixture.image(second).solidNumber == 45)
  }

  @Test("hears an error when the other asks for it, while others ask for that one")
  func asksInARing() async throws {
    let fixture = try await Fixture()
    let (cache, both, arrived) = (fixture.cache, CancellableGate(), Counter())
    let ring = Lock<[Photo]>([])
    func member(_ number: Int) -> Photo {
      var photo = Photo(ImageID(number), url: "test:/\(number)")
      photo.ownImage = { _ in
        arrived.increment()
        try await both.pass()
        let image = try await cache.image(for: ring.withLock { $0[1 - number] }, format: .row)
        return .bitmap(try solid((image.solidNumber ?? 0) + 1))
      }
      return photo
    }
    let members = [member(0), member(1)]
    ring.withLock { $0 = members }
    let tasks = members.map { photo in
      Task { try await cache.image(for: photo, format: .row) }
    }
    await arrived.reaches(2)
    both.open()
    for task in tasks { await #expect(throws: ImageCacheError.self) { try await task.value } }
    await fixture.quiet()
    #expect(fixture.source.started.value == 0)
  }

  @Test("inside a gate leaves the permit to the load that it asks for")
  func givesItsPermit() async throws {
    let gate = CancellableGate()
    let fixture = try await Fixture(source: ScriptedSource(gate: gate)) {
      $0.resources = LoadResources(localWidth: 1)
    }
    let cache = fixture.cache
    let first = Task { try await cache.image(for: Photo("first", url: "test:/1"), format: .row) }
    await fixture.source.started.reaches(1)
    let other = Photo("other", url: "test:/2")
    // Waits at the gate, and is joined by the one that asks.
    let waiting = Task { try await cache.image(for: other, format: .row) }
    let asking = photo("asking", url: "test:/1", above: other, in: cache)
    let late = Task { try await cache.image(for: asking, format: .row) }
    await fixture.subscribers(3)
    gate.open()
    #expect(try await late.value.solidNumber == 3)
    #expect(try await first.value.solidNumber == 1)
    #expect(try await waiting.value.solidNumber == 2)
    #expect(fixture.source.started.value == 2)
  }
}
