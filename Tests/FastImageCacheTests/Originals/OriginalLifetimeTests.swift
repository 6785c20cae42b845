import Foundation
import Locking
import OriginalDatabase
import TableStore
import TestSupport
import Testing

@testable import FastImageCache

@Suite("An original whose requests say how long it is kept", .timeLimit(.minutes(10)))
struct OriginalLifetimeTests {
  private typealias Lifetime = LoadOptions.OriginalLifetime

  private let directory: TemporaryDirectory
  /// Not before the answers of sources, which are of now.
  private let time = Lock(Int64(Date().timeIntervalSince1970))
  private let hour: Int64 = 3600
  private let photo = Photo("7")

  init() throws { directory = try TemporaryDirectory() }

  /// A store as in a session of its own.
  private func store() -> OriginalStore {
    OriginalStore(directory.url, 1 << 24, system: .live) { [time] in
      time.withLock { $0 } * 1_000_000
    }
  }

  private func pass(_ seconds: Int64) { time.withLock { $0 += seconds } }

  /// Whether it is there in a later session; a use.
  private func isKept() async throws -> Bool {
    let store = store()
    let bytes = try await store.bytes(of: "test:/7")
    await store.settle()
    return bytes != nil
  }

  private func options(_ lifetime: Lifetime?) -> LoadOptions {
    LoadOptions { $0.originalLifetime = lifetime }
  }

  /// Loads the image once, for requests that share the load.
  private func load(_ lifetimes: [Lifetime?]) async throws {
    let gate = CancellableGate()
    let fixture = try await Fixture(from: EncodedSource(gate: gate)) { $0.originals = store() }
    var loads: [Task<CachedImage, any Error>] = []
    for lifetime in lifetimes {
      loads.append(
        Task { [options = options(lifetime)] in
          try await fixture.image(photo, .row, options)
        })
      await fixture.subscribers(loads.count)
    }
    gate.open()
    for load in loads { _ = try await load.value }
    #expect(await fixture.cache.statistics().fetches == 1)
    await fixture.cache.close()
  }

  @Test("goes so long after its store, or after its last use where that renews it")
  func goes() async throws {
    for renews in [false, true] {
      try await load([Lifetime(.seconds(hour), renewsOnUse: renews)])
      pass(hour * 2 / 3)
      #expect(try await isKept())
      pass(hour * 2 / 3)
      #expect(try await isKept() == renews)
      pass(hour)
      #expect(try await !isKept())
    }
    // The next answer has the lifetime of its own load.
    try await load([nil])
    pass(hour)
    #expect(try await isKept())
  }

  @Test("is fetched again by the cache once it is gone, and not before; the table's image stays")
  func isFetchedAgain() async throws {
    let source = EncodedSource()
    let store = store()
    let fixture = try await Fixture([.row, .large], from: source) { $0.originals = store }
    let options = options(Lifetime(.seconds(hour), renewsOnUse: false))
    _ = try await fixture.image(photo, .row, options)
    pass(hour - 1)
    await fixture.quiet()
    for (format, count) in [(ImageFormat.row, 1), (.large, 1), (.row, 2)] {
      try await fixture.cache.removeImage(for: photo, format: format)
      _ = try await fixture.image(photo, format)
      await fixture.quiet()
      #expect(source.started.value == count)
      if count == 1 { pass(format == .large ? 1 : 0) }
      #expect(fixture.cache.containsImage(for: photo, format: format))
    }
  }

  @Test("is kept as long as the one of the requests that wants it longest, or the store, says")
  func joins() async throws {
    let (brief, long) = (Lifetime(.seconds(hour), renewsOnUse: false), Lifetime(.seconds(2 * hour)))
    for lifetimes in [[brief, long], [long, brief]] {
      try await load(lifetimes)
      for _ in 0..<3 {
        pass(hour * 3 / 2)
        #expect(try await isKept())
      }
      pass(2 * hour)
      #expect(try await !isKept())
    }
    for lifetimes in [[brief, nil], [nil, brief]] {
      try await load(lifetimes)
      pass(29 * 24 * hour)
      #expect(try await isKept())
      pass(30 * 24 * hour)
      #expect(try await !isKept())
    }
    try await load([nil, Lifetime(.seconds(60 * 24 * hour))])
    pass(59 * 24 * hour)
    #expect(try await isKept())
  }
}

@Suite("Closing a cache with a store of originals", .timeLimit(.minutes(10)))
struct OriginalClosingTests {
  private func store(in directory: TemporaryDirectory) -> OriginalStore {
    OriginalStore(directory: directory.url, byteLimit: 16 << 20)
  }

  /// The originals that another session finds.
  private func ids(in directory: TemporaryDirectory) async throws -> Set<ImageID> {
    Set(try await OriginalStore.inspect(directory: directory.url).map(\.id))
  }

  @Test("writes the originals of the images that were delivered")
  func delivered() async throws {
    let directory = try TemporaryDirectory()
    let store = store(in: directory)
    let fixture = try await Fixture(from: EncodedSource()) { $0.originals = store }
    try await store.open()
    // The queue gets to nothing before.
    let gate = Gate()
    store.enqueue { () throws(DatabaseError) in gate.waitBlocking() }
    for number in 1...3 {
      _ = try await fixture.image(Photo(ImageID(number)))
    }
    let closing = Task { await fixture.cache.close() }
    while !fixture.cache.registry.isClosed, !Task.isCancelled { await Task.yield() }
    gate.open()
    await closing.value
    #expect(try await ids(in: directory) == ["test:/1", "test:/2", "test:/3"])
  }

  @Test("finds the original of each image that was delivered", arguments: [false, true])
  func heldBefore(hasHook: Bool) async throws {
    let originals = MemoryOriginals()
    let fixture = try await Fixture(from: EncodedSource(), originals: originals) {
      if hasHook { $0.willStore = { _ in } }
    }
    for number in 1...20 {
      _ = try await fixture.image(Photo(ImageID(number)))
      #expect(originals[ImageID("test:/\(number)")] != nil)
    }
  }

  @Test("notes what a session has used that kept nothing")
  func uses() async throws {
    let directory = try TemporaryDirectory()
    do {
      let fixture = try await Fixture(from: EncodedSource()) {
        $0.originals = self.store(in: directory)
      }
      for number in 1...2 {
        _ = try await fixture.image(Photo(ImageID(number)))
      }
      await fixture.cache.close()
    }
    let store = store(in: directory)
    let fixture = try await Fixture(from: EncodedSource()) { $0.originals = store }
    _ = try await fixture.image(Photo("1"))
    await fixture.cache.close()
    let later = self.store(in: directory)
    let list = try await later.inspect().sorted { $0.lastUse < $1.lastUse }
    #expect(list.map(\.id) == ["test:/2", "test:/1"])
  }

  @Test("waits for no source and no hook")
  func hanging() async throws {
    let directory = try TemporaryDirectory()
    let store = store(in: directory)
    let (gate, asked) = (Gate(), Counter())
    let source = EncodedSource { request, _ in
      if request.url.lastPathComponent == "1" {
        asked.increment()
        await gate.pass()
      }
      return .encoded(try solid(2).pngData())
    }
    let fixture = try await Fixture(from: source) { configuration in
      configuration.originals = store
      configuration.willStore = { _ in
        asked.increment()
        gate.waitBlocking()
      }
    }
    let loads = ["1", "2"].map { id in Task { try await fixture.image(Photo(ImageID(id))) } }
    await asked.reaches(2)
    await fixture.cache.close()
    for load in loads { await #expect(throws: ImageCacheError.closed) { try await load.value } }
    gate.open()
  }
}
