import FastImageCache
import Foundation
import TestSupport
import Testing

@Suite("Joined requests", .timeLimit(.minutes(10)))
struct JoiningTests {
  let gate = CancellableGate()

  @Test(
    "for one image cost one fetch and one drawing, and all are answered", arguments: [2, 10_000])
  func shareOneLoad(count: Int) async throws {
    let fixture = try await Fixture(source: ScriptedSource(gate: gate))
    let photo = Photo("a", url: "test:/300")
    let numbers = try await withThrowingTaskGroup { group in
      for _ in 0..<count {
        group.addTask { try await fixture.cache.image(for: photo, format: .row).solidNumber }
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
    async let first = fixture.cache.image(for: Photo("a", url: "test:/2"), format: .row)
    async let second = fixture.cache.image(for: Photo("b", url: "test:/2"), format: .row)
    async let third = fixture.cache.image(for: Photo("a", url: "test:/2"), format: .large)
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
    let failures = await withTaskGroup(of: Bool.self) { group in
      for format in [ImageFormat.row, .large, .row] {
        group.addTask {
          do throws(ImageCacheError) {
            _ = try await fixture.cache.image(for: photo, format: format)
            return false
          } catch {
            guard case .sourceFailed(let url, let underlying) = error else { return false }
            return url == photo.url && underlying is Broken
          }
        }
      }
      await fixture.subscribers(3)
      gate.open()
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(failures == [true, true, true])
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

  @Test("after a failure start anew")
  func retryAfterFailure() async throws {
    struct Broken: Error {}
    let fixture = try await Fixture(
      source: ScriptedSource { _, call, _ in
        if call == 1 { throw Broken() }
        return .bitmap(try solid(call))
      })
    await #expect(throws: ImageCacheError.self) {
      try await fixture.cache.image(for: Photo("a"), format: .row)
    }
    #expect(try await fixture.cache.image(for: Photo("a"), format: .row).solidNumber == 2)
  }
}
