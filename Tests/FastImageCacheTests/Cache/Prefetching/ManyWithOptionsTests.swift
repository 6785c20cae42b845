import TestSupport
import Testing

@testable import FastImageCache

@Suite("Conditions of a call for many images", .timeLimit(.minutes(10)))
struct ManyWithOptionsTests {
  enum Call: CaseIterable { case prefetch, window, images }

  private func ask(
    _ cache: ImageCache, for photos: [Photo], by call: Call, _ options: LoadOptions
  ) async {
    switch call {
    case .prefetch:
      let progress = await cache.prefetch(photos, format: .row, options: options)
      #expect(progress.loadedCount == photos.count)
    case .window:
      let (window, stored) = (
        PrefetchWindow<Photo>(cache, format: .row, options: options), Counter()
      )
      let events = cache.events()
      window.move(to: photos)
      for await case .stored in events where stored.increment() == photos.count { break }
      withExtendedLifetime(window) {}
    case .images:
      for await arrival in cache.images(for: photos, format: .row, options: options) {
        #expect(throws: Never.self) { try arrival.result.get() }
      }
    }
  }

  @Test("reach the source, whatever the table has", arguments: Call.allCases)
  func reachSource(call: Call) async throws {
    let source = LoadOptionsTests.counting()
    let fixture = try await Fixture(from: source)
    let photos = [Photo("1"), Photo("2")]
    _ = try await fixture.image(photos[0])
    let options = LoadOptions(.reload, account: AccountID("alice"), avoids: .expensive)
    await ask(fixture.cache, for: photos, by: call, options)
    let requests = source.requests.dropFirst()
    #expect(requests.count == 2)
    #expect(
      requests.allSatisfy { $0.account == AccountID("alice") && $0.avoids == .expensive })
    for photo in photos {
      #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber != 1)
    }
  }

  @Test("hold for placeholders, which count as loaded", arguments: Call.allCases)
  func bringPlaceholders(call: Call) async throws {
    let source = LoadOptionsTests.counting()
    let fixture = try await Fixture(from: source)
    let photos = [Photo("1"), Photo("2")]
    await ask(fixture.cache, for: photos, by: call, .placeholder)
    for photo in photos {
      #expect(!fixture.cache.containsImage(for: photo, format: .row))
      let closest = fixture.cache.bestCachedImage(for: photo, format: .row)
      #expect(closest?.preview.kind == .placeholder)
    }
    guard call != .window else { return }
    await ask(fixture.cache, for: photos, by: call, .placeholder)
    #expect(source.started.value == 2)
  }

  @Test("bound a prefetch in its reach and in its time")
  func boundPrefetch() async throws {
    let clock = ManualClock()
    let source = EncodedSource(gate: CancellableGate())
    let fixture = try await Fixture(from: source) { $0.clock = clock }
    var options = LoadOptions(scope: .cache)
    let kept = await fixture.cache.prefetch([Photo("1")], format: .row, options: options)
    #expect(kept.failedCount == 1 && source.started.value == 0)
    options = LoadOptions()
    options.timeout = .seconds(10)
    async let limited = fixture.cache.prefetch([Photo("1")], format: .row, options: options)
    await source.started.reaches(1)
    await clock.sleepers { $0.count == 1 }
    clock.advance(by: .seconds(10))
    #expect(await limited.failedCount == 1)
    await fixture.quiet()
  }

  @Test("count what a full table has, and what it cannot exchange", arguments: [true, false])
  func fullTable(isPlaceholder: Bool) async throws {
    let format = ImageFormat.row.with(capacity: 4)
    let source = LoadOptionsTests.counting()
    let fixture = try await Fixture([format], from: source)
    var options = isPlaceholder ? LoadOptions.placeholder : LoadOptions()
    let photos = photos(0..<4)
    var shown: [CachedImage] = []
    for photo in photos {
      shown.append(try await fixture.image(photo, format, options))
    }
    let present = await fixture.cache.prefetch(photos, format: format, options: options)
    #expect(present.loadedCount == 4 && source.started.value == 4)
    options.cachePolicy = .reload
    let reloaded = await fixture.cache.prefetch(photos, format: format, options: options)
    #expect(reloaded.leftOutCount == 4 && source.started.value == 4)
    withExtendedLifetime(shown) {}
  }

  @Test("count no image as loaded whose former one stays")
  func keptFormer() async throws {
    let (source, calls) = (LoadOptionsTests.counting(), Counter())
    let fixture = try await Fixture(from: source) {
      $0.willStore = { image in if calls.increment() > 1 { image.storage = .doNotStore } }
    }
    for policy in [LoadOptions.CachePolicy.useCache, .reload] {
      let progress = await fixture.cache.prefetch(
        [Photo("1")], format: .row, options: LoadOptions(policy))
      #expect(progress.loadedCount == (policy == .useCache ? 1 : 0))
      #expect(progress.leftOutCount == (policy == .useCache ? 0 : 1))
    }
    #expect(fixture.cache.containsImage(for: Photo("1"), format: .row))
  }

  @Test(
    "let a prefetch be less urgent than requests for the screen, or as urgent as their priority",
    arguments: [nil, RequestPriority(.high)])
  func raisePrefetch(priority: RequestPriority?) async throws {
    let (fixture, source, gate) = try await Fixture.gatedNetwork()
    let options = LoadOptions(priority: priority)
    async let progress = fixture.cache.prefetch([Photo("1")], format: .row, options: options)
    await source.started.reaches(1)
    #expect(source.requests.first?.priority == priority?.value ?? .low)
    gate.open()
    #expect(await progress.loadedCount == 1)
  }
}
