import FastImageCache
import FastImageCacheTesting
import Foundation
import Locking
import TestSupport
import Testing

@testable import ImageViewing

// One at a time: they share the setting of the system.
@MainActor @Suite("A place that plays", .serialized, .timeLimit(.minutes(10)))
struct PlayingTests {
  private let screens = [Screen(), Screen()]
  private var screen: Screen { screens[0] }

  private nonisolated static func photo(_ number: Int) -> URL {
    URL(filePath: "/stickers/\(number)")
  }

  private nonisolated static func frame(_ number: Int, _ index: Int) throws -> Bitmap {
    try Bitmap(size: PixelSize(width: 8, height: 8), format: .bgrx32) { bytes, _ in
      for offset in stride(from: 0, to: bytes.count, by: 4) {
        bytes.storeBytes(
          of: UInt32(0xFF4D_0000 | number << 8 | index).littleEndian, toByteOffset: offset,
          as: UInt32.self)
      }
    }
  }

  private func source(
    loops: Int = 0, _ milliseconds: [Int] = [20, 20, 20, 20]
  ) -> ScriptedImageSource {
    ScriptedImageSource { url in
      .encoded(
        FramesDecoder.bytes(
          Int(url.lastPathComponent) ?? 0, loops: loops, milliseconds: milliseconds))
    }
  }

  private func configuration(
    _ source: any ImageSource, _ gate: Gate? = nil
  ) -> ImageCache.Configuration {
    var configuration = ImageCache.Configuration()
    configuration.source = source
    configuration.decoders = [
      FramesDecoder(size: PixelSize(width: 8, height: 8), gate: gate, draw: Self.frame)
    ]
    return configuration
  }

  /// A cache that has the animations 0 and 1.
  private func filled(loops: Int = 0) async throws -> ImageCache {
    let cache = try ImageCache.inMemory(
      formats: [.sticker, .still], configuration: configuration(source(loops: loops)))
    for number in 0...1 {
      _ = try await cache.animation(for: Self.photo(number), format: .sticker)
      _ = try await cache.image(for: Self.photo(number), format: .still)
    }
    await isQuiet(cache)
    return cache
  }

  private func request(
    _ number: Int, _ cache: ImageCache, format: ImageFormat = .sticker
  ) -> ImagePlace.Request {
    ImagePlace.Request(Self.photo(number), format: format, cache: cache)
  }

  private func leaseCount(_ cache: ImageCache) async -> Int {
    await cache.statistics().tables.reduce(0) { $0 + $1.leasedCount }
  }

  private func isQuiet(_ cache: ImageCache) async {
    while await leaseCount(cache) > 0, !Task.isCancelled { await Task.yield() }
  }

  /// A place on one of the screens that shows an animation.
  private func shown(
    _ number: Int, _ cache: ImageCache, format: ImageFormat = .sticker, on screen: Screen? = nil
  ) -> ImagePlace {
    let place = (screen ?? self.screen).makePlace()
    place.want(request(number, cache, format: format))
    place.appear()
    return place
  }

  /// Ticks 20 ms apart.
  private func tick(_ place: ImagePlace, _ ticks: ClosedRange<Int>) -> [Int] {
    ticks.map { tick in
      _ = place.tick(at: .milliseconds(20 * tick))
      return screen.frame ?? -1
    }
  }

  @Test("has the first frame of a hit at once, and the others by the window's clock")
  func playsHit() async throws {
    let cache = try await filled()
    let place = shown(0, cache)
    #expect(screen.frame == 0 && screen.ticking == [true])
    #expect(tick(place, 0...5) == [0, 1, 2, 3, 0, 1])
    #expect(place.tick(at: .milliseconds(101)) == .milliseconds(15))
    place.disappear()
    #expect(screen.ticking == [true, false] && screen.frame == nil)
    #expect(place.tick(at: .milliseconds(900)) == nil)
    #expect(await leaseCount(cache) == 0)
  }

  @Test("costs nothing where the format keeps first frames only")
  func playsNoStill() async throws {
    let cache = try await filled()
    let place = screen.makePlace()
    place.want(request(0, cache, format: .still))
    place.appear()
    place.disappear()
    #expect(screen.frames == [0] && screen.ticking == [] && place.existingPlayer == nil)
  }

