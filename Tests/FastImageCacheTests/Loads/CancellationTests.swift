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
    let row = Task { try await fixture.image(Photo("a")) }
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
      Task { try await fixture.image(photo) }
    }
    await fixture.source.started.reaches(1)
    old.cancel()
    await #expect { try await old.value } throws: { $0.isCancelled }
    let new = Task { try await fixture.image(photo) }
    await fixture.source.started.reaches(2)
    first.open()
    await ended.reaches(1)
    second.open()
    #expect(try await new.value.solidNumber == 2)
    #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber == 2)
  }

  @Test("before a request asks no source, and gives what is there", arguments: [false, true])
  func failsBeforehand(isThere: Bool) async throws {
    let fixture = try await Fixture()
    if isThere { try await fixture.cache.store(solid(1), for: Photo("a"), format: .row) }
    let row = Task { [gate] in
      // Waits until this very task has been cancelled.
      try? await gate.pass()
      return try await fixture.image(Photo("a"))
    }
    row.cancel()
    if isThere {
      #expect(try await row.value.isPrivate == false)
    } else {
      await #expect { try await row.value } throws: { $0.isCancelled }
    }
    #expect(fixture.source.started.value == 0)
  }

  @Test("hundreds of rows leaves nothing behind")
  func leavesNothing() async throws {
    let fixture = try await Fixture(source: ScriptedSource(gate: gate))
    let rows = (0..<300).map { number in Task { try await fixture.image(Photo(ImageID(number))) } }
    await fixture.subscribers(300)
    for row in rows { row.cancel() }
    for row in rows { await #expect { try await row.value } throws: { $0.isCancelled } }
    await fixture.quiet()
    let statistics = await fixture.cache.statistics()
    #expect(
      statistics.activeLoads == 0 && statistics.pendingRequests == 0 && statistics.stores == 0)
    // The gates are free again.
    gate.open()
    #expect(try await fixture.image(Photo(1, url: "test:/1")).solidNumber == 1)
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
