import FastImageCache
import Foundation
import Pixels
import TableStore
import TestSupport
import Testing

@Suite("A lease that was handed over", .timeLimit(.minutes(10)))
struct LeaseTests {
  /// Whether nobody else has the image: the entry, which is the lease, goes with this reference.
  private func isLast(_ image: consuming CachedImage) -> Bool {
    weak let entry = image.entry
    _ = consume image
    return entry == nil
  }

  @Test("is nobody's but the caller's, after a load")
  func loaded() async throws {
    let fixture = try await Fixture()
    try await InlineExecutor.run {
      let image = try await fixture.cache.image(for: Photo("a", url: "test:/1"), format: .row)
      let isLast = isLast(consume image)
      #expect(isLast)
    }
  }

  @Test("is nobody's but the caller's, after a load of more than one image")
  func loadedBoth() async throws {
    let gate = CancellableGate()
    let fixture = try await Fixture(source: ScriptedSource(gate: gate))
    async let first: Void = InlineExecutor.run {
      let image = try await fixture.cache.image(for: Photo("a", url: "test:/1"), format: .row)
      let isLast = isLast(consume image)
      #expect(isLast)
    }
    async let second: Void = InlineExecutor.run {
      let image = try await fixture.cache.image(for: Photo("b", url: "test:/1"), format: .row)
      let isLast = isLast(consume image)
      #expect(isLast)
    }
    await fixture.subscribers(2)
    gate.open()
    _ = try await (first, second)
  }

  @Test("is nobody's but the reader's of a stream")
  func streamed() async throws {
    let gate = CancellableGate()
    let fixture = try await Fixture(source: ScriptedSource(gate: gate))
    let reader = Task {
      try await InlineExecutor.run {
        let photo = Photo("a", url: "test:/1")
        var isLast = false
        for await progress in fixture.cache.progress(for: photo, format: .row) {
          guard case .finished(let image) = consume progress else { continue }
          isLast = self.isLast(consume image)
        }
        #expect(isLast)
      }
    }
    await fixture.subscribers(1)
    gate.open()
    try await reader.value
  }

  @Test("is nobody's but the caller's, after a store")
  func stored() async throws {
    let fixture = try await Fixture()
    try await InlineExecutor.run {
      let image = try await fixture.cache.store(solid(1), for: Photo("a"), format: .row)
      let isLast = isLast(consume image)
      #expect(isLast)
    }
  }
}
