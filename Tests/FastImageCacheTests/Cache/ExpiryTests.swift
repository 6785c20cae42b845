import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache

@Suite("An image with a lifetime", .timeLimit(.minutes(10)))
struct ExpiryTests {
  private let clock = ManualClock()
  private let date = Lock(Date())
  private let photo = Photo("a", url: "test:/7")

  private func format(
    _ name: String, lifetime: Duration? = nil, from start: ImageFormat.LifetimeStart = .store
  ) -> ImageFormat {
    ImageFormat(
      name: name, size: .exact(PixelSize(width: 8, height: 8)), pixelFormat: .bgrx32, capacity: 16,
      lifetime: lifetime, lifetimeStart: start)
  }

  private func configure(_ configuration: inout ImageCache.Configuration) {
    configuration.clock = clock
    configuration.now = { [date] in date.withLock { $0 } }
  }

  private func pass(_ days: Double) { date.withLock { $0 += days * 86_400 } }

  /// Waits for a sweep that began after the clock stood at `start`.
  private func sweepEnds(after start: ContinuousClock.Instant) async {
    await clock.sleepers { $0.contains { $0 > start + .seconds(299) } }
  }

  /// A cache whose first sweep has ended.
  private func open(
    _ formats: [ImageFormat], in directory: TemporaryDirectory? = nil
  ) async throws -> Fixture {
    let start = clock.now
    let fixture = try await Fixture(formats, directory: directory, configure: configure)
    await sweepEnds(after: start)
    return fixture
  }

  private func pauseEnds() async {
    clock.advance(by: .seconds(3600))
    await sweepEnds(after: clock.now)
  }

  @Test("goes at the opening after its time; others, and other formats', stay")
  func expiresAtOpening() async throws {
    let (brief, lasting) = (format("brief", lifetime: .seconds(86_400)), format("lasting"))
    let first = try await Fixture([format("brief"), lasting], configure: configure)
    for format in [format("brief"), lasting] {
      _ = try await first.cache.image(for: photo, format: format)
    }
    await first.cache.close()
    for days in [0.9, 0.2] {
      pass(days)
      let fixture = try await open([brief, lasting], in: first.directory)
      // Its table is the one without a lifetime.
      #expect(fixture.cache.containsImage(for: photo, format: brief) == (days == 0.9))
      #expect(fixture.cache.containsImage(for: photo, format: lasting))
      await fixture.cache.close()
      clock.advance(by: .seconds(3600))
    }
  }

  @Test("goes within an hour, as an event tells, and a younger one in its place stays")
  func expiresHourly() async throws {
    let brief = format("brief", lifetime: .seconds(86_400))
    let fixture = try await open([brief])
    let events = fixture.cache.events()
    let held = try await fixture.image(photo, brief)
    await pauseEnds()
    #expect(fixture.cache.containsImage(for: photo, format: brief))
    pass(2)
    // Nobody asks for an age.
    #expect(fixture.cache.cachedImage(for: photo, format: brief) != nil)
    await pauseEnds()
    #expect(!fixture.cache.containsImage(for: photo, format: brief))
    #expect(held.solidNumber == 7)
    _ = try await fixture.image(photo, brief)
    pass(-2)
    await pauseEnds()
    #expect(fixture.cache.containsImage(for: photo, format: brief))
    await fixture.cache.close()
    var removed = 0
    for await event in events { if case .removed = event { removed += 1 } }
    #expect(removed == 1)
  }

  @Test("goes so long after its last use, if that counts, over openings")
  func countsFromLastUse() async throws {
    let brief = format("brief", lifetime: .seconds(10 * 86_400), from: .lastUse)
    let unused = Photo("b", url: "test:/8")
    let directory = try TemporaryDirectory()
    // The first sweep comes before the stores, and each one notes its time only.
    for day in [0, 4, 8, 12, 16] {
      let fixture = try await open([brief], in: directory)
      if day == 0 { _ = try await fixture.image(unused, brief) }
      #expect(fixture.cache.containsImage(for: unused, format: brief) == (day < 16))
      #expect(fixture.cache.containsImage(for: photo, format: brief) == (day > 0))
      _ = try await fixture.image(photo, brief)
      await fixture.cache.close()
      clock.advance(by: .seconds(3600))
      pass(4)
    }
    // Without the noted times nobody knows how old it is.
    let files = try FileManager.default.subpathsOfDirectory(atPath: directory.url.path)
    let times = try #require(files.first { $0.hasSuffix("-times") })
    try FileManager.default.removeItem(at: directory.url.appending(path: times))
    pass(20)
    let fixture = try await open([brief], in: directory)
    var held = fixture.cache.cachedImage(for: photo, format: brief)
    #expect(held != nil)
    for _ in 0..<5 {
      pass(4)
      await pauseEnds()
    }
    // Who holds it uses it.
    #expect(fixture.cache.containsImage(for: photo, format: brief))
    #expect(held?.solidNumber == 7)
    held = nil
    for _ in 0..<5 {
      #expect(fixture.cache.containsImage(for: photo, format: brief))
      pass(4)
      await pauseEnds()
      if !fixture.cache.containsImage(for: photo, format: brief) { break }
    }
    #expect(!fixture.cache.containsImage(for: photo, format: brief))
    await fixture.cache.close()
  }

