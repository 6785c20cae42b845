import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("An animation", .timeLimit(.minutes(10)))
struct AnimationTests {
  private let decoder = movingDecoder()
  private let photo = Photo("a", url: "moving:/3/5")
  private let gate = Gate()

  private func fixture(
    _ formats: [ImageFormat] = [.sticker], _ decoder: FramesDecoder? = nil,
    directory: TemporaryDirectory? = nil, source: ScriptedSource = movingSource(),
    configure: (inout ImageCache.Configuration) -> Void = { _ in }
  ) async throws -> Fixture {
    try await Fixture(formats, source: source, directory: directory) { configuration in
      configuration.decoders = [decoder ?? self.decoder]
      configuration.limits.frameCount = 100
      configure(&configuration)
    }
  }

  private func sticker(_ number: Int, frames: Int, id: ImageID = "a") -> Photo {
    Photo(id, url: "moving:/\(number)/\(frames)")
  }

  private func numbers(_ number: Int, _ count: Int) -> [Int?] {
    (0..<count).map { number * 100 + $0 }
  }

  // MARK: Loading

  @Test("is loaded with all its frames, durations and loops, and is a hit that decodes nothing")
  func isLoaded() async throws {
    let fixture = try await fixture()
    let animation = try await fixture.cache.animation(for: photo, format: .sticker)
    let reads = decoder.reads.value
    #expect(animation.numbers == numbers(3, 5))
    #expect(animation.loopCount == 2)
    #expect(!animation.isStreamed)
    #expect(
      (0..<5).map { animation.frame(at: $0).duration } == (2...6).map { .milliseconds($0 * 10) })
    #expect(animation.duration == .milliseconds(200))
    #expect(animation.frame(atTime: .milliseconds(55)).index == 2)
    #expect(animation.frame(atTime: .seconds(9)).index == 4)
    #expect(fixture.cache.cachedAnimation(for: photo, format: .sticker)?.numbers == numbers(3, 5))
    #expect(fixture.cache.cachedImage(for: photo, format: .sticker)?.solidNumber == 300)
    #expect(decoder.reads.value == reads)
  }

  @Test("obeys the options of its request")
  func obeysOptions() async throws {
    let fixture = try await fixture()
    await #expect(throws: ImageCacheError.notCached(entity: "a", format: "sticker")) {
      try await fixture.cache.animation(
        for: photo, format: .sticker, options: LoadOptions(scope: .cache))
    }
    _ = try await fixture.cache.animation(for: photo, format: .sticker)
    let reads = decoder.reads.value
    let reload = LoadOptions(.reload)
    _ = try await fixture.cache.animation(for: photo, format: .sticker, options: reload)
    #expect(decoder.reads.value > reads)
  }

  @Test("of a placeholder is a still, by one load")
  func isPlaceholder() async throws {
    let fixture = try await fixture()
    let still = try await fixture.cache.animation(
      for: sticker(3, frames: 5), format: .sticker, options: .placeholder)
    #expect(still.numbers == [300])
    #expect(fixture.source.started.value == 1)
  }

  @Test("of an earlier session, stale or not, plays without a decode", arguments: [false, true])
  func outlivesSession(isMarked: Bool) async throws {
    let directory = try TemporaryDirectory()
    let former = try await fixture(directory: directory)
    _ = try await former.cache.animation(for: photo, format: .sticker)
    if isMarked { try await former.cache.markStale(photo) }
    await former.cache.close()
    let decoder = movingDecoder()
    let later = try await fixture([.sticker], decoder, directory: directory)
    let animation = try #require(later.cache.cachedAnimation(for: photo, format: .sticker))
    #expect(animation.image.solidNumber == 300)
    await animation.ready()
    #expect(animation.numbers == numbers(3, 5))
    #expect(animation.duration == .milliseconds(200))
    #expect(decoder.reads.value + later.source.started.value == 0)
  }

  @Test("gives its first frame before the others are read")
  func givesFirstFrame() async throws {
    var decoder = movingDecoder()
    decoder.gate = gate
    let fixture = try await fixture([.sticker], decoder)
    async let waiting = fixture.cache.animation(for: photo, format: .sticker)
    await fixture.subscribers(1)
    let image = try await fixture.image(photo, .sticker)
    #expect(image.solidNumber == 300)
    #expect(fixture.cache.cachedAnimation(for: photo, format: .sticker) == nil)
    gate.open()
    #expect(try await waiting.numbers == numbers(3, 5))
    #expect(fixture.source.started.value == 1)
  }

  @Test("is drawn to the end when only its first frame was asked for")
  func goesOn() async throws {
    let fixture = try await fixture()
    _ = try await fixture.image(photo, .sticker)
    await fixture.quiet()
    #expect(fixture.cache.cachedAnimation(for: photo, format: .sticker)?.numbers == numbers(3, 5))
  }

  @Test("whose request is cancelled ends its load")
  func isCancelled() async throws {
    var decoder = movingDecoder()
    decoder.gate = gate
    let fixture = try await fixture([.sticker], decoder)
    let task = Task { try await fixture.cache.animation(for: photo, format: .sticker) }
    while decoder.reads.value == 0 { await Task.yield() }
    task.cancel()
    await #expect { _ = try await task.value } throws: { $0.isCancelled }
    gate.open()
    await fixture.quiet()
    #expect(fixture.cache.cachedAnimation(for: photo, format: .sticker) == nil)
  }

  @Test("is prefetched whole and once, kept or not", arguments: [1 << 20, 1])
  func isPrefetched(byteLimit: Int) async throws {
    let format = ImageFormat.sticker.keeping(.allFrames(byteLimit: byteLimit))
    let fixture = try await fixture([format])
    for _ in 0..<2 {
      #expect(await fixture.cache.prefetch([photo], format: format).loadedCount == 1)
    }
    #expect(fixture.source.started.value == 1)
    guard byteLimit > 1 else { return }
    #expect(fixture.cache.cachedAnimation(for: photo, format: format)?.numbers == numbers(3, 5))
  }

  @Test("that is stored by hand has all its frames")
  func isStoredByHand() async throws {
    let fixture = try await fixture()
    let photo = Photo("a")
    try await fixture.cache.store(
      moving(7, frames: 3), for: photo, format: .sticker, metadata: Data("m".utf8))
    #expect(fixture.cache.cachedAnimation(for: photo, format: .sticker)?.numbers == numbers(7, 3))
    #expect(
      fixture.cache.cachedImage(for: photo, format: .sticker)?.metadata == Data("m".utf8))
  }

  @Test("that is stored by hand answers those who wait for its load")
  func answersWaiting() async throws {
    let gate = CancellableGate()
    let source = ScriptedSource { _, _, _ in
      try await gate.pass()
      return .encoded(moving(3, frames: 5))
    }
    let fixture = try await fixture(source: source)
    let photo = Photo("a")
    async let waiting = fixture.cache.animation(for: photo, format: .sticker)
    await fixture.subscribers(1)
    try await fixture.cache.store(moving(7, frames: 3), for: photo, format: .sticker)
    #expect(try await waiting.numbers == numbers(7, 3))
    gate.open()
  }

  @Test("of an entity's own bytes has all its frames")
  func isProvided() async throws {
    let fixture = try await fixture()
    var photo = Photo("a")
    photo.ownImage = { _ in .encoded(moving(7, frames: 3)) }
    let animation = try await fixture.cache.animation(for: photo, format: .sticker)
    #expect(animation.numbers == numbers(7, 3))
  }

  // MARK: Stills

  @Test("of an image that does not move has one frame, for ever")
  func isStill() async throws {
    let fixture = try await fixture([.sticker, .row])
    let still = sticker(3, frames: 1)
    let animation = try await fixture.cache.animation(for: still, format: .sticker)
    #expect(animation.frameCount == 1 && animation.numbers == [300])
    #expect(animation.frame(atTime: .seconds(100)).index == 0)
    let moving = sticker(4, frames: 5, id: "b")
    #expect(try await fixture.cache.animation(for: moving, format: .row).numbers == [400])
  }

  @Test("is a still where the hook changes the image, and plays unstored where it refuses it")
  func followsHook() async throws {
    let changing = try await fixture { configuration in
      configuration.willStore = { $0.bitmap = try solid(9) }
    }
    #expect(try await changing.cache.animation(for: photo, format: .sticker).numbers == [9])
    let refusing = try await fixture { configuration in
      configuration.willStore = { $0.storage = .doNotStore }
    }
    let animation = try await refusing.cache.animation(for: photo, format: .sticker)
    #expect(animation.isStreamed)
    #expect(refusing.cache.cachedImage(for: photo, format: .sticker) == nil)
  }

  // MARK: Streaming

  @Test("beyond the limit or the room is decoded while it plays", arguments: [20_000, 1 << 20])
  func isStreamed(byteLimit: Int) async throws {
    let format = ImageFormat.sticker.keeping(.allFrames(byteLimit: byteLimit), capacity: 4)
    let fixture = try await fixture([format])
    let photo = sticker(3, frames: 9)
    var animation: CachedAnimation? = try await fixture.cache.animation(for: photo, format: format)
    #expect(animation?.isStreamed == true && animation?.frameCount == 9)
    for index in [0, 1, 2, 5, 8, 0, 3] {
      while let frame = animation?.frame(at: index), !frame.isReady, !Task.isCancelled {
        #expect(frame.image.solidNumber.map { $0 <= 300 + index } == true)
        await Task.yield()
      }
      #expect(animation?.frame(at: index).image.solidNumber == 300 + index)
    }
    #expect(fixture.cache.cachedAnimation(for: photo, format: format)?.isStreamed == true)
    #expect(fixture.source.started.value == 1)
    animation = nil
    while fixture.cache.cachedAnimation(for: photo, format: format) != nil, !Task.isCancelled {
      await Task.yield()
    }
    #expect(fixture.cache.cachedImage(for: photo, format: format)?.solidNumber == 300)
    #expect(try await fixture.cache.inspect().tables[0].entries.map(\.frameCount) == [1])
  }

  @Test("whose frame cannot be decoded while it plays is broken, and is not shared any more")
  func isBroken() async throws {
    let format = ImageFormat.sticker.keeping(.allFrames(byteLimit: 1))
    var decoder = self.decoder
    decoder.damaged = 3
    let fixture = try await fixture([format], decoder)
    let animation = try await fixture.cache.animation(for: photo, format: format)
    while !animation.isBroken, !Task.isCancelled {
      _ = animation.frame(at: 3)
      await Task.yield()
    }
    #expect(!animation.frame(at: 3).isReady)
    #expect(fixture.cache.cachedAnimation(for: photo, format: format) == nil)
  }

  // MARK: Changes

  @Test(
    "is one entry of a listing, and leaves no frame behind when it is removed",
    arguments: ["a", ImageID(String(repeating: "long", count: 1000))])
  func isRemoved(id: ImageID) async throws {
    let fixture = try await fixture()
    let cache = fixture.cache
    func listed() async throws -> [Int] {
      try await cache.inspect().tables[0].entries.map(\.frameCount)
    }
    func slots() async -> Int? { await cache.statistics().tables.first?.entryCount }
    for remove: @Sendable (Photo) async throws -> Void in [
      { try await cache.removeImage(for: $0, format: .sticker) },
      { _ in _ = try await cache.removeImages { $0.frameCount == 5 } },
      { _ in try await cache.removeAllImages() },
    ] {
      let photo = sticker(3, frames: 5, id: id)
      _ = try await cache.animation(for: photo, format: .sticker)
      await fixture.quiet()
      #expect(try await listed() == [5])
      #expect(await slots() == 5)
      try await remove(photo)
      #expect(await slots() == 0)
      #expect(cache.cachedAnimation(for: photo, format: .sticker) == nil)
    }
  }

  @Test("that is replaced is never mixed with the one before, and frees its frames")
  func isReplaced() async throws {
    let calls = Counter()
    let source = ScriptedSource { _, _, _ in
      .encoded(
        moving(calls.increment() == 1 ? 1 : 2, frames: calls.value == 1 ? 9 : 4))
    }
    let fixture = try await fixture(source: source)
    let photo = Photo("a")
    let former = try await fixture.cache.animation(for: photo, format: .sticker)
    #expect(former.numbers == numbers(1, 9))
    _ = try await fixture.image(photo, .sticker, LoadOptions(.reload))
    await fixture.quiet()
    let later = try #require(fixture.cache.cachedAnimation(for: photo, format: .sticker))
    #expect(later.numbers == numbers(2, 4))
    #expect(former.numbers == numbers(1, 9))
    #expect(await fixture.cache.statistics().tables.first?.entryCount == 4)
  }

  @Test("moves with its entity, in the place of the other one's")
  func isMoved() async throws {
    let fixture = try await fixture()
    var photo = sticker(3, frames: 4)
    photo.version = "v"
    _ = try await fixture.cache.animation(for: photo, format: .sticker)
    var other = sticker(4, frames: 6, id: "b")
    other.version = "v"
    _ = try await fixture.cache.animation(for: other, format: .sticker)
    #expect(try await fixture.cache.moveImages(from: "a", to: "b") == 1)
    #expect(fixture.cache.cachedAnimation(for: other, format: .sticker)?.numbers == numbers(3, 4))
    #expect(fixture.cache.cachedAnimation(for: photo, format: .sticker) == nil)
    #expect(await fixture.cache.statistics().tables.first?.entryCount == 4)
  }

  @Test("keeps its frames when its metadata changes, and is a miss once marked stale")
  func changes() async throws {
    let fixture = try await fixture()
    let photo = sticker(3, frames: 4)
    _ = try await fixture.cache.animation(for: photo, format: .sticker)
    let image = try await fixture.cache.setMetadata(
      Data("new".utf8), for: photo, format: .sticker)
    #expect(image?.metadata == Data("new".utf8))
    #expect(fixture.cache.cachedAnimation(for: photo, format: .sticker)?.numbers == numbers(3, 4))
    try await fixture.cache.markStale(photo)
    #expect(fixture.cache.cachedAnimation(for: photo, format: .sticker) == nil)
    #expect(
      try await fixture.cache.animation(for: photo, format: .sticker).numbers == numbers(3, 4))
  }

  @Test("that lost frames to others is a miss, and is loaded again")
  func isEvicted() async throws {
    let fixture = try await fixture()
    for round in 0..<3 {
      for number in 1...4 {
        let photo = sticker(number, frames: 6, id: ImageID(number))
        let hit = fixture.cache.cachedAnimation(for: photo, format: .sticker)
        #expect(hit == nil || hit?.numbers == numbers(number, 6), "round \(round)")
        let animation = try await fixture.cache.animation(for: photo, format: .sticker)
        #expect(animation.numbers == numbers(number, 6))
      }
    }
  }

  @Test("that is removed while its frames are drawn leaves none")
  func isRemovedMeanwhile() async throws {
    var decoder = movingDecoder()
    decoder.gate = gate
    let fixture = try await fixture([.sticker], decoder)
    _ = try await fixture.image(photo, .sticker)
    try await fixture.cache.removeImage(for: photo, format: .sticker)
    gate.open()
    await fixture.quiet()
    #expect(await fixture.cache.statistics().tables.first?.entryCount == 0)
  }

  // MARK: Damage and limits

  @Test("whose frame cannot be read is an error, though its image is there")
  func isDamaged() async throws {
    var decoder = movingDecoder()
    decoder.damaged = 3
    let fixture = try await fixture([.sticker], decoder)
    await #expect { _ = try await fixture.cache.animation(for: photo, format: .sticker) } throws: {
      if case .undecodable? = $0 as? ImageCacheError { true } else { false }
    }
    #expect(fixture.cache.cachedImage(for: photo, format: .sticker)?.solidNumber == 300)
    #expect(fixture.cache.cachedAnimation(for: photo, format: .sticker) == nil)
  }

  @Test("of too many frames is an error, and so is one that was cut, unless parts are shown")
  func isRefused() async throws {
    let fixture = try await fixture()
    let photo = sticker(3, frames: 101)
    await #expect { _ = try await fixture.cache.animation(for: photo, format: .sticker) } throws: {
      if case .imageTooLarge? = $0 as? ImageCacheError { true } else { false }
    }
    #expect(fixture.cache.cachedImage(for: photo, format: .sticker)?.solidNumber == 300)
    let cut = ScriptedSource { _, _, _ in
      .encoded(moving(4, frames: 3, .isCut))
    }
    let refusing = try await self.fixture(source: cut)
    await #expect {
      _ = try await refusing.cache.animation(for: Photo("b"), format: .sticker)
    } throws: {
      if case .undecodable(_, reason: .truncated)? = $0 as? ImageCacheError { true } else { false }
    }
    let showing = try await self.fixture(source: cut) { $0.damagedImages = .showPart }
    let animation = try await showing.cache.animation(for: Photo("b"), format: .sticker)
    #expect(animation.numbers == numbers(4, 3) && animation.image.isDamaged)
  }

  @Test("that is cut is not answered from its kept original again")
  func dropsBadOriginal() async throws {
    let source = ScriptedSource { _, call, _ in
      .encoded(moving(4, frames: 3, call == 1 ? .isCut : .nothing))
    }
    let originals = MemoryOriginals()
    let fixture = try await fixture(source: source) { $0.keeper = originals }
    let photo = Photo("a", url: "https://example.org/a")
    _ = try? await fixture.cache.animation(for: photo, format: .sticker)
    await fixture.quiet()
    #expect(
      try await fixture.cache.animation(for: photo, format: .sticker).numbers == numbers(4, 3))
    #expect(source.started.value == 2)
  }

  @Test("of any durations is stored, to the microsecond and up to an hour")
  func keepsDurations() async throws {
    var decoder = movingDecoder()
    decoder.duration = { $0 == 1 ? .seconds(86_400) : .seconds(1) / 30 }
    let fixture = try await fixture([.sticker], decoder)
    let photo = sticker(3, frames: 3)
    let animation = try await fixture.cache.animation(for: photo, format: .sticker)
    #expect(!animation.isStreamed)
    #expect(
      (0..<3).map { animation.frame(at: $0).duration }
        == [.microseconds(33_333), .seconds(3600), .microseconds(33_333)])
    #expect(fixture.cache.cachedAnimation(for: photo, format: .sticker)?.numbers == numbers(3, 3))
  }

  @Test("begins with its first frame, where the file's still is another image")
  func hidesStill() async throws {
    let source = ScriptedSource { _, _, _ in
      .encoded(moving(3, frames: 2, .hasOtherStill))
    }
    let fixture = try await fixture([.sticker, .row], source: source)
    let photo = Photo("a")
    async let still = fixture.image(photo)
    async let animation = fixture.cache.animation(for: photo, format: .sticker)
    #expect(try await still.solidNumber == 399)
    #expect(try await animation.numbers == numbers(3, 2))
  }

  @Test("stored by hand without an address is a still where its frames are not kept")
  func isStillByHand() async throws {
    let format = ImageFormat.sticker.keeping(.allFrames(byteLimit: 1))
    let fixture = try await fixture([format])
    var photo = Photo("a")
    photo.url = nil
    try await fixture.cache.store(moving(7, frames: 3), for: photo, format: format)
    #expect(try await fixture.cache.animation(for: photo, format: format).numbers == [700])
  }

  @Test("plays where its format is not stored")
  func playsUnstored() async throws {
    let format = ImageFormat(
      "phones", 32, devices: .phone, animation: .allFrames(byteLimit: 1 << 20))
    let fixture = try await fixture([format])
    let animation = try await fixture.cache.animation(for: sticker(3, frames: 3), format: format)
    #expect(animation.isStreamed && animation.frameCount == 3)
    while animation.numbers.contains(nil), !Task.isCancelled { await Task.yield() }
    #expect(animation.numbers == numbers(3, 3))
  }
}
