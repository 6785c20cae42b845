import Foundation
import ImageSources
import OriginalDatabase
import TableStore
import TestSupport
import Testing

@testable import FastImageCache

@Suite("Of several originals of a name", .timeLimit(.minutes(10)))
struct OriginalOrderTests: OriginalFolderSuite {
  let directory: TemporaryDirectory
  private let plan = FaultPlan(code: ENOSPC, keepsIndex: true)

  init() throws { directory = try TemporaryDirectory() }

  @Test("the one by hand stays, whatever load began during its call", arguments: [true, false])
  func byHand(keepsOriginal: Bool) async throws {
    let (store, gate, asked) = (store(), Gate(), Counter())
    let source = EncodedSource { _, _ in .encoded(try solid(7).pngData()) }
    let fixture = try await Fixture([.row, .large], from: source) {
      $0.originals = store
      $0.willStore = { _ in if asked.increment() == 1 { gate.waitBlocking() } }
    }
    let newer = try solid(8).pngData()
    let byHand = Task {
      try await fixture.cache.store(
        newer, for: Photo("7"), format: .row, keepsOriginal: keepsOriginal)
    }
    await asked.reaches(1)
    #expect(try await fixture.image(Photo("7"), .large).solidNumber == 7)
    await fixture.cache.loadsHaveEnded()
    gate.open()
    _ = try await byHand.value
    await store.queueIsDone()
    #expect(try await store.kept(7) == (keepsOriginal ? newer : nil))
  }

  @Test("a refused one goes, after its blocks were written as they came")
  func refusedLater() async throws {
    let bytes = try solid(7).pngData() + Data(count: 3 * Checksum.blockByteCount)
    let server = try HTTPServer(files: ["/a": HTTPFile(bytes, entityTag: "\"1\"")])
    let (store, gate, asked) = (store(), Gate(), Counter())
    let fixture = try await Fixture(from: URLImageSource()) {
      $0.originals = store
      $0.willStore = { image in
        asked.increment()
        gate.waitBlocking()
        if image.imageID == "b" { image.storage = .doNotStore }
      }
    }
    let events = fixture.cache.events()
    var loads: [Task<CachedImage, any Error>] = []
    for id in ["a", "b"] as [ImageID] {
      let photo = Photo(id, url: server.url("/a").absoluteString)
      loads.append(Task { try await fixture.image(photo) })
      await fixture.subscribers(loads.count)
      await asked.reaches(1)
    }
    gate.open()
    for load in loads { _ = try await load.value }
    await fixture.cache.loadsHaveEnded()
    for await case .original(_, .stored) in events { break }
    await store.queueIsDone()
    #expect(try await store.inspect().isEmpty)
  }

  @Test("a superseded one is not brought back by a placeholder")
  func placeholder() async throws {
    let store = store(system: plan.system)
    await store.keep(7)
    plan.fail(after: 0, only: [.write, .unlink])
    await store.keep(7, OriginalStore.bytes(70))
    plan.pass()
    #expect(await store.keep(7, Data("p".utf8)) { $0.isPlaceholder = true })
    #expect(try await store.kept(7) == Data("p".utf8))
  }

  @Test("one is not dropped for a confirmation that cannot be written, unless that is stricter")
  func confirmation() async throws {
    for (control, isKept) in [
      ("max-age=3600", true), ("max-age=9", false), ("max-age=60, must-revalidate", false),
    ] {
      let store = store()
      await store.keep(7, fields: ["Cache-Control": "max-age=60"])
      let body = try #require(try await store.inspect().first).record.body
      try execute(
        "CREATE TRIGGER no BEFORE UPDATE OF answered ON original BEGIN SELECT RAISE(FAIL, 'no'); END"
      )
      let original = OriginalRecord(7, Data(), ["Cache-Control": control])
      await store.note(original.terms, of: original.query, body: body, for: nil)
      try execute("DROP TRIGGER no")
      #expect(store.look(original.query)?.freshness == (isKept ? .fresh : nil), "\(control)")
      await store.keep(8)
      await store.queueIsDone()
      #expect(try await store.kept(7) == (isKept ? OriginalStore.bytes(7) : nil), "\(control)")
    }
  }

  @Test("the newer one stays where an older one is dropped too late, and in vain")
  func lateDrop() async throws {
    let store = store()
    await store.keep(7)
    let older = try #require(try await store.inspect().first).record
    await store.keep(7, OriginalStore.bytes(70))
    let user = OriginalUser(of: store)
    await user.suspend()
    await store.drop(older.name, body: older.body)
    user.resume()
    try await store.open()
    #expect(store.look(older.query) != nil)
    await store.keep(8)
    await store.queueIsDone()
    #expect(try await store.kept(7) == OriginalStore.bytes(70))
  }

  @Test("a refresh keeps its own, whose cause a younger answer has outdated, but no removed one")
  func refresh() async throws {
    for isRemoved in [false, true] {
      let (store, original) = (store(), OriginalRecord(7, OriginalStore.bytes(70)))
      let shown = store.begin(original.name, of: original.owner)
      await store.keep(7)
      #expect(store.hold(original, Data(count: 1000), for: shown, from: nil) { true } == nil)
      if isRemoved { try await store.remove("test:/7") }
      let refresh = store.begin(original.name, of: original.owner, after: shown)
      let body = store.hold(original, OriginalStore.bytes(70), for: refresh, from: nil) { true }
      #expect((body == nil) == isRemoved)
      await store.write(original.name)
    }
  }

  /// Answers of which nothing is kept.
  enum Answer: CaseIterable { case refused, bitmap, metadata }

  @Test("the former one goes where nothing of a changed answer is kept", arguments: Answer.allCases)
  func changed(answer: Answer) async throws {
    let originals = MemoryOriginals()
    try originals.put(7, as: "test:/7")
    let source = EncodedSource { _, _ in
      switch answer {
      case .refused: .encoded(try solid(8).pngData())
      case .bitmap: .bitmap(try solid(8))
      case .metadata: .encoded(try solid(8).pngData()).with(metadata: Data("m".utf8))
      }
    }
    let fixture = try await Fixture(from: source, originals: originals) {
      if answer == .refused { $0.willStore = { $0.storage = .doNotStore } }
    }
    #expect(try await fixture.image(Photo("7"), .row, LoadOptions(.reload)).solidNumber == 8)
    await fixture.quiet()
    #expect(originals["test:/7"] == nil)
  }
}
