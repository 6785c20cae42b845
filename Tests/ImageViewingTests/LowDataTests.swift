import FastImageCache
import FastImageCacheTesting
import Foundation
import Testing

@testable import ImageViewing

// One at a time: they share the list of places, and whether the user saves data.
@MainActor @Suite("A place while the user saves data", .serialized, .timeLimit(.minutes(10)))
struct LowDataTests {
  private struct Photo: ImageEntity {
    let imageID: ImageID
    let (full, low): (URL?, URL?)
    func sourceURL(for format: ImageFormat) -> URL? { full }
    func lowDataURL(for format: ImageFormat) -> URL? { low }
  }

  private static let full = URL(string: "https://photos.example.com/full.jpg")
  private static let low = URL(string: "https://photos.example.com/low.jpg")
  private static let photo = Photo(imageID: 1, full: full, low: low)

  private let source = ScriptedImageSource { .bitmap(try .sample(ImageID($0))) }
  private let cache: ImageCache
  private let screen = PlaceScreen()

  init() throws {
    cache = try ImageCache.filled(with: [URL](), formats: [.cell], source: source)
    ImagePlace.dataSavingChanged(to: true)
  }

  private func show(_ entity: any ImageEntity, _ options: LoadOptions? = nil) -> ImagePlace {
    let place = screen.makePlace()
    place.appear()
    place.want(ImagePlace.Request(entity, format: .cell, cache: cache, options: options))
    return place
  }

  @Test("shows the smaller image, as a placeholder of the real one, and that once data is free")
  func showsSmaller() async throws {
    defer { ImagePlace.dataSavingChanged(to: false) }
    let place = show(Self.photo)
    await screen.hasShown(.image(isLate: true))
    #expect(source.loadCount(of: Self.full) == 0 && source.loadCount(of: Self.low) == 1)
    #expect(!cache.containsImage(for: Self.photo, format: .cell))
    // Again: from the table, at once.
    place.disappear()
    place.appear()
    #expect(screen.sights.last == .image(isLate: false) && source.loadCount() == 1)
    let count = screen.sights.count
    ImagePlace.dataSavingChanged(to: false)
    await screen.hasShown(count + 1)
    #expect(screen.sights.last == .image(isLate: true))
    #expect(source.loadCount(of: Self.full) == 1)
    #expect(screen.image == cache.cachedImage(for: Self.photo, format: .cell))
    // The real one stays.
    ImagePlace.dataSavingChanged(to: true)
    place.disappear()
    place.appear()
    #expect(screen.image == cache.cachedImage(for: Self.photo, format: .cell))
    ImagePlace.dataSavingChanged(to: false)
    #expect(source.loadCount() == 2)
  }

  @Test("shows what needs no network as it is")
  func showsLocal() async throws {
    defer { ImagePlace.dataSavingChanged(to: false) }
    let file = URL(filePath: "/photos/1.jpg")
    let place = show(Photo(imageID: 2, full: file, low: Self.low))
    await screen.hasShown(.image(isLate: true))
    #expect(source.loadCount(of: file) == 1 && source.loadCount() == 1)
    withExtendedLifetime(place) {}
  }

  @Test(
    "asks for the image of an entity that has no smaller one, or where the options reach no network"
  )
  func asksForReal() async throws {
    defer { ImagePlace.dataSavingChanged(to: false) }
    let place = show(Photo(imageID: 3, full: Self.full, low: nil))
    await screen.hasShown(.image(isLate: true))
    #expect(source.loadCount(of: Self.full) == 1 && source.loadCount() == 1)
    var options = LoadOptions()
    options.scope = .cache
    let other = show(Self.photo, options)
    await screen.hasShown(.failure)
    #expect(source.loadCount() == 1)
    withExtendedLifetime((place, other)) {}
  }

  @Test(
    "fails with the smaller image, and asks for the real one when data is free and it is told to")
  func fails() async throws {
    defer { ImagePlace.dataSavingChanged(to: false) }
    struct Offline: Error {}
    source.setFailure(Offline(), for: try #require(Self.low))
    let place = show(Self.photo)
    await screen.hasShown(.failure)
    ImagePlace.dataSavingChanged(to: false)
    ImagePlace.retryFailed()
    await screen.hasShown(.image(isLate: true))
    #expect(source.loadCount(of: Self.full) == 1)
    withExtendedLifetime(place) {}
  }

  @Test("asks for the real image while data is free")
  func asksForRealAgain() async throws {
    ImagePlace.dataSavingChanged(to: false)
    let place = show(Self.photo)
    await screen.hasShown(.image(isLate: true))
    #expect(source.loadCount(of: Self.full) == 1 && source.loadCount() == 1)
    withExtendedLifetime(place) {}
  }
}
