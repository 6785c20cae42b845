import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("Storing by hand", .timeLimit(.minutes(10)))
struct StoringTests {
  @Test("answers those who wait for the image")
  func answersWaiters() async throws {
    let (fixture, gate) = try await Fixture.gated()
    let waiting = Task { try await fixture.image(Photo("a")) }
    await fixture.source.started.reaches(1)
    try await fixture.cache.store(solid(21), for: Photo("a"), format: .row)
    #expect(try await waiting.value.solidNumber == 21)
    gate.open()
    await fixture.quiet()
    #expect(fixture.cache.cachedImage(for: Photo("a"), format: .row)?.solidNumber == 21)
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
    let third = try await fixture.image(Photo(3, url: "test:/3"), format)
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

  @Test(
    "what is behind another URL than a file's is refused, and nobody is asked for it",
    arguments: [
      ("https://example.com/a.png", "https"), ("data:,a", "data"), ("relative", ""),
    ])
  func refusesOtherURLs(text: String, scheme: String) async throws {
    let fixture = try await Fixture()
    let url = try #require(URL(string: text))
    let error = ImageSourceError.unsupportedScheme(scheme)
    await #expect(throws: ImageCacheError.sourceFailed(url, underlying: error)) {
      try await fixture.cache.store(contentsOf: url, for: Photo("a"), format: .row)
    }
    #expect(fixture.source.started.value == 0)
  }

  @Test("a file that is missing or too long says so")
  func refusesFiles() async throws {
    let fixture = try await Fixture { $0.limits.encodedByteCount = 3 }
    let file = fixture.directory.url.appendingPathComponent("picture")
    for error in [ImageSourceError.notFound(path: file.path), .tooLarge(byteCountLimit: 3)] {
      await #expect {
        try await fixture.cache.store(contentsOf: file, for: Photo("a"), format: .row)
      } throws: {
        guard case .sourceFailed(file, let reason)? = $0 as? ImageCacheError else { return false }
        return reason as? ImageSourceError == error
      }
      try Data("long".utf8).write(to: file)
    }
  }
}

@Suite("A format that the cache was not made with", .timeLimit(.minutes(10)))
struct UnknownFormatTests {
  /// Of another name, and of the name of one that differs.
  static let formats = [
    ImageFormat(name: "other", size: .exact(PixelSize(width: 8, height: 8)), capacity: 4),
    ImageFormat("row", 9, 8, capacity: 16),
  ]

  @Test("is refused by every call that can throw", arguments: formats)
  func isThrown(format: ImageFormat) async throws {
    let fixture = try await Fixture()
    let (cache, photo) = (fixture.cache, Photo("a"))
    let missing = URL(fileURLWithPath: "/missing")
    let calls: [() async throws -> Void] = [
      { _ = try await cache.image(for: photo, format: format) },
      { try await cache.store(solid(1), for: photo, format: format) },
      { try await cache.store(Data(), for: photo, format: format) },
      { try await cache.store(contentsOf: missing, for: photo, format: format) },
      { try await cache.removeImage(for: photo, format: format) },
      { try await cache.removeAllImages(in: format) },
      { try await cache.setMetadata(nil, for: photo, format: format) },
    ]
    for call in calls {
      await #expect(throws: ImageCacheError.unknownFormat(format.name)) { try await call() }
    }
  }

  @Test("ends a stream, fails a prefetch, and is told to listeners", arguments: formats)
  func isTold(format: ImageFormat) async throws {
    let fixture = try await Fixture()
    let events = fixture.cache.events()
    var last: ImageProgress?
    for await step in fixture.cache.progress(for: Photo("a"), format: format) { last = step }
    guard case .failed(.unknownFormat(format.name)) = last else {
      Issue.record("The last step was \(String(describing: last)).")
      return
    }
    let progress = await fixture.cache.prefetch([Photo("b"), Photo("c")], format: format)
    #expect(progress.failedCount == 2 && progress.isFinished)
    await fixture.cache.close()
    var told: [ImageID] = []
    for await event in events {
      if case .failed(let entity, format.name, .unknownFormat(format.name)) = event {
        told.append(entity)
      }
    }
    #expect(told == ["a", "b", "c"])
    #expect(fixture.source.started.value == 0)
  }

