import FastImageCache
import Foundation
import Pixels
import TableStore
import TestSupport
import Testing

@Suite("Joined requests", .timeLimit(.minutes(10)))
struct JoiningTests {
  let gate = CancellableGate()

  @Test("for one image cost one fetch and one drawing, and all get it", arguments: [2, 10_000])
  func shareOneLoad(count: Int) async throws {
    let fixture = try await Fixture(source: ScriptedSource(gate: gate))
    let photo = Photo("a", url: "test:/300")
    let numbers = try await withThrowingTaskGroup { group in
      for _ in 0..<count {
        group.addTask { try await fixture.image(photo).solidNumber }
      }
      await fixture.subscribers(count)
      gate.open()
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(numbers == Array(repeating: 300, count: count))
    #expect(fixture.source.started.value == 1)
    let statistics = await fixture.cache.statistics()
    #expect(statistics.fetches == 1 && statistics.drawings == 1 && statistics.stores == 1)
    #expect(statistics.coalescedRequests == count - 1)
  }

  @Test("of two entities and two formats with one URL cost one fetch")
  func joinEntitiesAndFormats() async throws {
    let fixture = try await Fixture([.row, .large], source: ScriptedSource(gate: gate))
    async let first = fixture.image(Photo("a", url: "test:/2"))
    async let second = fixture.image(Photo("b", url: "test:/2"))
    async let third = fixture.image(Photo("a", url: "test:/2"), .large)
    await fixture.subscribers(3)
    gate.open()
    let images = try await [first, second, third]
    #expect(images.map(\.solidNumber) == [2, 2, 2])
    #expect(images.map(\.size.width) == [8, 8, 40])
    #expect(fixture.source.started.value == 1)
    #expect(fixture.cache.containsImage(for: Photo("b", url: "test:/2"), format: .row))
  }

  @Test("all hear of a failure, those of other formats too")
  func hearOfFailure() async throws {
    struct Broken: Error {}
    let gate = gate
    let fixture = try await Fixture(
      [.row, .large],
      source: ScriptedSource { _, _, _ in
        try await gate.pass()
        throw Broken()
      })
    let photo = Photo("a")
    let failing = [ImageFormat.row, .large, .row].map { format in
      Task { try await fixture.image(photo, format) }
    }
    await fixture.subscribers(3)
    gate.open()
    for task in failing {
      await #expect(throws: ImageCacheError.sourceFailed(photo.url, underlying: Broken())) {
        try await task.value
      }
    }
    await fixture.quiet()
  }

  @Test("of an older version are answered with it, and leave the newer image in the table")
  func keepNewerImage() async throws {
    let gates = (older: CancellableGate(), newer: CancellableGate())
    let fixture = try await Fixture(
      [.row, .large, .dot],
      source: ScriptedSource { url, _, _ in
        try await (url.lastPathComponent == "1" ? gates.older : gates.newer).pass()
        return .bitmap(try solid(Int(url.lastPathComponent) ?? 0))
      })
    let (old, new) = (Photo("a", url: "test:/1"), Photo("a", url: "test:/2"))
    let cache = fixture.cache
    // The large one brings its sibling, the dot.
    let older = [ImageFormat.row, .large].map { format in
      Task { try await cache.image(for: old, format: format).solidNumber }
    }
    await fixture.subscribers(2)
    let newer = [ImageFormat.row, .large].map { format in
      Task { try await cache.image(for: new, format: format).solidNumber }
    }
    await fixture.subscribers(4)
    gates.newer.open()
    for task in newer { #expect(try await task.value == 2) }
    while await cache.statistics().activeLoads != 1 { await Task.yield() }
    gates.older.open()
    for task in older { #expect(try await task.value == 1) }
    await fixture.quiet()
    #expect(cache.cachedFormats(for: new).count == 3)
    #expect(cache.cachedImage(for: new, format: .row)?.solidNumber == 2)
  }
}

@Suite("A lease that was handed over", .timeLimit(.minutes(10)))
struct LeaseTests {
  /// Whether nobody else has the image: the entry, which is the lease, goes with this reference.
  private func isLast(_ image: consuming CachedImage) -> Bool {
    weak let entry = image.entry
    _ = consume image
    return entry == nil
  }

  @Test("is nobody's but the caller's, after a load of one image or of more", arguments: [1, 2])
  func loaded(count: Int) async throws {
    let (fixture, gate) = try await Fixture.gated()
    let loads = ["a", "b"].prefix(count).map { id in
      Task {
        try await InlineExecutor.run {
          let photo = Photo(ImageID(id), url: "test:/1")
          let isLast = isLast(try await fixture.cache.image(for: photo, format: .row))
          #expect(isLast)
        }
      }
    }
    await fixture.subscribers(count)
    gate.open()
    for load in loads { try await load.value }
  }

  @Test("is nobody's but the reader's of a stream")
  func streamed() async throws {
    let (fixture, gate) = try await Fixture.gated()
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
