import Foundation
import Locking
import Pixels
import TableStore
import TestSupport
import Testing

@testable import FastImageCache
@testable import OriginalStore

@Suite("A store of originals", .timeLimit(.minutes(10)))
struct SourceStoreTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func store(
    _ name: String = "photos", lifetime: SourceStore.Lifetime = SourceStore.Lifetime(),
    now: Int64 = 1_700_000_000
  ) -> SourceStore {
    SourceStore(
      name: name, directory: directory.url, budget: StorageBudget(byteCount: 1 << 24),
      lifetime: lifetime, protection: .none
    ) { $0.now = { now * 1_000_000 } }
  }

  private func arrived(
    _ number: Int, fields: [String: String] = [:], received: Int64 = 1_700_000_000
  ) -> ArrivedOriginal {
    ArrivedOriginal(
      bytes: Data("original \(number)".utf8),
      terms: OriginalTerms(
        fields: fields, received: Date(timeIntervalSince1970: Double(received))),
      entity: ImageID(number), size: PixelSize(width: number, height: 2))
  }

  private func name(_ number: Int, _ audience: Audience = .everyone) -> OriginalName {
    OriginalName(id: ImageID("https://example.com/\(number)"), audience: audience)
  }

  private func keep(
    _ number: Int, _ audience: Audience = .everyone, in store: SourceStore,
    fields: [String: String] = [:]
  ) async -> Bool {
    try? await store.open()
    let isHeld = store.hold(arrived(number, fields: fields), as: name(number, audience), for: nil) {
      true
    }
    await store.write(name(number, audience))
    return isHeld
  }

  /// Waits until an original is stored.
  private func stored(in events: AsyncStream<CacheEvent>) async {
    for await case .original(_, .stored) in events { return }
  }

  @Test("gives bytes and terms back, to the audience they were loaded for")
  func bytesAndTerms() async throws {
    let store = store()
    let fields = ["ETag": "\"7\"", "Cache-Control": "max-age=60"]
    #expect(await keep(7, Audience("alice"), in: store, fields: fields))
    let name = name(7, Audience("alice"))
    #expect(store.look(name)?.freshness == .fresh)
    let read = try await store.read(name, urgency: Urgency(.current))
    #expect(read?.bytes == Data("original 7".utf8))
    #expect(read?.terms == arrived(7, fields: fields).terms)
    #expect(try await store.bytes(of: name.id, for: name.audience) == read?.bytes)
    #expect(try await store.bytes(of: name.id) == nil)
    #expect(store.look(self.name(7)) == nil)
  }

  @Test("knows in a later session how fresh an original is, and keeps nothing beyond its time")
  func freshness() async throws {
    let fields = ["Cache-Control": "max-age=60"]
    for strict in [false, true] {
      let own = strict ? ["Cache-Control": "max-age=60, must-revalidate"] : fields
      let first = store("strict \(strict)")
      #expect(await keep(7, in: first, fields: own))
      await OriginalUser(of: first.shelf).suspend()
      var seen: [Freshness?] = []
      for age in [59, 60, 86_460, 29 * 86_400, 31 * 86_400] as [Int64] {
        let later = store("strict \(strict)", now: 1_700_000_000 + age)
        try await later.open()
        seen.append(later.look(name(7))?.freshness)
      }
      let asked = Freshness.mustRevalidate(answersFailures: false)
      let expired = Freshness.expired(answersFailures: false)
      #expect(
        seen
          == (strict
            ? [.fresh, asked, asked, asked, nil] : [.fresh, .stale, expired, expired, nil]))
    }
  }

  @Test("keeps nothing that its server forbids to keep, and drops what it forbids later")
  func noStore() async throws {
    let store = store()
    #expect(await keep(7, in: store, fields: ["Cache-Control": "no-store"]) == false)
    #expect(await keep(7, in: store))
    let terms = arrived(7, fields: ["Cache-Control": "no-store"]).terms
    let hash = try #require(await store.read(name(7), urgency: Urgency(.current))?.contentHash)
    await store.confirm(name(7), of: hash &+ 1, terms, for: nil)
    #expect(store.look(name(7)) != nil)
    await store.confirm(name(7), of: hash, terms, for: nil)
    #expect(store.look(name(7)) == nil)
  }

  @Test("removes by id, entity and audience, and lists what is left")
  func removals() async throws {
    let store = store()
    for number in 1...5 {
      #expect(await keep(number, number == 5 ? Audience("alice") : .everyone, in: store))
    }
    try await store.remove(name(1).id)
    try await store.removeAll(of: ImageID(2))
    try await store.removeAll(for: Audience("alice"))
    await store.changeEntity(from: ImageID(3), to: ImageID(2))
    try await store.removeAll(of: ImageID(2))
    try await store.flush()
    let left = try await store.inspect()
    #expect(left.map(\.id) == [name(4).id])
    #expect(left.first?.entity == ImageID(4) && left.first?.byteCount == 10)
    #expect(left.first?.size == PixelSize(width: 4, height: 2))
    #expect(left.first?.isForEveryone == true && left.first?.isFresh == true)
    try await store.removeAll()
    #expect(try await store.inspect().isEmpty)
  }

  @Test("copies an original that is not written yet to a file")
  func copying() async throws {
    let store = store()
    try await store.open()
    #expect(store.hold(arrived(7), as: name(7), for: nil) { true })
    let file = directory.url.appendingPathComponent("7.jpg")
    #expect(try await store.copyFile(of: name(7).id, to: file))
    #expect(try Data(contentsOf: file) == Data("original 7".utf8))
    #expect(try await store.copyFile(of: name(8).id, to: file) == false)
    let remote = try #require(URL(string: "https://example.com/7"))
    await #expect(throws: ImageCacheError.self) {
      try await store.copyFile(of: name(7).id, to: remote)
    }
  }

  @Test("has a folder of its own for every name, whatever bytes that has")
  func names() {
    let long = String(repeating: "x", count: 300)
    let names = ["a", "A", "", "../a", "a/b", long, long + "y", "é", "e\u{301}"]
    let folders = Set(names.map { store($0).directory.lastPathComponent.lowercased() })
    #expect(folders.count == names.count)
    #expect(names.allSatisfy { store($0).directory.deletingLastPathComponent() == directory.url })
    #expect(SourceStore().directory.path.contains("/Originals/"))
  }

  @Test("gives a cache its pictures after the table is lost, without another download")
  func cache() async throws {
    let source = EncodedSource()
    let budget = StorageBudget(byteCount: 1 << 24)
    let photo = Photo("7")
    for session in 1...2 {
      let originals = SourceStore(directory: directory.url, budget: budget)
      let fixture = try await Fixture(from: source) { $0.originals = originals }
      let events = fixture.cache.events()
      #expect(try await fixture.cache.image(for: photo, format: .row).solidNumber == 7)
      if session == 1 { await stored(in: events) }
    }
    #expect(source.started.value == 1)
  }

  @Test("is suspended with its cache, and forgets an entity with its pictures")
  func suspension() async throws {
    let source = EncodedSource()
    let originals = SourceStore(directory: directory.url)
    let fixture = try await Fixture([.row, .large], from: source) { $0.originals = originals }
    try await fixture.cache.suspend()
    _ = try await fixture.cache.image(for: Photo("7"), format: .row)
    await fixture.quiet()
    #expect(try await originals.inspect().isEmpty)
    await fixture.cache.resume()
    let events = fixture.cache.events()
    _ = try await fixture.cache.image(for: Photo("8"), format: .row)
    await stored(in: events)
    #expect(try await originals.inspect().count == 1)
    // A cache that is gone suspends nothing.
    do {
      let other = try await Fixture(from: source) { $0.originals = originals }
      try await other.cache.suspend()
    }
    while originals.shelf.state.withLock({ !$0.suspensions.isEmpty }), !Task.isCancelled {
      await Task.yield()
    }
    let later = fixture.cache.events()
    _ = try await fixture.cache.image(for: Photo("9"), format: .row)
    await stored(in: later)
    #expect(try await originals.inspect().count == 2)
    try await fixture.cache.removeImages(for: Photo("9"))
    try await fixture.cache.changeImageID(from: Photo("8").imageID, to: ImageID("new"))
    try await fixture.cache.removeImages(for: ImageID("new"))
    #expect(try await originals.inspect().isEmpty)
  }
}
