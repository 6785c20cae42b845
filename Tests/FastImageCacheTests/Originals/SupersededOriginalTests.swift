import Foundation
import ImageSources
import OriginalDatabase
import TableStore
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A superseded original", .timeLimit(.minutes(10)))
struct SupersededOriginalTests: OriginalFolderSuite {
  /// Why the store cannot write what its original has become.
  enum Fault { case full, unlinking, waiting, suspended, busy }

  /// What supersedes it.
  enum Way { case changed, storedByHand, gone, refused, otherTerms }

  let directory: TemporaryDirectory
  private let plan = FaultPlan(code: ENOSPC, keepsIndex: true)

  init() throws { directory = try TemporaryDirectory() }

  @Test(
    "answers no more, whether its drop can be written or not",
    arguments: [
      (Fault.full, Way.changed), (.unlinking, .changed), (.waiting, .changed),
      (.suspended, .changed), (.busy, .changed), (.unlinking, .storedByHand), (.unlinking, .gone),
      (.busy, .refused), (.busy, .otherTerms),
    ])
  func answersNoMore(fault: Fault, way: Way) async throws {
    let (former, newer) = (try solid(7).pngData(), try solid(8).pngData())
    let fields = ["Cache-Control": "max-age=3600", "ETag": "\"7\""]
    let second: HTTPReply? =
      switch way {
      case .changed: .ok(newer, headers: ["Cache-Control": "max-age=3600"])
      case .storedByHand: nil
      case .gone: .status(404)
      case .refused: .status(401)
      case .otherTerms: HTTPReply([.bytes(HTTPReply.head(304, ["Cache-Control": "no-cache"]))])
      }
    let server = try HTTPServer(
      scripts: ["/a": [.ok(former, headers: fields)] + (second.map { [$0] } ?? []) + [.ok(newer)]])
    let store = OriginalStore(
      directory.url.appendingPathComponent("originals"), 1 << 28, .init(), .none,
      system: plan.system
    ) { Int64(Date().timeIntervalSince1970 * 1_000_000) }
    let fixture = try await Fixture([.row, .large], from: URLImageSource()) {
      $0.originals = store
    }
    let photo = Photo("a", url: server.url("/a").absoluteString)
    _ = try await fixture.image(photo)
    await fixture.cache.loadsHaveEnded()
    #expect(try await store.inspect().map(\.isFresh) == [true])

    let mend = try await breaks(store, by: fault)
    switch way {
    case .changed:
      #expect(try await fixture.image(photo, .row, LoadOptions(.reload)).solidNumber == 8)
    case .storedByHand: try await fixture.cache.store(newer, for: photo, format: .row)
    case .otherTerms: _ = try await fixture.image(photo, .row, LoadOptions(.revalidate))
    case .gone, .refused:
      await #expect(throws: ImageCacheError.self) {
        try await fixture.image(photo, .row, LoadOptions(.revalidate))
      }
    }
    await fixture.cache.loadsHaveEnded()
    if fault != .waiting { await store.queueIsDone() }
    try await mend()