  @Test("shows the same frame as another that began before, and begins anew with the first one")
  func shares() async throws {
    let cache = try await filled()
    let first = shown(0, cache)
    #expect(tick(first, 0...2) == [0, 1, 2])
    let second = shown(0, cache, on: screens[1])
    #expect(screens[1].frame == 2)
    for tick in 3...9 {
      // Whoever is asked first.
      for place in tick % 2 == 0 ? [first, second] : [second, first] {
        _ = place.tick(at: .milliseconds(20 * tick))
      }
      #expect(screens.map(\.frame) == [tick % 4, tick % 4])
    }
    // Another animation has a time of its own.
    second.want(request(1, cache))
    #expect(screens[1].frame == 0 && screen.frame == 1)
    first.disappear()
    second.disappear()
    first.appear()
    #expect(screen.frame == 0)
  }

  @Test("shows the first frame of a miss before the others are decoded")
  func playsMiss() async throws {
    let gate = Gate()
    let cache = try ImageCache.inMemory(
      formats: [.sticker], configuration: configuration(source(), gate))
    let place = shown(5, cache)
    await screen.hasShown { screen.frame == 0 }
    #expect(screen.ticking == [])
    gate.open()
    await screen.hasShown { screen.ticking == [true] }
    #expect(tick(place, 0...2) == [0, 1, 2])
    #expect(screen.isLate == [true, false, false])
  }

  @Test("asks for frames under its request's conditions")
  func keepsConditions() async throws {
    let accounts = Lock<[AccountID?]>([])
    let source = ClosureImageSource { request in
      accounts.withLock { $0.append(request.account) }
      return .encoded(FramesDecoder.bytes(5, milliseconds: [20, 20]))
    }
    let cache = try ImageCache.inMemory(
      formats: [.sticker], configuration: configuration(source))
    var options = LoadOptions()
    options.account = AccountID("Ada")
    // The frames come by a load of their own.
    options.storage = .none
    let place = screen.makePlace()
    place.want(
      ImagePlace.Request(Self.photo(5), format: .sticker, cache: cache, options: options))
    place.appear()
    await screen.hasShown { screen.ticking == [true] }
    #expect(accounts.withLock { $0 }.allSatisfy { $0 == AccountID("Ada") })
  }

  @Test("that goes while frames are decoded shows none")
  func goes() async throws {
    let gate = Gate()
    let cache = try ImageCache.inMemory(
      formats: [.sticker], configuration: configuration(source(), gate))
    var place: ImagePlace? = shown(5, cache)
    await screen.hasShown { screen.frame == 0 }
    place?.disappear()
    place = nil
    gate.open()
    await isQuiet(cache)
    #expect(screen.ticking == [] && screen.frame == nil)
  }

  @Test("shows the first frame only while motion is reduced, or it is told to")
  func isStill() async throws {
    let cache = try await filled()
    let place = shown(0, cache)
    for stop: (Bool) -> Void in [
      { ImagePlace.motionChanged(isReduced: $0) }, { place.isAnimated = !$0 },
    ] {
      #expect(tick(place, 0...1) == [0, 1])
      stop(true)
      #expect(screen.frame == 0 && screen.ticking.last == false)
      #expect(place.tick(at: .seconds(9)) == nil)
      // Nothing begins either.
      place.want(request(1, cache))
      #expect(screen.frame == 0 && screen.ticking.last == false)
      place.want(request(0, cache))
      stop(false)
      #expect(screen.ticking.last == true && screen.frame == 0)
    }
    #expect(place.isAnimated)
  }

  @Test("pauses, goes on and is sought alone")
  func isControlled() async throws {
    let cache = try await filled()
    let place = shown(0, cache)
    let other = shown(0, cache, on: screens[1])
    #expect(tick(place, 0...1) == [0, 1])
    place.pause()
    #expect(tick(place, 2...3) == [1, 1] && screen.ticking.last == false)
    for time in [40, 60] { _ = other.tick(at: .milliseconds(time)) }
    #expect(screens[1].frame == 3)
    place.seek(to: .milliseconds(45))
    #expect(screen.frame == 2)
    #expect(tick(place, 4...5) == [2, 2])
    place.resume()
    #expect(screen.ticking.last == true)
    #expect(tick(place, 10...12) == [2, 3, 0])
    #expect(screens[1].frame == 3)
    // What comes while a place is paused stays at its first frame.
    place.pause()
    place.want(request(1, cache))
    #expect(tick(place, 13...14) == [0, 0])
    place.resume()
    #expect(tick(place, 15...16) == [0, 1])
  }