  @Test("was used, though the process was killed a few minutes later")
  func countsUsesOfKilled() async throws {
    let brief = format("brief", lifetime: .seconds(10 * 86_400), from: .lastUse)
    let unused = Photo("b", url: "test:/8")
    var directory = try TemporaryDirectory()
    for day in [0, 9, 20] {
      let fixture = try await open([brief], in: directory)
      for photo in day == 0 ? [photo, unused] : [] { _ = try await fixture.image(photo, brief) }
      #expect(fixture.cache.containsImage(for: unused, format: brief) == (day < 20))
      #expect(fixture.cache.cachedImage(for: photo, format: brief) != nil)
      clock.advance(by: .seconds(300))
      await sweepEnds(after: clock.now)
      // The files as a kill leaves them.
      let killed = try TemporaryDirectory()
      for name in try FileManager.default.contentsOfDirectory(atPath: directory.url.path) {
        try FileManager.default.copyItem(
          at: directory.url.appending(path: name), to: killed.url.appending(path: name))
      }
      await fixture.cache.close()
      directory = killed
      pass(day == 0 ? 9 : 11)
    }
  }

  @Test("outlives a clock that stands too early for a while")
  func outlivesEarlyClock() async throws {
    let brief = format("brief", lifetime: .seconds(10 * 86_400), from: .lastUse)
    let directory = try TemporaryDirectory()
    for day in [0.0, 9, 15] {
      let today = date.withLock { $0 }
      if day == 15 { date.withLock { $0 = Date(timeIntervalSince1970: 0) } }
      let fixture = try await open([brief], in: directory)
      date.withLock { $0 = today }
      if day < 15 { _ = try await fixture.image(photo, brief) }
      await pauseEnds()
      #expect(fixture.cache.containsImage(for: photo, format: brief))
      await fixture.cache.close()
      pass(day == 0 ? 9 : 6)
    }
    // Too early by less than anybody can tell, while an image was stored just now.
    let short = format("short", lifetime: .seconds(1800), from: .lastUse)
    for (format, isEarly) in [(self.format("short"), false), (short, true)] {
      date.withLock { $0 = Date(timeIntervalSinceNow: isEarly ? -3000 : 0) }
      let start = clock.now
      let fixture = try await Fixture([format], directory: directory, configure: configure)
      if isEarly {
        await sweepEnds(after: start)
        date.withLock { $0 = Date() }
        await pauseEnds()
        #expect(fixture.cache.containsImage(for: photo, format: format))
      } else {
        _ = try await fixture.image(photo, format)
      }
      await fixture.cache.close()
    }
  }

  @Test("goes with all its frames")
  func expiresWithFrames() async throws {
    let sticker = ImageFormat(
      "sticker", 32, capacity: 16, animation: .allFrames(byteLimit: 1 << 20),
      lifetime: .seconds(60))
    let start = clock.now
    let fixture = try await Fixture([sticker], source: movingSource()) {
      $0.decoders = [movingDecoder()]
      $0.limits.frameCount = 100
      configure(&$0)
    }
    await sweepEnds(after: start)
    _ = try await fixture.cache.animation(
      for: Photo("a", url: "moving:/3/5"), format: sticker)
    pass(1)
    await pauseEnds()
    #expect(await fixture.cache.statistics().tables.first?.entryCount == 0)
  }

  @Test("in memory goes, too, and nothing sweeps a closed cache, or one without lifetimes")
  func endsWithCache() async throws {
    var configuration = ImageCache.Configuration()
    configuration.source = ScriptedSource()
    configure(&configuration)
    let brief = format("brief", lifetime: .seconds(60))
    let start = clock.now
    let cache = try ImageCache.inMemory(formats: [brief], configuration: configuration)
    await sweepEnds(after: start)
    _ = try await cache.image(for: photo, format: brief)
    pass(1)
    await pauseEnds()
    #expect(!cache.containsImage(for: photo, format: brief))
    await cache.close()
    await clock.sleepers { $0.isEmpty }
    let plain = try await Fixture(configure: configure)
    _ = try await plain.cache.image(for: photo, format: .row)
    await clock.sleepers { $0.isEmpty }
    // A cache that is dropped without being closed ends its task, too.
    do {
      let dropped = try ImageCache.inMemory(formats: [brief], configuration: configuration)
      await clock.sleepers { $0.count == 1 }
      withExtendedLifetime(dropped) {}
    }
    await clock.sleepers { $0.isEmpty }
  }

  @Test("has one that is longer than nothing")
  func isChecked() throws {
    let none = format("brief", lifetime: .zero)
    #expect(throws: ImageCacheError.self) { try ImageCache.inMemory(formats: [none]) }
    let used = format("a", lifetime: .seconds(1), from: .lastUse)
    #expect(
      try JSONDecoder().decode(ImageFormat.self, from: try JSONEncoder().encode(used)) == used)
  }
}
