import Foundation
import Locking
import TableStore
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A source that had no image", .timeLimit(.minutes(10)))
struct RememberedFailureTests {
  private let clock = ManualClock()
  private let photo = Photo("7")
  private let gone = ImageCacheError.sourceFailed(
    URL(string: "test:/7"), underlying: ImageSourceError.httpStatus(404))

  /// A source that fails with a status as long as there is one.
  private func fixture(
    _ status: Int? = 404, formats: [ImageFormat] = [.row], for duration: Duration? = .seconds(60)
  ) async throws -> (fixture: Fixture, status: Lock<Int?>) {
    let status = Lock(status)
    let source = ScriptedSource { url, _, _ in
      if let status = status.withLock({ $0 }) { throw ImageSourceError.httpStatus(status) }
      return .bitmap(try solid(Int(url.lastPathComponent) ?? 0))
    }
    let fixture = try await Fixture(formats, source: source) {
      $0.failureMemory = duration
      $0.clock = clock
    }
    return (fixture, status)
  }

  private func fails(
    _ fixture: Fixture, _ photo: Photo? = nil, options: LoadOptions = LoadOptions()
  ) async throws {
    await #expect(throws: gone) { try await fixture.image(photo ?? self.photo, .row, options) }
  }

  @Test("is asked again for each request by default")
  func asksAgain() async throws {
    let (fixture, _) = try await fixture(for: nil)
    for _ in 1...3 { try await fails(fixture) }
    #expect(fixture.source.started.value == 3)
  }

  @Test("is not asked again until the time is over, and each request fails in the same way")
  func isRemembered() async throws {
    let (fixture, status) = try await fixture()
    let events = fixture.cache.events()
    try await fails(fixture)
    status.withLock { $0 = nil }
    // Another entity of the URL and version.
    var other = Photo("b", version: photo.versionID(for: .row), url: "test:/7")
    other.original = "7"
    try await fails(fixture)
    try await fails(fixture, other)
    let steps = fixture.cache.progress(for: photo, format: .row)
    #expect(await steps.first { _ in true }?.error == gone)
    #expect(fixture.source.started.value == 1)
    let statistics = await fixture.cache.statistics()
    #expect(statistics.failures == 4 && statistics.misses == 4)
    clock.advance(by: .seconds(60))
    #expect(try await fixture.image(photo).solidNumber == 7)
    #expect(fixture.source.started.value == 2)
    await fixture.cache.close()
    var failed = 0
    for await event in events { if case .failed = event { failed += 1 } }
    #expect(failed == 4)
  }

  @Test("that may have one soon is asked again", arguments: [401, 429, 500])
  func asksAfter(status: Int) async throws {
    let (fixture, answer) = try await fixture(status)
    await #expect(throws: ImageCacheError.self) { try await fixture.image(photo) }
    answer.withLock { $0 = nil }
    #expect(try await fixture.image(photo).solidNumber == 7)
  }

  @Test("is asked again for a request that comes with the answer", arguments: [401, 404])
  func asksAfterAnswer(status: Int) async throws {
    let (fixture, answer) = try await fixture(status, for: nil)
    let (registry, answered) = (fixture.cache.registry, Counter())
    let requests = try (1...2).map { _ in try fixture.cache.request(for: photo, format: .row) }
    let number = Lock<Int?>(nil)
    registry.join([requests[0]], .medium) { _, _ in
      answer.withLock { $0 = nil }
      registry.join([requests[1]], .medium) { _, outcome in
        if case .success(let image) = outcome { number.withLock { $0 = image.solidNumber } }
        answered.increment()
      }
    }
    await answered.reaches(1)
    #expect(number.withLock { $0 } == 7)
  }

  @Test("is asked once for requests that join before its refusal")
  func refusesJoined() async throws {
    let gate = CancellableGate()
    let source = ScriptedSource { _, _, _ in
      try await gate.pass()
      throw ImageSourceError.httpStatus(401)
    }
    let fixture = try await Fixture([.row, .large], source: source)
    let first = Task { try await fixture.image(photo, .row) }
    await source.started.reaches(1)
    let second = Task { try await fixture.image(photo, .large) }
    await fixture.subscribers(2)
    gate.open()
    for task in [first, second] {
      await #expect(throws: ImageCacheError.self) { try await task.value }
    }
    #expect(source.started.value == 1)
  }

  @Test("is asked about other versions, and by other accounts")
  func separates() async throws {
    let (fixture, status) = try await fixture()
    try await fails(fixture)
    status.withLock { $0 = nil }
    _ = try await fixture.image(Photo("7", version: "2"))
    _ = try await fixture.image(
      Photo("c", version: photo.versionID(for: .row), url: "test:/7"), .row,
      LoadOptions(account: AccountID("b")))
    #expect(fixture.source.started.value == 3)
  }

  enum Forgetting: CaseIterable {
    case reload, revalidate, refresh, removal, all, store, trim, other
  }

