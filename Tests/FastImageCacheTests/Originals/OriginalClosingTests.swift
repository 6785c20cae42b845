import Foundation
import OriginalDatabase
import TestSupport
import Testing

@testable import FastImageCache

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
      _ = try await fixture.cache.image(for: Photo(ImageID(number)), format: .row)
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
      _ = try await fixture.cache.image(for: Photo(ImageID(number)), format: .row)
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
        _ = try await fixture.cache.image(for: Photo(ImageID(number)), format: .row)
      }
      await fixture.cache.close()
    }
    let store = store(in: directory)
    let fixture = try await Fixture(from: EncodedSource()) { $0.originals = store }
    _ = try await fixture.cache.image(for: Photo("1"), format: .row)
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
    let loads = ["1", "2"].map { id in
      Task { try await fixture.cache.image(for: Photo(ImageID(id)), format: .row) }
    }
    await asked.reaches(2)
    await fixture.cache.close()
    for load in loads { await #expect(throws: ImageCacheError.closed) { try await load.value } }
    gate.open()
  }
}