    #expect(try await fixture.image(photo, .large).solidNumber == 8)
    #expect(server.requests.value == (second == nil ? 2 : 3))
    await fixture.cache.loadsHaveEnded()
    #expect(try await store.bytes(of: ImageID(server.url("/a"))) == newer)
  }

  /// - Returns: Ends the fault.
  private func breaks(
    _ store: OriginalStore, by fault: Fault
  ) async throws -> () async throws -> Void {
    switch fault {
    case .full: plan.fail(after: 0, only: [.write])
    case .unlinking: plan.fail(after: 0, only: [.write, .unlink])
    case .waiting:
      let (gate, begun) = (Gate(), Counter())
      store.enqueue { () throws(DatabaseError) in
        begun.increment()
        gate.waitBlocking()
      }
      await begun.reaches(1)
      // As many bytes as may wait.
      let bytes = Data(count: 64 << 20)
      #expect(store.hold(OriginalRecord(1, bytes), bytes, for: nil, from: nil) { true } != nil)
      return {
        gate.open()
        await store.settle()
      }
    case .suspended:
      let user = OriginalUser(of: store)
      await user.suspend()
      return { user.resume() }
    case .busy:
      let other = try Database(store.file, makesFile: false, .none)
      try other.execute("BEGIN IMMEDIATE")
      return { try other.execute("ROLLBACK") }
    }
    return { plan.pass() }
  }

  @Test("goes from the disk, and an event says that it stays until then")
  func goes() async throws {
    let store = store(system: plan.system)
    let fixture = try await Fixture { $0.originals = store }
    let events = fixture.cache.events()
    await store.keep(7)
    let file = try #require(try bodyFiles().first)
    plan.fail(after: 0, only: [.write, .unlink])
    await store.keep(7, OriginalStore.bytes(70))
    await store.queueIsDone()
    #expect(store.look(OriginalRecord(7, Data()).query) == nil)
    #expect(try await store.kept(7) == nil)
    #expect(FileManager.default.fileExists(atPath: file.path))
    var reasons: [String] = []
    for await case .original("test:/7", .refused(let reason)) in events {
      reasons.append(reason)
      if reasons.count == 2 { break }
    }
    #expect(reasons.last?.contains("stays on the disk") == true)
    plan.pass()
    await store.keep(8)
    await store.queueIsDone()
    #expect(try await originals(store) == ["test:/8"])
    #expect(!FileManager.default.fileExists(atPath: file.path))
    #expect(await store.keep(7, OriginalStore.bytes(70)))
    #expect(try await store.kept(7) == OriginalStore.bytes(70))
  }

  @Test("goes where an image is stored by hand that keeps no original, for its account only")
  func goesForNone() async throws {
    let store = store()
    let fixture = try await Fixture { $0.originals = store }
    let (former, newer, ada) = (try solid(7).pngData(), try solid(8).pngData(), AccountID("ada"))
    for account in [nil, ada] {
      try await fixture.cache.store(former, for: Photo("7"), format: .row, account: account)
    }
    let image = try await fixture.cache.store(
      newer, for: Photo("7"), format: .row, account: ada, keepsOriginal: false)
    #expect(image.solidNumber == 8)
    await store.queueIsDone()
    #expect(try await store.kept(7) == former)
    #expect(try await store.kept(7, ada) == nil)
    #expect(try await store.inspect().count == 1)
  }

  @Test("answers for no other address of its image, and is not brought back by a refused one")
  func isNoVariant() async throws {
    let store = store(system: plan.system)
    func name(_ original: inout OriginalRecord) {
      original.name = OriginalName(id: "a", address: original.name.address)
      original.version = "v"
    }
    let other = OriginalQuery(
      name: OriginalName(id: "a", address: "test:/2"), version: "v",
      owner: OriginalOwner(namespace: "test", entity: "a")
    ) { _ in true }
    await store.keep(1, change: name)
    #expect(store.look(other) != nil)
    plan.fail(after: 0, only: [.write, .unlink])
    await store.keep(1, OriginalStore.bytes(10), change: name)
    #expect(store.look(other) == nil)
    plan.pass()
    // Refused once it is held, before it is written.
    let newest = OriginalRecord(1, Data(count: 1), [:], name)
    let body = try #require(store.hold(newest, Data(count: 1), for: nil, from: nil) { true })
    await store.drop(newest.name, body: body)
    await store.write(newest.name)
    #expect(store.look(other) == nil)
    #expect(try await originals(store).isEmpty)
  }

  /// Those in the database, without what a write that failed has left of its file.
  private func originals(_ store: OriginalStore) async throws -> [ImageID] {
    try await store.inspect().filter { $0.arrivedByteCount == $0.byteCount }.map(\.id)
  }

  @Test("is remembered among ten thousand, and beyond them none answers without its server")
  func isRemembered() async throws {
    let store = store()
    await store.keep(1, fields: ["Cache-Control": "max-age=60"])
    await store.keep(2, fields: ["Cache-Control": "max-age=60"])
    let user = OriginalUser(of: store)
    await user.suspend()
    func supersede(_ numbers: some Sequence<Int>) async {
      for number in numbers {
        _ = store.hold(OriginalRecord(number, Data()), Data(), for: nil, from: nil) { true }
      }
      await store.queueIsDone()
    }
    func look(_ number: Int) async throws -> Freshness? {
      try await store.open()
      return store.look(OriginalRecord(number, Data()).query)?.freshness
    }
    await supersede(2..<10_002)
    user.resume()
    #expect(try await look(1) == .fresh)
    #expect(try await look(2) == nil)
    await user.suspend()
    await supersede([10_002])
    user.resume()
    #expect(try await look(1) == .mustRevalidate(answersFailures: false))
    #expect(try await look(2) == nil)
  }
}
