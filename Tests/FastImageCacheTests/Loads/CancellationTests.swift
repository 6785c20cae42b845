import FastImageCache
import Foundation
import TestSupport
import Testing

@Suite("Cancelling", .timeLimit(.minutes(10)))
struct CancellationTests {
  let gate = CancellableGate()

  /// Tells when all tasks that inherited it have ended: a request, and the load that it began.
  private final class Ending: Sendable {
    private let end: Counter

    init(at end: Counter) { self.end = end }

    deinit { end.increment() }
  }
  @TaskLocal private static var ending: Ending?

  @Test("the only subscriber ends the wait at once, and the source's work with it")
  func endsSource() async throws {
    let fixture = try await Fixture(source: ScriptedSource(gate: gate))
    let row = Task { try await fixture.cache.image(for: Photo("a"), format: .row) }
    await fixture.source.started.reaches(1)
    row.cancel()
    await #expect { try await row.value } throws: { $0.isCancelled }
    await fixture.source.cancelled.reaches(1)
    await fixture.quiet()
    #expect(!fixture.cache.containsImage(for: Photo("a"), format: .row))
    let statistics = await fixture.cache.statistics()
    #expect(
      statistics.pendingRequests == 0 && statistics.stores == 0 && statistics.cancellations == 1)
  }

  @Test("and asking again is not answered by the old load")
  func startsAnew() async throws {
    let (first, second) = (gate, CancellableGate())
    let fixture = try await Fixture(
      source: ScriptedSource { _, call, _ in
        // The first load ignores its cancellation and delivers late.
        if call == 1 {
          await Task { try? await first.pass() }.value
        } else {
          try await second.pass()
        }
        return .bitmap(try solid(call))
      })
    let photo = Photo("a")
    let ended = Counter()
    let old = Self.$ending.withValue(Ending(at: ended)) {
      Task { try await fixture.cache.image(for: photo, format: .row) }
    }
    await fixture.source.started.reaches(1)
    old.cancel()
    await #expect { try await old.value } throws: { $0.isCancelled }
    let new = Task { try await fixture.cache.image(for: photo, format: .row) }
    await fixture.source.started.reaches(2)
    first.open()
    await ended.reaches(1)
    second.open()
    #expect(try await new.value.solidNumber == 2)
    #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber == 2)
  }

  @Test("before the request makes it fail without asking the source")
  func failsBeforehand() async throws {
    let fixture = try await Fixture()
    let gate = gate
    let row = Task {
      // Waits until this very task has been cancelled.
      try? await gate.pass()
      return try await fixture.cache.image(for: Photo("a"), format: .row)
    }
    row.cancel()
    await #expect { try await row.value } throws: { $0.isCancelled }
    #expect(fixture.source.started.value == 0)
  }

  @Test("does not take an image away that is there")
  func keepsHits() async throws {
    let fixture = try await Fixture()
    _ = try await fixture.cache.image(for: Photo("a"), format: .row)
    let gate = gate
    let row = Task {
      try? await gate.pass()
      return try await fixture.cache.image(for: Photo("a"), format: .row)
    }
    row.cancel()
    #expect(try await row.value.isPrivate == false)
  }

  @Test("hundreds of rows leaves nothing behind")
  func leavesNothing() async throws {
    let fixture = try await Fixture(source: ScriptedSource(gate: gate))
    let rows = (0..<300).map { number in
      Task { try await fixture.cache.image(for: Photo(ImageID(number)), format: .row) }
    }
    await fixture.subscribers(300)
    for row in rows { row.cancel() }
    for row in rows { await #expect { try await row.value } throws: { $0.isCancelled } }
    await fixture.quiet()
    let statistics = await fixture.cache.statistics()
    #expect(
      statistics.activeLoads == 0 && statistics.pendingRequests == 0 && statistics.stores == 0)
    // The gates are free again.
    gate.open()
    #expect(
      try await fixture.cache.image(for: Photo(1, url: "test:/1"), format: .row).solidNumber == 1)
  }

  @Test("is not counted of those whose image was stored while they joined the load")
  func countsNoLateHits() async throws {
    let fixture = try await Fixture([.row, .large])
    let (cache, asked) = (fixture.cache, Counter())
    func thoughtful(_ id: ImageID, _ gate: CancellableGate) -> Photo {
      var photo = Photo(id, url: "test:/5")
      photo.ownImage = { _ in
        asked.increment()
        try await gate.pass()
        return .bitmap(try solid(44))
      }
      return photo
    }
    let gates = (0..<3).map { _ in CancellableGate() }
    let photos = ["holding", "staying", "leaving"].enumerated().map { number, name in
      thoughtful(ImageID(name), gates[number])
    }
    var tasks: [Task<CachedImage, any Error>] = []
    for photo in photos {
      tasks.append(Task { try await cache.image(for: photo, format: .row) })
      await fixture.subscribers(tasks.count)
      await asked.reaches(1)
    }
    gates[0].open()
    await asked.reaches(2)
    tasks[2].cancel()
    await #expect { try await tasks[2].value } throws: { $0.isCancelled }
    gates[1].open()
    for task in tasks.prefix(2) { _ = try await task.value }
    // The load knew of the one that left, and asks it for nobody.
    await asked.reaches(3)

    let (looked, stored) = (Counter(), Gate())
    var late = Photo("late", version: "1", url: "test:/5")
    late.willTellSource = { format in
      // After the look into the table, and before the load is joined.
      guard format.name == "large" else { return }
      looked.increment()
      stored.waitBlocking()
    }
    let entity = late
    let joining = Task {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          continuation.resume(returning: cache.progress(for: entity, format: .row))
        }
      }
    }
    await looked.reaches(1)
    let other = Photo("late", version: "1", url: "test:/7")
    _ = try await cache.image(for: other, format: .row)
    stored.open()
    var numbers: [Int?] = []
    for await step in await joining.value {
      if case .finished(let image) = step { numbers.append(image.solidNumber) }
    }
    #expect(numbers == [7])
    await fixture.quiet()
    #expect(await cache.statistics().cancellations == 1)
  }

  @Test("is not what others are told whose entity or decoder speaks of one")
  func isNobodyElses() async throws {
    struct Weary: ImageDecoder {
      func recognizes(_ firstBytes: Data) -> Bool { true }
      func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
        ImageHeader(size: PixelSize(width: 8, height: 8))
      }
      func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
        throw .cancelled
      }
    }
    let fixture = try await Fixture(
      source: ScriptedSource { _, _, _ in .encoded(Data([1])) },
      configure: { $0.decoders = [Weary()] })
    let cache = fixture.cache
    await #expect {
      try await cache.image(for: Photo("a"), format: .row)
    } throws: {
      if case .undecodable? = $0 as? ImageCacheError { true } else { false }
    }
    await #expect {
      try await cache.store(Data([1]), for: Photo("a"), format: .row)
    } throws: {
      if case .undecodable? = $0 as? ImageCacheError { true } else { false }
    }
    for error in [CancellationError(), ImageCacheError.cancelled] as [any Error] {
      var photo = Photo("b")
      photo.ownImage = { _ in throw error }
      var last: ImageProgress?
      for await step in cache.progress(for: photo, format: .row) { last = step }
      guard case .failed(.sourceFailed) = last else {
        Issue.record("The last step was \(String(describing: last)).")
        continue
      }
    }
    #expect(await cache.statistics().failures == 3)
  }
}
