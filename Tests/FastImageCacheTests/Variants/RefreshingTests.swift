import Foundation
import OriginalStore
import TestSupport
import Testing

@testable import FastImageCache

@Suite("Refreshing", .timeLimit(.minutes(10)))
struct RefreshingTests {
  let originals = MemoryOriginals()
  private let photo = Photo("a")

  /// Sends one picture, and calls it unchanged until `changes` says that there is another one.
  private func source(changes: Counter, gate: CancellableGate? = nil) -> EncodedSource {
    EncodedSource { request, call in
      if call > 1 { try await gate?.pass() }
      if request.known?.isWhole == true, changes.value == 0 {
        return .unchanged(OriginalTerms(fields: ["ETag": "\"1\""], received: Date()))
      }
      return .encoded(try solid(changes.value).pngData())
    }
  }

  private func load(_ formats: [ImageFormat], in fixture: Fixture) async throws {
    for format in formats {
      _ = try await fixture.cache.image(for: photo, format: format)
      await fixture.cache.loadsHaveEnded()
    }
  }

  @Test("an unchanged picture costs one request for all formats, no decode, and redraws none")
  func asksOnce() async throws {
    let source = source(changes: Counter())
    let fixture = try await Fixture([.row, .large, .dot], from: source, originals: originals)
    try await load([.row, .large, .dot], in: fixture)
    let before = await fixture.cache.statistics()
    #expect(try await fixture.cache.refresh(photo).isEmpty)
    await fixture.quiet()
    let after = await fixture.cache.statistics()
    #expect(source.started.value == 2 && originals.confirmed.value == 1)
    #expect(after.decodes == before.decodes && after.stores == before.stores)
    #expect(after.waiters == 0)
  }

  @Test("a changed picture redraws the formats that have it, and says which")
  func redraws() async throws {
    let changes = Counter()
    let source = source(changes: changes)
    let fixture = try await Fixture([.row, .large, .dot], from: source, originals: originals)
    try await load([.row, .large], in: fixture)
    try await fixture.cache.removeImage(for: photo, format: .dot)
    changes.increment()
    #expect(try await fixture.cache.refresh(photo) == [.row, .large])
    #expect(source.started.value == 2)
    for format in [ImageFormat.row, .large] {
      #expect(fixture.cache.cachedImage(for: photo, format: format)?.solidNumber == 1)
    }
    #expect(try await fixture.cache.refresh(Photo("b")).isEmpty)
    #expect(source.started.value == 2)
  }

  @Test("shows the former pictures until the new ones are there")
  func keepsShowing() async throws {
    let (changes, gate) = (Counter(), CancellableGate())
    let source = source(changes: changes, gate: gate)
    let fixture = try await Fixture(from: source, originals: originals)
    try await load([.row], in: fixture)
    changes.increment()
    let refresh = Task { try await fixture.cache.refresh(photo) }
    await source.started.reaches(2)
    #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber == 0)
    gate.open()
    #expect(try await refresh.value == [.row])
    #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber == 1)
  }

  @Test("that fails, or is cancelled, leaves the pictures, and its load ends")
  func leavesPictures() async throws {
    let gate = CancellableGate()
    let source = EncodedSource { _, call in
      if call == 2 { throw ImageSourceError.httpStatus(503) }
      if call == 3 { try await gate.pass() }
      return .encoded(try solid(call).pngData())
    }
    let fixture = try await Fixture([.row, .large], from: source, originals: originals)
    try await load([.row, .large], in: fixture)
    await #expect(throws: ImageCacheError.self) { try await fixture.cache.refresh(photo) }
    let cancelled = Task { try await fixture.cache.refresh(photo) }
    await source.started.reaches(3)
    cancelled.cancel()
    await #expect(throws: ImageCacheError.self) { try await cancelled.value }
    await fixture.quiet()
    for format in [ImageFormat.row, .large] {
      #expect(fixture.cache.cachedImage(for: photo, format: format)?.solidNumber == 1)
    }
    #expect(source.started.value == 3)
  }

  @Test("pictures marked stale draws them again")
  func redrawsStale() async throws {
    let source = source(changes: Counter())
    let fixture = try await Fixture(from: source, originals: originals)
    try await load([.row], in: fixture)
    try await fixture.cache.markStale(photo)
    #expect(try await fixture.cache.refresh(photo) == [.row])
    #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber == 0)
    #expect(source.started.value == 2 && originals.confirmed.value == 1)
  }

  @Test("a picture without a source, or with a closed cache, asks nobody")
  func asksNobody() async throws {
    let source = source(changes: Counter())
    let fixture = try await Fixture(from: source)
    var made = photo
    made.url = nil
    try await fixture.cache.store(solid(3), for: made, format: .row)
    #expect(try await fixture.cache.refresh(made).isEmpty)
    await fixture.cache.close()
    await #expect(throws: ImageCacheError.self) { try await fixture.cache.refresh(made) }
    #expect(source.started.value == 0)
  }
}