  @Test("needs no tick after the last loop")
  func ends() async throws {
    let cache = try await filled(loops: 1)
    let place = shown(0, cache)
    #expect(tick(place, 0...3) == [0, 1, 2, 3])
    #expect(screen.ticking == [true, false])
  }

  @Test("shows what was stored instead when it is told to look again")
  func looksAgain() async throws {
    let cache = try await filled()
    let place = shown(0, cache)
    #expect(tick(place, 0...1) == [0, 1])
    ImagePlace.reload(for: Self.photo(0).imageID, in: cache)
    #expect(screen.frame == 1)
    #expect(tick(place, 2...2) == [2])
    try await cache.store(Self.frame(9, 0), for: Self.photo(0), format: .sticker)
    ImagePlace.reload(for: Self.photo(0).imageID, in: cache)
    #expect(screen.number == 9)
    #expect(tick(place, 3...6) == [0, 0, 0, 0] && screen.number == 9)
  }

  @Test("asks again for frames that failed")
  func retries() async throws {
    let source = source()
    let isDamaged = Lock(true)
    let failures = Counter()
    var configuration = configuration(source)
    configuration.decoders = [
      FramesDecoder(size: PixelSize(width: 8, height: 8)) { number, index in
        if index == 2, isDamaged.withLock({ $0 }) {
          failures.increment()
          throw URLError(.cannotDecodeRawData)
        }
        return try Self.frame(number, index)
      }
    ]
    let cache = try ImageCache.inMemory(formats: [.sticker], configuration: configuration)
    let place = shown(5, cache)
    await failures.reaches(1)
    isDamaged.withLock { $0 = false }
    while screen.ticking.isEmpty, !Task.isCancelled {
      ImagePlace.retryFailed()
      await Task.yield()
    }
    #expect(tick(place, 0...2) == [0, 1, 2])
  }

  @Test("whose frame is damaged on disk loads the animation anew")
  func mends() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    var configuration = configuration(source())
    configuration.directory = folder
    let former = try ImageCache.open(formats: [.sticker], configuration: configuration)
    _ = try await former.animation(for: Self.photo(7), format: .sticker)
    await former.close()
    try damage(frame: 2, of: 7, in: folder)

