import FastImageCache
import Foundation
import TestSupport
import Testing

@Suite("Storing by hand", .timeLimit(.minutes(10)))
struct StoringTests {
  @Test("makes a bitmap a hit without any source")
  func storesBitmap() async throws {
    let fixture = try await Fixture()
    let stored = try await fixture.cache.store(solid(12), for: Photo("a"), format: .row)
    #expect(stored.solidNumber == 12 && !stored.isPrivate)
    #expect(fixture.cache.cachedImage(for: Photo("a"), format: .row)?.solidNumber == 12)
    #expect(fixture.source.started.value == 0)
  }

  @Test("answers those who wait for the image")
  func answersWaiters() async throws {
    let gate = CancellableGate()
    let fixture = try await Fixture(source: ScriptedSource(gate: gate))
    let waiting = Task { try await fixture.cache.image(for: Photo("a"), format: .row) }
    await fixture.source.started.reaches(1)
    try await fixture.cache.store(solid(21), for: Photo("a"), format: .row)
    #expect(try await waiting.value.solidNumber == 21)
    gate.open()
    await fixture.quiet()
    #expect(fixture.cache.cachedImage(for: Photo("a"), format: .row)?.solidNumber == 21)
  }

  @Test("a file reads and decodes it")
  func storesFile() async throws {
    let fixture = try await Fixture()
    let file = fixture.directory.url.appendingPathComponent("image.txt")
    try await fixture.cache.store(solid(6), for: Photo("a"), format: .row).pngData().write(to: file)
    let copy = try await fixture.cache.store(contentsOf: file, for: Photo("b"), format: .row)
    #expect(copy.solidNumber == 6)
  }

  @Test("bytes that are no image throws and keeps the old image")
  func refusesGarbage() async throws {
    let fixture = try await Fixture()
    try await fixture.cache.store(solid(5), for: Photo("a"), format: .row)
    await #expect(throws: ImageCacheError.self) {
      try await fixture.cache.store(Data("<html>".utf8), for: Photo("a"), format: .row)
    }
    #expect(fixture.cache.cachedImage(for: Photo("a"), format: .row)?.solidNumber == 5)
  }

  @Test("in a table whose slots are all held gives a private image and evicts nobody")
  func servesOverflowPrivately() async throws {
    let fixture = try await Fixture([.row.with(capacity: 2)])
    let format = ImageFormat.row.with(capacity: 2)
    let held = [
      try await fixture.cache.store(solid(1), for: Photo(1), format: format),
      try await fixture.cache.store(solid(2), for: Photo(2), format: format),
    ]
    let third = try await fixture.cache.image(for: Photo(3, url: "test:/3"), format: format)
    #expect(third.isPrivate && third.solidNumber == 3)
    #expect(held.map(\.solidNumber) == [1, 2])
    #expect(fixture.cache.containsImage(for: Photo(1), format: format))
    #expect(await fixture.cache.statistics().failedStores == 1)
  }

  @Test("never exceeds the capacity and keeps what was used last")
  func honoursCapacity() async throws {
    let format = ImageFormat.row.with(capacity: 3)
    let fixture = try await Fixture([format])
    for number in 1...3 {
      try await fixture.cache.store(solid(number), for: Photo(ImageID(number)), format: format)
    }
    _ = fixture.cache.cachedImage(for: Photo(1), format: format)
    try await fixture.cache.store(solid(4), for: Photo(4), format: format)
    let kept = (1...4).filter {
      fixture.cache.containsImage(for: Photo(ImageID($0)), format: format)
    }
    #expect(kept == [1, 3, 4])
    #expect(await fixture.cache.statistics().tables.first?.entryCount == 3)
  }

  private func failure(of url: URL, in fixture: Fixture) async -> ImageSourceError? {
    do throws(ImageCacheError) {
      try await fixture.cache.store(contentsOf: url, for: Photo("a"), format: .row)
      return nil
    } catch {
      guard case .sourceFailed(url, let underlying) = error else { return nil }
      return underlying as? ImageSourceError
    }
  }

  @Test(
    "what is behind another URL than a file's is refused, and nobody is asked for it",
    arguments: [
      ("https://example.com/a.png", "https"), ("data:,a", "data"), ("relative", ""),
    ])
  func refusesOtherURLs(text: String, scheme: String) async throws {
    let fixture = try await Fixture()
    let url = try #require(URL(string: text))
    #expect(await failure(of: url, in: fixture) == .unsupportedScheme(scheme))
    #expect(fixture.source.started.value == 0)
  }

  @Test("a file that is missing or too long says so")
  func refusesFiles() async throws {
    let fixture = try await Fixture { $0.limits.encodedByteCount = 3 }
    let file = fixture.directory.url.appendingPathComponent("picture")
    #expect(await failure(of: file, in: fixture) == .notFound(path: file.path))
    try Data("long".utf8).write(to: file)
    #expect(await failure(of: file, in: fixture) == .tooLarge(byteCountLimit: 3))
  }
}
