import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache

/// Each order here is one that a busy actor makes likely: the answer comes first, the cancellation
/// second, and the reader goes on third.
@Suite("A reader that is cancelled", .timeLimit(.minutes(10)))
struct CancelledReaderTests {
  private let gate = CancellableGate()
  private let held = HeldExecutor()

  /// A row of a list, without a check of its own.
  @MainActor
  private final class Row {
    private(set) var shown: [Int?] = []
    private(set) var errors: [ImageCacheError] = []
    private var loading: Task<Void, Never>?

    func appear(_ photo: Photo, in cache: ImageCache) -> Task<Void, Never> {
      loading?.cancel()
      let task = Task {
        do throws(ImageCacheError) {
          shown.append(try await cache.image(for: photo, format: .row).solidNumber)
        } catch {
          errors.append(error)
        }
      }
      loading = task
      return task
    }
  }

  @Test("while the main actor is busy does not get the image of the row's last life")
  @MainActor
  func reusedRow() async throws {
    let fixture = try await Fixture(source: ScriptedSource(gate: gate))
    let row = Row()
    let first = row.appear(Photo("a", url: "test:/1"), in: fixture.cache)
    await fixture.subscribers(1)
    // The main actor is busy from here until the load of the first image has been answered.
    let answered = Gate()
    Task.detached {
      await fixture.quiet()
      answered.open()
    }
    gate.open()
    answered.waitBlocking()
    let second = row.appear(Photo("b", url: "test:/2"), in: fixture.cache)
    await first.value
    await second.value
    #expect(row.shown == [2])
    #expect(row.errors.map(\.isCancelled) == [true])
  }

  @Test("after its request was answered gets no image, and no error but its cancellation")
  func request() async throws {
    struct Broken: Error {}
    let fixture = try await Fixture(
      source: ScriptedSource { [gate] url, _, _ in
        try await gate.pass()
        if url.lastPathComponent == "broken" { throw Broken() }
        return .bitmap(try solid(3))
      })
    let ended = Counter()
    let readers = ["test:/3", "test:/broken"].map { url in
      held.task { () -> Result<CachedImage, ImageCacheError> in
        defer { ended.increment() }
        do throws(ImageCacheError) {
          return .success(try await fixture.cache.image(for: Photo("a", url: url), format: .row))
        } catch {
          return .failure(error)
        }
      }
    }
    await held.run { await fixture.cache.statistics().pendingRequests == 2 }
    gate.open()
    await fixture.quiet()
    for reader in readers { reader.cancel() }
    // The answer of a failed load may still be on its way: its load has left the registry before.
    await held.run { ended.value == 2 }
    for reader in readers {
      guard case .failure(.cancelled) = await reader.value else {
        Issue.record("The reader got \(await reader.value).")
        continue
      }
    }
    // For the others the image is there.
    #expect(fixture.cache.containsImage(for: Photo("a", url: "test:/3"), format: .row))
  }

  @Test("of progress gets nothing that was queued before")
  func queuedProgress() async throws {
    let fixture = try await Fixture(source: ScriptedSource(gate: gate))
    let (heard, busy) = (Counter(), Gate())
    let reader = Task {
      for await _ in fixture.cache.progress(for: Photo("a"), format: .row) {
        heard.increment()
        await busy.pass()
      }
    }
    await heard.reaches(1)
    gate.open()
    await fixture.quiet()
    reader.cancel()
    busy.open()
    await reader.value
    #expect(heard.value == 1)
  }

  @Test("of progress gets no step that was on its way to it")
  func progressOnItsWay() async throws {
    let fixture = try await Fixture(source: ScriptedSource(gate: gate))
    let steps = Lock<[ImageProgress]>([])
    let reader = held.task {
      for await step in fixture.cache.progress(for: Photo("a"), format: .row) {
        steps.withLock { $0.append(step) }
      }
    }
    await held.run { fixture.source.started.value == 1 && steps.withLock { $0.count } == 1 }
    gate.open()
    await fixture.quiet()
    reader.cancel()
    held.runAll()
    await reader.value
    #expect(steps.withLock { $0.count } == 1)
  }

  @Test("of progress is told of no failure")
  func noFailure() async throws {
    let fixture = try await Fixture(source: ScriptedSource(gate: gate))
    let (heard, failed) = (Counter(), Counter())
    let reader = Task {
      for await step in fixture.cache.progress(for: Photo("a"), format: .row) {
        heard.increment()
        if case .failed = step { failed.increment() }
      }
    }
    await heard.reaches(1)
    await fixture.source.started.reaches(1)
    reader.cancel()
    await reader.value
    #expect(failed.value == 0)
    await fixture.quiet()
    #expect(await fixture.cache.statistics().cancellations == 1)
  }

  @Test("of events gets none that was on its way to it, nor any that was queued")
  func events() async throws {
    let recorder = CacheRecorder(among: EventListeners())
    let stream = recorder.makeStream(bufferSize: 4)
    let heard = Counter()
    let reader = held.task { for await _ in stream { heard.increment() } }
    held.runAll()
    for _ in 0..<3 { recorder.send(.removed(entity: nil, format: "row")) }
    reader.cancel()
    held.runAll()
    await reader.value
    #expect(heard.value == 0)
    #expect(!recorder.hasListeners)
  }
}
