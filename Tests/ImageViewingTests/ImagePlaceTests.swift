import FastImageCache
import FastImageCacheTesting
import Foundation
import Testing

@testable import ImageViewing

// One at a time: they share the list of places. Other suites of a run may have all places ask again.
@MainActor @Suite("A place on screen", .serialized, .timeLimit(.minutes(10)))
struct ImagePlaceTests {
  private let source = ScriptedImageSource { .bitmap(try .sample(ImageID($0))) }
  private let cache: ImageCache
  private let screen = PlaceScreen()

  init() throws {
    cache = try ImageCache.filled(with: [Self.stored], formats: [.cell], source: source)
  }

  private static let stored = photo(0)
  private static func photo(_ number: Int) -> URL {
    URL(filePath: "/photos/\(number).jpg")
  }

  private func request(_ number: Int) -> ImagePlace.Request {
    ImagePlace.Request(Self.photo(number), format: .cell, cache: cache)
  }

  private func place(showing number: Int) -> ImagePlace {
    let place = screen.makePlace()
    place.appear()
    place.want(request(number))
    return place
  }

  private func leaseCount() async -> Int {
    await cache.statistics().tables.reduce(0) { $0 + $1.leasedCount }
  }

  @Test func aHitIsThereBeforeTheCallReturns() async {
    let place = screen.makePlace()
    place.want(request(0))
    #expect(screen.sights == [])
    place.appear()
    #expect(screen.sights == [.image(isLate: false)])
    #expect(await leaseCount() == 1)
    place.disappear()
    #expect(screen.sights == [.image(isLate: false), .nothing])
    #expect(await leaseCount() == 0)
  }

  @Test func aMissIsLoadedAndLate() async throws {
    let place = place(showing: 1)
    #expect(screen.sights == [.placeholder])
    await screen.hasShown(2)
    #expect(screen.sights == [.placeholder, .image(isLate: true)])
    withExtendedLifetime(place) {}
  }

  /// A cache whose stored image was not looked at in this session.
  private func reopened(in folder: URL) async throws -> ImageCache {
    var configuration = ImageCache.Configuration()
    configuration.directory = folder
    configuration.source = source
    let first = try await ImageCache(formats: [.cell], configuration: configuration)
    try await first.store(try Bitmap.sample(0), for: Self.stored, format: .cell)
    await first.close()
    return try await ImageCache(formats: [.cell], configuration: configuration)
  }

