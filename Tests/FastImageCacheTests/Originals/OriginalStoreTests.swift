import Foundation
import Locking
import Pixels
import TableStore
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A store of originals", .timeLimit(.minutes(10)))
struct OriginalStoreTests: OriginalFolderSuite {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  @Test("gives bytes and terms back in a later session, to the account they were loaded for")
  func bytesAndTerms() async throws {
    let fields = ["ETag": "\"7\"", "Cache-Control": "max-age=60"]
    let alice = AccountID("alice")
    #expect(
      await store().keep(7, fields: fields) {
        $0.name = OriginalName(id: "a", account: alice, address: "test:/7")
      })
    let later = store()
    #expect(try await later.bytes(of: "a", for: alice) == OriginalStore.bytes(7))
    #expect(try await later.bytes(of: "a") == nil)
    let name = OriginalName(id: "a", account: alice, address: "test:/7")
    let query = OriginalQuery(
      name: name, version: name.address, owner: OriginalOwner(namespace: "test", entity: 7))
    let read = try await later.read(query, urgency: Urgency(.current))
    #expect(read?.terms == OriginalRecord(7, Data(), fields).terms)
    #expect(later.look(query)?.freshness == .fresh)
    let listed = try #require(try await later.inspect().first)
    #expect(listed.id == "a" && listed.entity == 7 && listed.namespace == "test")
    #expect(listed.size == PixelSize(width: 107, height: 100) && !listed.isForEveryone)
    #expect(listed.byteCount == 1000 && listed.arrivedByteCount == 1000 && listed.isFresh)
  }

  @Test("keeps ids of every kind apart, whatever bytes they have")
  func ids() async throws {
    let uuid = UUID()
    let ids: [ImageID] = [
      ImageID(uuid), ImageID(uuid.uuidString), 7, "7", ImageID(UInt64.max), -1, "", "é", "e\u{301}",
      "a\u{0}b", ImageID(String(repeating: "x", count: 3000)),
    ]
    for (number, id) in ids.enumerated() {
      await store().keep(number) {
        $0.name = OriginalName(id: id, address: "test:/")
        $0.owner = OriginalOwner(namespace: "test", entity: id)
      }
    }
    let later = store()
    for (number, id) in ids.enumerated() {
      #expect(try await later.bytes(of: id) == OriginalStore.bytes(number), "\(id)")
    }
    #expect(Set(try await later.inspect().map(\.id)) == Set(ids))
    #expect(Set(try await later.inspect().map(\.entity)) == Set(ids))
  }

  @Test("knows in a later session how fresh an original is, and keeps none beyond its time")
  func freshness() async throws {
    for isStrict in [false, true] {
      let control = "max-age=60" + (isStrict ? ", must-revalidate" : "")
      await store().keep(isStrict ? 1 : 2, fields: ["Cache-Control": control])
      let query = OriginalRecord(isStrict ? 1 : 2, Data()).query
      var seen: [Freshness?] = []
      for age in [59, 60, 86_460, 29 * 86_400, 31 * 86_400] as [Int64] {
        let later = store(after: age)
        try await later.open()
        seen.append(later.look(query).flatMap { $0.freshness == .gone ? nil : $0.freshness })
      }
      let asked = Freshness.mustRevalidate(answersFailures: false)
      let expired = Freshness.expired(answersFailures: false)
      #expect(
        seen
          == (isStrict
            ? [.fresh, asked, asked, asked, nil] : [.fresh, .stale, expired, expired, nil]))
    }
    #expect(try await store(after: 31 * 86_400).kept(1) == nil)
  }

  @Test("takes newer terms of a server, a refusal and a mark, and nothing for other bytes")
  func words() async throws {
    let (store, original) = (store(), OriginalRecord(7, OriginalStore.bytes(7)))
    await store.keep(7, fields: ["Cache-Control": "max-age=60"])
    func freshness() -> Freshness? { store.look(original.query)?.freshness }
    let body = try #require(try await store.inspect().first).record.body
    let mustAsk = Freshness.mustRevalidate(answersFailures: false)
    await store.note(nil, of: original.query, body: body &+ 1, for: nil)
    #expect(freshness() == .fresh)
    await store.note(nil, of: original.query, body: body, for: nil)
    #expect(freshness() == mustAsk)
    var terms = original.terms
    terms.entityTag = "\"new\""
    await store.note(terms, of: original.query, body: body, for: nil)
    #expect(freshness() == .fresh)
    let read = try await store.read(original.query, urgency: Urgency(.current))
    #expect(read?.terms.entityTag == "\"new\"")
    await store.markStale(OriginalOwner(namespace: "other", entity: 7), [])
    #expect(freshness() == .fresh)
    await store.markStale(original.owner, [])
    #expect(freshness() == mustAsk)
    // What its server forbids to keep goes.
    terms = OriginalRecord(7, Data(), ["Cache-Control": "no-store"]).terms
    await store.note(terms, of: original.query, body: body, for: nil)
    #expect(try await store.kept(7) == nil)
    // A mark and a move reach one that waits to be written.
    let held = OriginalRecord(8, OriginalStore.bytes(8), ["Cache-Control": "max-age=60"])
    #expect(store.hold(held, OriginalStore.bytes(8), for: nil, from: nil) { true } != nil)
    await store.markStale(held.owner, [])
    await store.move(held.owner, to: 9)
    await store.write(held.name)
    #expect(try await store.inspect().map(\.entity) == [9])
    #expect(store.look(held.query)?.freshness == mustAsk)
  }

  @Test("drops an original when a newer whole answer may not be kept")
  func supersedes() async throws {
    for fields in [["Cache-Control": "no-store"], ["Vary": "*"], [:]] {
      let store = store(byteLimit: 4 << 20)
      #expect(await store.keep(7))
      // Without fields it is too large.
      let bytes = OriginalStore.bytes(8, count: fields.isEmpty ? (1 << 20) + 1 : 10)
      let original = OriginalRecord(7, bytes, fields)
      #expect(store.hold(original, bytes, for: nil, from: nil) { false } == nil)
      #expect(store.look(original.query) != nil)
      #expect(store.hold(original, bytes, for: nil, from: nil) { true } == nil)
      #expect(store.look(original.query) == nil)
      await store.queueIsDone()
      #expect(try await store.kept(7) == nil)
      #expect(try await store.inspect().isEmpty)
    }
  }

  @Test("answers with nothing that a lookup read before the drop of what a newer answer superseded")
  func supersedesDuringLookups() async throws {
    let store = store()
    for _ in 1...200 {
      #expect(await store.keep(7))
      let newer = OriginalRecord(7, OriginalStore.bytes(8), ["Cache-Control": "no-store"])
      #expect(store.hold(newer, OriginalStore.bytes(8), for: nil, from: nil) { true } == nil)
      for _ in 1...20 { #expect(store.look(newer.query) == nil) }
      await store.queueIsDone()
    }
  }

  @Test("removes by id, entity, namespace and account, and lists what is left")
  func removals() async throws {
    let store = store()
    for number in 1...7 {
      await store.keep(number) { original in
        if number == 5 {
          original.name = OriginalName(
            id: original.name.id, account: AccountID("alice"), address: original.name.address)
        }
        if number > 5 { original.owner = OriginalOwner(namespace: "other", entity: 2) }
      }
    }
    try await store.remove("test:/1")
    try await store.removeAll(of: 2, in: "test")
    try await store.removeAll(for: AccountID("alice"))
    await store.move(OriginalOwner(namespace: "test", entity: 3), to: 9)
    try await store.removeAll(of: 9, in: nil)
    try await store.flush()
    #expect(Set(try await store.inspect().map(\.id)) == ["test:/4", "test:/6", "test:/7"])
    try await store.removeAll(in: "other")
    #expect(try await self.store().inspect().map(\.id) == ["test:/4"])
    try await store.removeAll()
    #expect(try await store.inspect().isEmpty)
    #expect(try bodyFiles().isEmpty)
    // One that waits to be written does not come back.
    let held = OriginalRecord(8, OriginalStore.bytes(8))
    #expect(store.hold(held, OriginalStore.bytes(8), for: nil, from: nil) { true } != nil)
    try await store.remove("test:/8")
    await store.write(held.name)
    #expect(try await store.inspect().isEmpty)
  }

  @Test(
    "removes many in short transactions, and lets others write between them",
    arguments: [(0, 0, 32), (3000, 0, 2), (0, 6000, 1)])
  func manyRemovals(unlinkTime: Int64, lookTime: Int64, count: Int) async throws {
    let disk = SlowUnlinks(unlinkTime, look: lookTime)
    let store = disk.store(in: directory)
    for number in 1...100 { await store.keep(number) }
    try await store.removeAll(in: "test")
    #expect(disk.firstCount == count)
    #expect(try await store.inspect().isEmpty)
  }

  @Test("copies an original that is not written yet to a file, and nothing to an address")
  func copying() async throws {
    let store = store()
    try await store.open()
    let bytes = OriginalStore.bytes(7)
    #expect(store.hold(OriginalRecord(7, bytes), bytes, for: nil, from: nil) { true } != nil)
    let file = directory.url.appendingPathComponent("7.jpg")
    try FileManager.default.createSymbolicLink(
      at: file, withDestinationURL: directory.url.appendingPathComponent("target"))
    #expect(try await store.copyFile(of: "test:/7", to: file))
    #expect(try Data(contentsOf: file) == bytes)
    #expect(try await store.copyFile(of: "test:/8", to: file) == false)
    let remote = try #require(URL(string: "https://example.com/7"))
    await #expect(throws: ImageCacheError.self) {
      try await store.copyFile(of: "test:/7", to: remote)
    }
    let missing = directory.url.appendingPathComponent("no/7.jpg")
    await #expect(throws: ImageCacheError.self) {
      try await store.copyFile(of: "test:/7", to: missing)
    }
  }

  @Test("inspects a folder that nobody has open, and makes none")
  func inspecting() async throws {
    let folder = directory.url.appendingPathComponent("none")
    #expect(try await OriginalStore.inspect(directory: folder).isEmpty)
    #expect(!FileManager.default.fileExists(atPath: folder.path))
    try await store().remove("test:/1")
    #expect(!FileManager.default.fileExists(atPath: database))
    await store().keep(7)
    #expect(try await OriginalStore.inspect(directory: directory.url).map(\.id) == ["test:/7"])
  }

  @Test("answers another address of the same id and version only where its pixels suffice")
  func variants() async throws {
    let store = store()
    for (number, width) in [(1, 100), (2, 400), (3, 800)] {
      await store.keep(number, fields: ["Cache-Control": "max-age=60"]) {
        $0.name = OriginalName(id: "a", address: $0.name.address)
        ($0.version, $0.size) = ("v", PixelSize(width: width, height: 10))
      }
    }
    func found(_ address: ImageID, id: ImageID = "a", version: ImageID = "v", least: Int)
      async throws
      -> KeptBytes?
    {
      let query = OriginalQuery(
        name: OriginalName(id: id, address: address), version: version,
        owner: OriginalOwner(namespace: "test", entity: id)
      ) {
        $0.width >= least
      }
      #expect((store.look(query) != nil) == (store.lookUp(query) != nil))
      return try await store.read(query, urgency: Urgency(.current))
    }
    // The same address answers its own version, whatever its size, and may be asked about for another one.
    #expect(try await found("test:/1", least: 999)?.bytes == OriginalStore.bytes(1))
    #expect(try await found("test:/1", least: 0)?.body != nil)
    let other = try await found("test:/1", version: "w", least: 999)
    #expect(other?.bytes == OriginalStore.bytes(1) && other?.isOfVersion == false)
    // One of the asked version from another address comes before.
    await store.keep(4, fields: ["Cache-Control": "max-age=60"]) {
      $0.name = OriginalName(id: "a", address: $0.name.address)
      ($0.version, $0.size) = ("w", PixelSize(width: 50, height: 10))
    }
    #expect(try await found("test:/1", version: "w", least: 50)?.bytes == OriginalStore.bytes(4))
    #expect(try await found("test:/1", version: "test:/1", least: 999)?.isOfVersion == true)
    // Else the smallest one that suffices, about which no server is asked.
    let variant = try await found("test:/9", least: 200)
    #expect(variant?.bytes == OriginalStore.bytes(2) && variant?.body == nil)
    #expect(try await found("test:/9", least: 900) == nil)
    #expect(try await found("test:/9", version: "x", least: 0) == nil)
    #expect(try await found("test:/9", id: "b", least: 0) == nil)
    // A stale one cannot be revalidated by another address.
    let later = self.store(after: 60)
    try await later.open()
    let name = OriginalName(id: "a", address: "test:/9")
    #expect(
      later.look(
        OriginalQuery(name: name, version: "v", owner: OriginalOwner(namespace: "test", entity: 7))
        { _ in true }) == nil)
    #expect(try await store.bytes(of: "a") == OriginalStore.bytes(3))
  }

  @Test("lets no placeholder replace a real original, and a real one a placeholder")
  func placeholders() async throws {
    let store = store()
    #expect(await store.keep(7, Data("a".utf8)) { $0.isPlaceholder = true })
    #expect(store.look(OriginalRecord(7, Data()).query)?.isPlaceholder == true)
    #expect(await store.keep(7))
    #expect(await !store.keep(7, Data("b".utf8)) { $0.isPlaceholder = true })
    #expect(try await store.kept(7) == OriginalStore.bytes(7))
    // Nor that of one which another process keeps while the placeholder is written.
    let real = OriginalRecord(9, OriginalStore.bytes(9))
    let system = SystemCalls(observer: { call throws(SystemError) in
      guard call.kind == .write else { return }
      _ = store.hold(real, OriginalStore.bytes(9), for: nil, from: nil) { true }
      store.queue.sync { store.writeHeld(real.name) }
    })
    let other = OriginalStore(in: directory, system: system)
    #expect(await other.keep(9, Data("a".utf8)) { $0.isPlaceholder = true })
    #expect(try await other.kept(9) == OriginalStore.bytes(9))
  }

  @Test("lets no placeholder take the place of a real original that comes while it is looked for")
  func placeholderMeanwhile() async throws {
    let (asks, place) = (Lock(false), Lock<OriginalStore?>(nil))
    let real = OriginalRecord(7, OriginalStore.bytes(7))
    let store = OriginalStore(
      in: directory,
      system: SystemCalls(observer: { call throws(SystemError) in
        guard call.kind == .status,
          asks.withLock({ asks in
            defer { asks = false }
            return asks
          })
        else { return }
        let body = place.withLock { $0 }?.hold(real, OriginalStore.bytes(7), for: nil, from: nil) {
          true
        }
        #expect(body != nil)
      }))
    try await store.open()
    place.withLock { $0 = store }
    defer { place.withLock { $0 = nil } }
    asks.withLock { $0 = true }
    let placeholder = OriginalRecord(7, Data("a".utf8)) { $0.isPlaceholder = true }
    #expect(store.hold(placeholder, Data("a".utf8), for: nil, from: nil) { true } == nil)
    #expect(asks.withLock { !$0 })
    await store.write(real.name)
    #expect(try await store.kept(7) == OriginalStore.bytes(7))
  }
}
