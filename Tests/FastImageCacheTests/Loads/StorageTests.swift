import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A request that has less stored", .timeLimit(.minutes(10)))
struct StorageTests {
  let originals = MemoryOriginals()
  let photo = Photo("7")
  private let source = EncodedSource()

  @Test("gets a private image; neither that nor its original is kept")
  func keepsNothing() async throws {
    let fixture = try await Fixture([.large, .dot], from: source, originals: originals)
    for count in 1...2 {
      let image = try await fixture.image(photo, .large, LoadOptions(storage: .none))
      #expect(image.isPrivate && image.solidNumber == 7)
      await fixture.quiet()
      #expect(source.started.value == count)
    }
    #expect(originals.count == 0 && originals.downloads.value == 0)
    #expect(fixture.cache.cachedFormats(for: photo).isEmpty)
    let statistics = await fixture.cache.statistics()
    #expect(statistics.stores == 0 && statistics.failedStores == 0 && statistics.drawings == 2)
  }

  @Test("of originals only has the next one drawn without the source")
  func keepsOriginal() async throws {
    let fixture = try await Fixture([.large, .dot], from: source, originals: originals)
    let image = try await fixture.image(photo, .large, LoadOptions(storage: .originalsOnly))
    await originals.written.reaches(1)
    #expect(image.isPrivate && fixture.cache.cachedFormats(for: photo).isEmpty)
    #expect(try await fixture.image(photo, .large).isPrivate == false)
    await fixture.quiet()
    #expect(fixture.cache.cachedFormats(for: photo) == [.large, .dot])
    #expect(source.started.value == 1)
  }

  @Test("is answered by what the table and the store have")
  func readsWhatIsKept() async throws {
    let fixture = try await Fixture(from: source, originals: originals)
    let options = LoadOptions(storage: .none)
    try originals.put(7, as: "test:/7")
    #expect(try await fixture.image(photo, .row, options).solidNumber == 7)
    _ = try await fixture.image(photo)
    #expect(try await fixture.image(photo, .row, options).isPrivate == false)
    #expect(source.started.value == 0)
  }

  @Test(
    "shares a load, in which the one that keeps most decides",
    arguments: [LoadOptions.Storage.none, .originalsOnly, .all],
    [LoadOptions.Storage.none, .originalsOnly, .all])
  func joins(_ first: LoadOptions.Storage, _ second: LoadOptions.Storage) async throws {
    let (fixture, source, gate) = try await Fixture.gatedNetwork(originals: originals)
    var loads: [Task<CachedImage, any Error>] = []
    for storage in [first, second] {
      loads.append(Task { try await fixture.image(photo, .row, LoadOptions(storage: storage)) })
      await fixture.subscribers(loads.count)
    }
    gate.open()
    for load in loads {
      #expect(try await load.value.isPrivate == (max(first, second) < .all))
    }
    await fixture.quiet()
    #expect(source.started.value == 1)
    #expect(fixture.cache.containsImage(for: photo, format: .row) == (max(first, second) == .all))
    #expect((originals["test:/7"] != nil) == (max(first, second) > .none))
  }

  @Test("leaves a stale original that it shows as it is")
  func revalidatesNothing() async throws {
    let fixture = try await Fixture(from: source, originals: originals)
    try originals.put(7, as: "test:/7", freshness: .stale)
    _ = try await fixture.image(photo, .row, LoadOptions(storage: .none))
    await fixture.quiet()
    #expect(source.started.value == 0)
    _ = try await fixture.image(photo, .row, LoadOptions(storage: .originalsOnly))
    await originals.confirmed.reaches(1)
    await fixture.quiet()
    #expect(fixture.cache.cachedFormats(for: photo).isEmpty)
  }

  @Test("is asked in vain of a refresh, which stores what has changed")
  func refreshes() async throws {
    let source = EncodedSource { _, call in .encoded(try solid(call).pngData()) }
    let fixture = try await Fixture(from: source)
    _ = try await fixture.image(photo)
    #expect(
      try await fixture.cache.refresh(photo, options: LoadOptions(storage: .none)) == [.row])
    #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber == 2)
  }

  @Test(
    "of an animation keeps no frame unless another request wants all", arguments: [false, true])
  func keepsFrames(_ isPlayed: Bool) async throws {
    let gate = CancellableGate()
    let source = EncodedSource { _, _ in
      try await gate.pass()
      return .encoded(moving(3, frames: 4))
    }
    let fixture = try await Fixture([.sticker], from: source) {
      $0.decoders = [movingDecoder()]
      $0.limits.frameCount = 100
    }
    let still = Task { try await fixture.image(photo, .sticker, LoadOptions(storage: .none)) }
    await fixture.subscribers(1)
    let playing =
      isPlayed ? Task { try await fixture.cache.animation(for: photo, format: .sticker) } : nil
    await fixture.subscribers(isPlayed ? 2 : 1)
    gate.open()
    #expect(try await still.value.isPrivate != isPlayed)
    #expect(try await playing?.value.isStreamed != true)
    await fixture.quiet()
    #expect(source.started.value == 1)
    #expect((fixture.cache.cachedAnimation(for: photo, format: .sticker) != nil) == isPlayed)
    #expect(await fixture.cache.statistics().stores == (isPlayed ? 1 : 0))
  }
}

extension LoadOptions {
  fileprivate init(storage: Storage) { self.init { $0.storage = storage } }
}