  @Test("has no image, as far as those can tell who ask what is there", arguments: formats)
  func isEmpty(format: ImageFormat) async throws {
    let fixture = try await Fixture()
    try await fixture.cache.store(solid(1), for: Photo("a"), format: .row)
    #expect(fixture.cache.cachedImage(for: Photo("a"), format: format) == nil)
    #expect(!fixture.cache.containsImage(for: Photo("a"), format: format))
    #expect(fixture.cache.cachedFormats(for: Photo("a")) == [.row])
  }
}

@Suite("Removing", .timeLimit(.minutes(10)))
struct RemovalTests {
  @Test("an image forgets it and keeps it intact for whoever shows it")
  func keepsHeldPixels() async throws {
    let fixture = try await Fixture([.row, .large])
    let held = try await fixture.cache.store(solid(1), for: Photo("a"), format: .row)
    try await fixture.cache.store(solid(1), for: Photo("a"), format: .large)
    try await fixture.cache.removeImage(for: Photo("a"), format: .row)
    #expect(fixture.cache.cachedFormats(for: Photo("a")).map(\.name) == ["large"])
    for number in 2..<40 {
      try await fixture.cache.store(solid(number), for: Photo(ImageID(number)), format: .row)
    }
    #expect(held.solidNumber == 1)
  }

  @Test("everything empties the files and spares what is on screen")
  func removesEverything() async throws {
    let fixture = try await Fixture([.large, .row])
    var held: [CachedImage] = []
    for number in 0..<16 {
      held.append(
        try await fixture.cache.store(solid(number), for: Photo(ImageID(number)), format: .large))
    }
    let before = await fixture.cache.statistics().tables.map(\.diskByteCount).reduce(0, +)
    try await fixture.cache.removeAllImages()
    let statistics = await fixture.cache.statistics()
    #expect(statistics.tables.allSatisfy { $0.entryCount == 0 })
    #expect(statistics.tables.map(\.diskByteCount).reduce(0, +) < before)
    #expect(held.map(\.solidNumber) == Array(0..<16))
    let again = try await fixture.cache.store(solid(9), for: Photo("z"), format: .large)
    #expect(again.solidNumber == 9 && held.map(\.solidNumber) == Array(0..<16))
  }

  @Test("during a load answers the subscribers and stores nothing")
  func overtakesLoad() async throws {
    let (fixture, gate) = try await Fixture.gated([.large, .dot])
    let photo = Photo("a", url: "test:/8")
    let waiting = Task { try await fixture.image(photo, .large) }
    await fixture.source.started.reaches(1)
    try await fixture.cache.removeImages(for: photo)
    gate.open()
    #expect(try await waiting.value.solidNumber == 8)
    await fixture.quiet()
    #expect(fixture.cache.cachedFormats(for: photo).isEmpty)
  }

  @Test("during a load makes the next request ask the source anew")
  func startsAnew() async throws {
    let (first, second) = (CancellableGate(), CancellableGate())
    let fixture = try await Fixture(
      source: ScriptedSource { _, call, _ in
        try await (call == 1 ? first : second).pass()
        return .bitmap(try solid(call))
      })
    let photo = Photo("a")
    let old = Task { try await fixture.image(photo) }
    await fixture.source.started.reaches(1)
    try await fixture.cache.removeImage(for: photo, format: .row)
    let new = Task { try await fixture.image(photo) }
    await fixture.source.started.reaches(2)
    second.open()
    #expect(try await new.value.solidNumber == 2)
    first.open()
    #expect(try await old.value.solidNumber == 1)
    await fixture.quiet()
    #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber == 2)
  }
}
