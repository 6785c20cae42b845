import FastImageCache
import FastImageCacheTesting
import Foundation
import Testing

@testable import ImageViewing

// One at a time: they share the list of places.
@MainActor @Suite("What an overlay says of an image", .serialized, .timeLimit(.minutes(10)))
struct OverlayTextTests {
  private let source = ScriptedImageSource { .bitmap(try .sample(ImageID($0))) }
  private let cache: ImageCache
  private let screen = PlaceScreen()
  private static let (stored, missing) = (
    URL(filePath: "/photos/0.jpg"), URL(filePath: "/photos/1.jpg")
  )

  init() throws {
    cache = try ImageCache.filled(with: [Self.stored], formats: [.cell], source: source)
  }

  private func place(_ url: URL, wantsReport: Bool = true) -> ImagePlace {
    var request = ImagePlace.Request(url, format: .cell, cache: cache)
    request.wantsReport = wantsReport
    let place = screen.makePlace()
    place.appear()
    place.want(request)
    return place
  }

  @Test("is that a hit came from the table, with its size and bytes")
  func tellsOfHit() {
    let place = place(Self.stored)
    #expect(place.overlayText == "table\ncell 8x8\n512 B")
    place.want(nil)
    #expect(place.overlayText == "no entity")
  }

  @Test("is how an image was loaded, once the load has ended, until the next one")
  func tellsOfLoad() async throws {
    source.holdLoads()
    let place = place(Self.missing)
    #expect(place.overlayText == "cell 8x8\nloading")
    source.releaseLoads()
    try await waits { place.report != nil && screen.image != nil }
    let lines = place.overlayText.split(separator: "\n")
    #expect(lines.prefix(3) == ["source", "cell 8x8", "0 B fetched, 512 B shown"])
    #expect(lines.last?.hasSuffix(" ms in all") == true)
    #expect(lines.count == 5 && lines[3].contains("draw "))
    var request = ImagePlace.Request(Self.stored, format: .cell, cache: cache)
    request.wantsReport = true
    place.want(request)
    #expect(place.report == nil && place.overlayText.hasPrefix("table"))
  }

  @Test("is nothing of a load that nobody asked about")
  func saysNothing() async throws {
    let place = place(Self.missing, wantsReport: false)
    await screen.hasShown(.image(isLate: true))
    #expect(place.report == nil)
    withExtendedLifetime(place) {}
  }
}