    let source = source()
    configuration.source = source
    let cache = try ImageCache.open(formats: [.sticker], configuration: configuration)
    ImagePlace.verification = VerificationBudget()
    let place = shown(7, cache)
    #expect(screen.frame == 0)
    var time = 0
    while source.loadCount() == 0, !Task.isCancelled {
      _ = place.tick(at: .milliseconds(time))
      #expect((0...1).contains(screen.frame ?? -1))
      time += 20
      await Task.yield()
    }
    await screen.hasShown { screen.ticking.last == true }
    var seen: Set<Int> = []
    for tick in 0..<8 {
      _ = place.tick(at: .milliseconds(time + 20 * tick))
      seen.insert(screen.frame ?? -1)
    }
    #expect(seen == [0, 1, 2, 3])
    place.disappear()
    await cache.close()
  }

  @Test("whose frame cannot be decoded while it plays stays at the one before, and loads nothing")
  func staysAtDamage() async throws {
    let source = source()
    var configuration = configuration(source)
    var decoder = FramesDecoder(size: PixelSize(width: 8, height: 8), draw: Self.frame)
    decoder.damaged = 2
    configuration.decoders = [decoder]
    let format = ImageFormat(
      name: "streamed", size: .exact(PixelSize(width: 8, height: 8)), pixelFormat: .bgrx32,
      animation: .allFrames(byteLimit: 1))
    let cache = try ImageCache.inMemory(formats: [format], configuration: configuration)
    let animation = try await cache.animation(for: Self.photo(3), format: format)
    let place = shown(3, cache, format: format)
    var time = 0
    while !animation.isBroken || screen.ticking.last == true, !Task.isCancelled {
      _ = place.tick(at: .milliseconds(time))
      #expect((0...1).contains(screen.frame ?? -1))
      time += 20
      await Task.yield()
    }
    _ = place.tick(at: .milliseconds(time))
    #expect((0...1).contains(screen.frame ?? -1))
    #expect(source.loadCount() == 1)
    place.disappear()
    await cache.close()
  }

  private func damage(frame: Int, of number: Int, in folder: URL) throws {
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    let file = folder.appending(path: try #require(names.first { $0.hasSuffix(".imagetable") }))
    var bytes = try Data(contentsOf: file)
    let row = Data([UInt8(frame), UInt8(number), 0x4D, 0xFF, UInt8(frame), UInt8(number)])
    let place = try #require(bytes.range(of: row))
    bytes[place.lowerBound + 2] ^= 1
    try bytes.write(to: file)
  }

  // MARK: Windows

  @Test("is asked by its window's clock, which runs only while something plays")
  func isAskedByWindow() async throws {
    let cache = try await filled()
    var runs: [Bool] = []
    let players = WindowPlayers { runs.append($0) }
    let places = screens.map { $0.makePlace() }
    for (place, screen) in zip(places, screens) {
      screen.isTicking = { $0 ? players.insert(place) : players.remove(place) }
      place.want(request(0, cache))
    }
    #expect(runs == [])
    places[0].appear()
    for time in [0, 20, 40] { players.tick(at: .milliseconds(time)) }
    #expect(screen.frame == 2 && runs == [true])
    // Not before the next one's turn, but for a place that has come.
    #expect(players.tick(at: .milliseconds(45)) == .milliseconds(11))
    places[1].appear()
    places[1].seek(to: .zero)
    #expect(screens[1].frame == 0)
    #expect(players.tick(at: .milliseconds(46)) == .milliseconds(10))
    players.tick(at: .milliseconds(66))
    #expect(screens.map(\.frame) == [3, 1])
    places[0].disappear()
    #expect(runs == [true])
    places[1].disappear()
    #expect(runs == [true, false])
  }

  @Test("that is gone is asked no more, and stops its window's clock")
  func isForgotten() async throws {
    let cache = try await filled()
    var runs: [Bool] = []
    let players = WindowPlayers { runs.append($0) }
    do {
      let place = screen.makePlace()
      screen.isTicking = { [weak place] in if let place, $0 { players.insert(place) } }
      place.want(request(0, cache))
      place.appear()
      players.tick(at: .zero)
    }
    players.tick(at: .seconds(1))
    #expect(runs == [true, false])
  }
}

/// The frames that a place showed, and what it said of ticks.
@MainActor private final class Screen {
  private(set) var frames: [Int] = []
  private(set) var isLate: [Bool] = []
  private(set) var frame: Int?
  private(set) var number: Int?
  private(set) var ticking: [Bool] = []
  var isTicking: (Bool) -> Void = { _ in }
  private let (late, changed) = AsyncStream<Void>.makeStream()

  func makePlace() -> ImagePlace {
    let place = ImagePlace(
      deliver: { job in Task { @MainActor in job() } }, show: { [weak self] in self?.show($0) })
    place.setTicking = { [weak self] isTicking in
      guard let self else { return }
      if ticking.last != isTicking { ticking.append(isTicking) }
      self.isTicking(isTicking)
      changed.yield()
    }
    return place
  }

  /// Waits until something is so.
  func hasShown(_ isSo: () -> Bool) async {
    if isSo() { return }
    for await _ in late where isSo() { return }
  }

  private func show(_ sight: ImagePlace.Sight) {
    defer { changed.yield() }
    (frame, number) = (nil, nil)
    guard case .image(let image, let isLate) = sight else { return }
    let pixel = image.withPixels { $0.unsafeLoad(as: UInt32.self).littleEndian }
    (frame, number) = (Int(pixel & 0xFF), Int(pixel >> 8 & 0xFF))
    frames.append(Int(pixel & 0xFF))
    self.isLate.append(isLate)
  }
}

nonisolated extension ImageFormat {
  fileprivate static let sticker = ImageFormat(
    name: "sticker", size: .exact(PixelSize(width: 8, height: 8)), pixelFormat: .bgrx32,
    capacity: 16, animation: .allFrames(byteLimit: 1 << 20))
  fileprivate static let still = ImageFormat(
    name: "still", size: .exact(PixelSize(width: 8, height: 8)), pixelFormat: .bgrx32, capacity: 16)
}