  @Test func anImageOfAnEarlierSessionIsInTheFirstFrame() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let cache = try await reopened(in: folder)
    ImagePlace.verification = VerificationBudget()
    let place = screen.makePlace()
    place.want(ImagePlace.Request(Self.stored, format: .cell, cache: cache))
    place.appear()
    #expect(screen.sights == [.image(isLate: false)])
    #expect(!ImagePlace.verification.isFresh)
    place.disappear()
    await cache.close()
  }

  @Test(arguments: [false, true])
  func anImageBeyondTheBudgetComesLaterAndDoesNotFadeIn(hasOptions: Bool) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let cache = try await reopened(in: folder)
    var budget = VerificationBudget()
    _ = budget.allows(at: .now - .seconds(1), isInMemory: true)
    budget.firstFrameIsShown()
    budget.note(.seconds(10))
    ImagePlace.verification = budget
    let place = screen.makePlace()
    place.want(
      ImagePlace.Request(
        Self.stored, format: .cell, cache: cache, options: hasOptions ? .previewing : nil))
    place.appear()
    // Before anything is awaited: other suites share the main thread.
    ImagePlace.verification = VerificationBudget()
    #expect(screen.sights == [.placeholder])
    await screen.hasShown(2)
    #expect(screen.sights == [.placeholder, .image(isLate: false)])
    #expect(await cache.statistics().misses == 0)
    // Verified by now.
    place.disappear()
    place.appear()
    #expect(screen.sights.last == .image(isLate: false) && screen.sights.count == 4)
    place.disappear()
    await cache.close()
  }

  @Test func whoeverLeavesGivesUpTheLoad() async throws {
    source.holdLoads()
    let place = place(showing: 1)
    try await source.hasBegunLoads()
    place.disappear()
    try await source.hasCancelledLoads()
    #expect(screen.sights == [.placeholder, .nothing])
  }

  @Test func aPlaceThatIsReleasedGivesUpItsLoad() async throws {
    source.holdLoads()
    do {
      let place = place(showing: 1)
      try await source.hasBegunLoads()
      withExtendedLifetime(place) {}
    }
    try await source.hasCancelledLoads()
  }

  @Test func aReusedPlaceShowsTheLastImageOnly() async throws {
    source.holdLoads(of: Self.photo(1))
    let place = place(showing: 1)
    try await source.hasBegunLoads(of: Self.photo(1))
    place.want(request(2))
    source.releaseLoads()
    await screen.hasShown(2)
    #expect(screen.sights == [.placeholder, .image(isLate: true)])
    #expect(screen.image == cache.cachedImage(for: Self.photo(2), format: .cell))
    withExtendedLifetime(place) {}
  }

  @Test func whatFailedIsAskedForAgainWhileItIsOnScreen() async throws {
    for number in 1...2 {
      source.setFailure(URLError(.notConnectedToInternet), for: Self.photo(number))
    }
    let place = place(showing: 1)
    await screen.hasShown(2)
    #expect(screen.sights.prefix(2) == [.placeholder, .failure])
    source.setImage(.bitmap(try .sample(1)), for: Self.photo(1))
    ImagePlace.retryFailed()
    await screen.hasShown(.image(isLate: true))
    // It shows its image now, and is not asked again.
    let shownCount = screen.sights.count
    ImagePlace.retryFailed()
    #expect(screen.sights.count == shownCount)
    // A hidden place is not asked either.
    place.want(request(2))
    await screen.hasShown(.failure)
    place.disappear()
    let hiddenCount = screen.sights.count
    ImagePlace.retryFailed()
    #expect(screen.sights.last == .nothing && screen.sights.count == hiddenCount)
  }

  @Test func whatFailedIsAskedForAgainWhenTheNetworkComesBack() async throws {
    source.setFailure(URLError(.notConnectedToInternet), for: Self.photo(1))
    let place = place(showing: 1)
    await screen.hasShown(.failure)
    // Whatever another suite of this process has reported: from here on there is a network.
    ImagePlace.networkChanged(isThere: true)
    await screen.hasShown(.failure)
    let shownCount = screen.sights.count
    ImagePlace.networkChanged(isThere: true)
    ImagePlace.networkChanged(isThere: false)
    #expect(screen.sights.count == shownCount)
    ImagePlace.networkChanged(isThere: true)
    #expect(screen.sights.last == .placeholder)
    withExtendedLifetime(place) {}
  }

  @Test func aImageThatWasExchangedIsShown() async throws {
    let place = place(showing: 0)
    let before = screen.image
    try await cache.store(try Bitmap.sample(9), for: Self.stored, format: .cell)
    ImagePlace.reload(for: Self.stored.imageID, in: cache)
    #expect(screen.sights == [.image(isLate: false), .image(isLate: false)])
    #expect(screen.image != before)
    withExtendedLifetime(place) {}
  }

  @Test func aImageThatIsStoredDuringALoadIsShown() async throws {
    source.holdLoads()
    let place = place(showing: 1)
    try await source.hasBegunLoads()
    let stored = try await cache.store(try Bitmap.sample(9), for: Self.photo(1), format: .cell)
    ImagePlace.reload(for: Self.photo(1).imageID, in: cache)
    #expect(screen.sights.last == .image(isLate: false))
    #expect(screen.image == stored)
    try await source.hasCancelledLoads()
    withExtendedLifetime(place) {}
  }

  @Test func aLoadFromBeforeARemovalBeginsAnew() async throws {
    source.holdLoads()
    let place = place(showing: 1)
    try await source.hasBegunLoads()
    try await cache.removeImage(for: Self.photo(1), format: .cell)
    ImagePlace.reload(for: Self.photo(1).imageID, in: cache)
    try await source.hasCancelledLoads()
    try await source.hasBegunLoads(2)
    #expect(screen.sights == [.placeholder])
    source.releaseLoads()
    await screen.hasShown(.image(isLate: true))
    #expect(screen.image == cache.cachedImage(for: Self.photo(1), format: .cell))
    withExtendedLifetime(place) {}
  }

  @Test func onlyPlacesOfTheEntityAndTheCacheLookAgain() async throws {
    try await cache.store(try Bitmap.sample(9), for: Self.photo(1), format: .cell)
    let other = try ImageCache.inMemory(formats: [.cell])
    let place = screen.makePlace()
    place.want(request(0))
    place.appear()
    ImagePlace.reload(for: Self.photo(1).imageID, in: cache)
    ImagePlace.reload(for: Self.stored.imageID, in: other)
    ImagePlace.reload(for: nil, in: other)
    #expect(screen.sights == [.image(isLate: false)])
    ImagePlace.reload(for: nil, in: cache)
    #expect(screen.sights == [.image(isLate: false), .image(isLate: false)])
    place.disappear()
    ImagePlace.reload(for: nil, in: cache)
    #expect(screen.sights.count == 3)
  }

  @Test func placesThatAreGoneAreForgottenAndNoOther() async throws {
    let place = place(showing: 0)
    for _ in 0..<1000 { _ = screen.makePlace() }
    #expect(ImagePlace.placeCount < 300)
    ImagePlace.reload(for: nil, in: cache)
    #expect(screen.sights == [.image(isLate: false), .image(isLate: false)])
    withExtendedLifetime(place) {}
  }

  @Test func whatWasLookedUpOrLoadedIsToldAfterItIsShown() async throws {
    let place = screen.makePlace()
    var told: [PlaceScreen.Sight?] = []
    place.onLoaded = { [screen] _ in told.append(screen.sights.last) }
    place.appear()
    place.want(request(0))
    #expect(told == [.image(isLate: false)])
    place.want(request(1))
    #expect(told.count == 1)
    await screen.hasShown(3)
    #expect(told == [.image(isLate: false), .image(isLate: true)])
    // It may make the place show something else.
    place.onLoaded = { [weak place] _ in place?.want(request(0)) }
    place.want(request(2))
    await screen.hasShown(6)
    #expect(screen.image == cache.cachedImage(for: Self.photo(0), format: .cell))
    withExtendedLifetime(place) {}
  }

  @Test func aFailureIsToldAlsoWhereAPreviewStays() async throws {
    let cache = try ImageCache.filled(with: [Self.stored], formats: [.cell, .page], source: source)
    try await cache.removeImage(for: Self.stored, format: .page)
    source.setFailure(URLError(.notConnectedToInternet), for: Self.photo(0))
    var options = LoadOptions()
    options.fallback = FallbackPolicy()
    let place = screen.makePlace()
    let (failures, failed) = AsyncStream<ImageCacheError>.makeStream()
    place.onFailed = { failed.yield($0) }
    place.appear()
    place.want(ImagePlace.Request(Self.stored, format: .page, cache: cache, options: options))
    for await _ in failures { break }
    #expect(screen.sights == [.placeholder, .preview])
    withExtendedLifetime(place) {}
  }

  @Test func aImageStaysUntilThatOfAnotherFormatOfItsFamilyComes() async throws {
    let other = ImageFormat(name: "other", size: .exact(PixelSize(width: 16, height: 16)))
    let formats: [ImageFormat] = [.cell, .page, other]
    let cache = try ImageCache.filled(with: [Self.stored], formats: formats, source: source)
    for format in [.page, other] { try await cache.removeImage(for: Self.stored, format: format) }
    source.setImage(.bitmap(try .sample(1)), for: Self.photo(0))
    let place = screen.makePlace()
    place.appear()
    place.want(ImagePlace.Request(Self.stored, format: .cell, cache: cache))
    place.want(ImagePlace.Request(Self.stored, format: .page, cache: cache))
    await screen.hasShown(2)
    #expect(screen.sights == [.image(isLate: false), .image(isLate: true)])
    // A format without a family has no siblings.
    place.want(ImagePlace.Request(Self.stored, format: other, cache: cache))
    #expect(screen.sights.last == .placeholder)
    withExtendedLifetime(place) {}
  }
}