  @Test("is asked once what was known of it is forgotten", arguments: Forgetting.allCases)
  func forgets(_ way: Forgetting) async throws {
    let (fixture, status) = try await fixture()
    let cache = fixture.cache
    try await fails(fixture)
    status.withLock { $0 = nil }
    switch way {
    case .reload, .revalidate:
      _ = try await cache.image(
        for: photo, format: .row,
        options: LoadOptions(way == .reload ? .reload : .revalidate))
      try await cache.removeImage(for: photo, format: .row)
    case .refresh: try await cache.refresh(photo)
    case .removal: try await cache.removeImages(for: photo)
    case .all: try await cache.removeAllImages()
    case .store:
      try await cache.store(try solid(1), for: photo, format: .row)
      let table = try #require(cache.tables[.row])
      _ = try await table.write { store throws(TableError) in try store.removeAll() }
    case .trim: cache.trimMemory(.partials)
    case .other: try await cache.removeImages(for: ImageID("x"))
    }
    if way == .other {
      try await fails(fixture)
    } else {
      #expect(try await cache.image(for: photo, format: .row).solidNumber == 7)
    }
  }

  @Test("does not count for the image that a table has")
  func showsStored() async throws {
    let (fixture, status) = try await fixture(nil, formats: [.row, .large])
    _ = try await fixture.image(photo)
    await fixture.quiet()
    status.withLock { $0 = 404 }
    await #expect(throws: gone) { try await fixture.image(photo, .large) }
    #expect(try await fixture.image(photo).solidNumber == 7)
  }

  @Test("that fails after a removal is asked again, since its load began before")
  func raceWithRemoval() async throws {
    let gate = CancellableGate()
    let source = ScriptedSource { _, call, _ in
      if call > 1 { return .bitmap(try solid(7)) }
      try await gate.pass()
      throw ImageSourceError.httpStatus(404)
    }
    let fixture = try await Fixture(source: source) { $0.failureMemory = .seconds(60) }
    let load = Task { try await fixture.image(photo) }
    await fixture.subscribers(1)
    await source.started.reaches(1)
    try await fixture.cache.removeImages(for: photo)
    gate.open()
    await #expect(throws: gone) { try await load.value }
    #expect(try await fixture.image(photo).solidNumber == 7)
  }
}

extension ImageProgress {
  fileprivate var error: ImageCacheError? {
    if case .failed(let error) = self { error } else { nil }
  }
}

@Suite("A memory of failures", .timeLimit(.minutes(10)))
struct FailureMemoryTests {
  private let start = ContinuousClock.now
  private let error = ImageCacheError.undecodable(nil, reason: .truncated)
  private var memory = FailureMemory(for: .seconds(10), limit: 3)

  private func name(_ number: Int, version: ImageID = "1") -> FailureMemory.Name {
    let url = URL(fileURLWithPath: "/\(number)")
    return FailureMemory.Name(loadKey: .url(url), version: version)
  }

  private mutating func note(
    _ number: Int, _ error: ImageCacheError? = nil, entity: ImageID = "a", load: Int = 1,
    after seconds: Int = 0
  ) {
    memory.note(
      error ?? self.error, of: name(number), for: entity, load: load, at: start + .seconds(seconds))
  }

  private mutating func refuses(
    _ number: Int, entity: ImageID = "a", version: ImageID = "1", after seconds: Int = 0
  ) -> Bool {
    memory.refusal(
      of: name(number, version: version), for: entity, at: start + .seconds(seconds)) == error
  }

  @Test("keeps no more than its limit, and asks again for an address that everything has")
  mutating func isBounded() {
    for number in 1...4 { note(number, after: number) }
    #expect(memory.count == 3 && !refuses(1))
    for number in 5...6 { note(number, after: 13) }
    #expect(memory.count == 3)
    #expect(refuses(6, after: 13) && !refuses(3, after: 13))
    for entity in ["a", "b", "c"] { #expect(refuses(6, entity: ImageID(entity), after: 13)) }
    #expect(!refuses(6, entity: "d", after: 13))
  }

  @Test("remembers errors that come back, and no others")
  mutating func choosesErrors() async {
    func failed(_ error: any Error) -> ImageCacheError { .sourceFailed(nil, underlying: error) }
    let definite: [ImageCacheError] = [
      error, failed(ImageSourceError.httpStatus(404)), failed(ImageSourceError.httpStatus(410)),
      failed(ImageSourceError.notFound(path: "/1")),
      failed(await chained(ImageSourceError.offline, ImageSourceError.httpStatus(404))),
    ]
    let passing: [ImageCacheError] =
      [
        .cancelled, .undecodable(nil, reason: .outOfMemory), .undecodable(nil, reason: .cancelled),
        .imageTooLarge(nil, ""), failed(ImageSourceError.offline),
        failed(ImageSourceError.timedOut(after: .seconds(1))),
        failed(ImageSourceError.network("reset")), failed(CancellationError()),
        failed(await chained(ImageSourceError.httpStatus(404), ImageSourceError.offline)),
      ] + [401, 403, 408, 429, 500, 503].map { failed(ImageSourceError.httpStatus($0)) }
    for error in definite + passing {
      #expect(error.isDefinite == definite.contains(error), "\(error)")
    }
    for error in passing { note(1, error) }
    #expect(memory.count == 0)
  }

  /// The failure of a chain whose sources fail so.
  private func chained(_ errors: ImageSourceError...) async -> any Error {
    let chain = ImageSourceChain(errors.map { error in ClosureImageSource { _ in throw error } })
    let request = ImageSourceRequest(url: URL(fileURLWithPath: "/1"))
    do { _ = try await chain.response(to: request) } catch { return error }
    return CancellationError()
  }
}
