import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A source that asks the cache for other images", .timeLimit(.minutes(10)))
struct SourceReentrancyTests {
  private typealias Answer = @Sendable (_ number: Int, Asker) async throws -> Int

  /// The cache, as its source sees it.
  private struct Asker: Sendable {
    weak let cache: ImageCache?

    /// The number of another image, asked for as an entity of that URL.
    func number(of photo: Photo) async throws -> Int {
      guard let cache else { throw CancellationError() }
      return try await cache.image(for: photo, format: .row).solidNumber ?? -1
    }

    func number(_ number: Int) async throws -> Int {
      try await self.number(of: Photo(ImageID("plain \(number)"), url: "test:/\(number)"))
    }
  }

  /// Notes whether a load works on a question when it asks for its need.
  private struct WatchedNeeds: NeedNamingSource {
    let asker: Lock<Asker?>
    let counts: Lock<[Int]>

    func need(for url: URL) -> LoadNeed {
      counts.withLock { $0.append(ActiveCallback.current == nil ? 0 : 1) }
      return .local
    }

    func response(to request: ImageSourceRequest) async throws -> ImageSourceResponse {
      let number = Int(request.url.lastPathComponent) ?? 0
      guard number == 1, let asker = asker.withLock({ $0 }) else {
        return .bitmap(try solid(number))
      }
      return .bitmap(try solid(try await asker.number(2) + 100))
    }
  }

  private func fixture(
    localWidth: Int = 1, _ answer: @escaping Answer
  ) async throws -> Fixture {
    let asker = Lock<Asker?>(nil)
    let source = ScriptedSource { url, _, _ in
      guard let asker = asker.withLock({ $0 }) else { throw CancellationError() }
      return .bitmap(try solid(try await answer(Int(url.lastPathComponent) ?? 0, asker)))
    }
    let fixture = try await Fixture(source: source) {
      $0.resources = LoadResources(localWidth: localWidth)
    }
    asker.withLock { $0 = Asker(cache: fixture.cache) }
    return fixture
  }

  private func number(_ number: Int, from fixture: Fixture) async throws -> Int? {
    let photo = Photo(ImageID(number), url: "test:/\(number)")
    return try await fixture.image(photo).solidNumber
  }

  /// The ring that a request fails for.
  private func ring(
    _ number: Int, in fixture: Fixture
  ) async -> [ActiveCallback.Subject]? {
    do {
      _ = try await self.number(number, from: fixture)
    } catch ImageCacheError.sourceFailed(let url, let circular as CircularImageError) {
      #expect(url?.lastPathComponent == "\(number)")
      return circular.cycle
    } catch {
      Issue.record(error)
    }
    return nil
  }

  private func source(_ number: Int) throws -> ActiveCallback.Subject {
    .source(try #require(URL(string: "test:/\(number)")))
  }

  /// Nothing is left behind: no load, no subscriber, and not the only turn at the gate.
  private func isFree(_ fixture: Fixture) async throws {
    await fixture.quiet()
    await fixture.subscribers(0)
    #expect(try await number(77, from: fixture) == 77)
  }

  @Test("leaves its turn to them, if every load under way does so, too")
  func derived() async throws {
    let arrived = Counter()
    let fixture = try await fixture(localWidth: 4) { number, asker in
      guard number < 4 else { return number }
      arrived.increment()
      await arrived.reaches(4)
      return try await asker.number(number + 10) + 100
    }
    let tasks = (0..<4).map { index in Task { try await number(index, from: fixture) } }
    for (index, task) in tasks.enumerated() { #expect(try await task.value == index + 110) }
    try await isFree(fixture)
  }

  @Test("gets many with one request, however few turns there are")
  func many() async throws {
    let fixture = try await fixture { number, asker in
      guard number == 1, let cache = asker.cache else { return number }
      let photos = (2...9).map { Photo(ImageID("plain \($0)"), url: "test:/\($0)") }
      var sum = 0
      for await arrival in cache.images(for: photos, format: .row) {
        sum += try arrival.result.get().solidNumber ?? -1
      }
      return sum
    }
    #expect(try await number(1, from: fixture) == 44)
    try await isFree(fixture)
  }

  @Test("gets them beside its own work, which passes a gate meanwhile")
  func besideItsWork() async throws {
    let (arrived, door) = (Counter(), CancellableGate())
    let asker = Lock<Asker?>(nil)
    let fixture = try await Fixture {
      $0.resources = LoadResources(localWidth: 1)
      $0.source = .closure { request in
        let number = Int(request.url.lastPathComponent) ?? 0
        guard number == 1, let asker = asker.withLock({ $0 }) else {
          return .bitmap(try solid(number))
        }
        // Has not come to its gate when this load passes there.
        var photo = Photo("slow", url: "test:/2")
        photo.ownImage = { _ in
          arrived.increment()
          try await door.pass()
          return nil
        }
        async let other = asker.number(of: photo)
        await arrived.reaches(1)
        try await request.acquirePermit(.local)
        door.open()
        return .bitmap(try solid(try await other + 100))
      }
    }
    asker.withLock { $0 = Asker(cache: fixture.cache) }
    #expect(try await number(1, from: fixture) == 102)
    try await isFree(fixture)
  }

  @Test("begins loads for all their requests, which do not work on its question")
  func beginsOutside() async throws {
    let (asker, counts) = (Lock<Asker?>(nil), Lock<[Int]>([]))
    let source = WatchedNeeds(asker: asker, counts: counts)
    let fixture = try await Fixture { $0.source = source }
    asker.withLock { $0 = Asker(cache: fixture.cache) }
    #expect(try await number(1, from: fixture) == 102)
    #expect(counts.withLock { $0 } == [0, 0])
  }

  @Test("hears an error when it asks for that through others, and so does everybody in the ring")
  func throughOthers() async throws {
    let fixture = try await fixture { number, asker in
      number < 3 ? try await asker.number((number + 1) % 3) : number
    }
    let expected = try [1, 2, 0, 1].map { try source($0) }
    #expect(await ring(1, in: fixture) == expected)
    try await isFree(fixture)
  }

  @Test("hears an error when an entity that it asks asks for it")
  func throughEntity() async throws {
    let fixture = try await fixture { number, asker in
      guard number == 1 else { return number }
      var entity = Photo("entity", url: "test:/2")
      entity.ownImage = { _ in .bitmap(try solid(try await asker.number(1))) }
      return try await asker.number(of: entity)
    }
    let (ring, source) = (await ring(1, in: fixture), try source(1))
    #expect(ring?.count == 3 && ring?.first == source && ring?.last == source)
    try await isFree(fixture)
  }

  @Test("may ask for an entity of its own URL that has its image itself")
  func ownImage() async throws {
    let fixture = try await fixture { number, asker in
      guard number == 1 else { return number }
      var entity = Photo("entity", url: "test:/1")
      entity.ownImage = { _ in .bitmap(try solid(44)) }
      return try await asker.number(of: entity)
    }
    #expect(try await number(1, from: fixture) == 44)
    try await isFree(fixture)
  }

  @Test("leaves nothing behind when all callers have left")
  func cancelled() async throws {
    let (begun, never) = (Counter(), CancellableGate())
    let fixture = try await fixture(localWidth: 2) { number, asker in
      guard number < 2 else { return number }
      if number == 1 {
        begun.increment()
        try await never.pass()
      }
      return try await asker.number(number + 1)
    }
    let task = Task { try await number(0, from: fixture) }
    await begun.reaches(1)
    task.cancel()
    await #expect(throws: ImageCacheError.self) { try await task.value }
    try await isFree(fixture)
  }
}
