import FastImageCache
import FastImageCacheTesting
import Foundation
import Synchronization
import Testing

@testable import ImageViewing

// One at a time: they share the list of places.
@MainActor @Suite("A place that waits for an image", .serialized, .timeLimit(.minutes(10)))
struct PlaceLoadingTests {
  private let script = ScriptedImageSource { .bitmap(try .sample(ImageID($0))) }
  private let asked = AskedRequests()
  private let cache: ImageCache
  private let screen = PlaceScreen()
  private static let photo = URL(filePath: "/photos/1.jpg")
  init() throws {
    cache = try ImageCache.filled(
      with: [URL](), formats: [.cell],
      source: ClosureImageSource { [script, asked] request in
        asked.note(request)
        for count in [25, 25, 50] {
          request.report(ImageSourceProgress(receivedByteCount: count, expectedByteCount: 100))
        }
        return try await script.response(to: request)
      })
  }

  private func request() -> ImagePlace.Request {
    ImagePlace.Request(Self.photo, format: .cell, cache: cache)
  }

  private func placeThatLoads(_ behavior: DisappearBehavior) async throws -> ImagePlace {
    script.holdLoads()
    let place = screen.makePlace()
    place.whenLeaving = behavior
    place.appear()
    place.want(request())
    try await script.hasBegunLoads()
    return place
  }

  @Test("has its image stored all the same if it leaves and the load is to go on")
  func keepsLoading() async throws {
    let place = try await placeThatLoads(.keepLoading)
    place.disappear()
    #expect(screen.sights == [.placeholder, .nothing])
    #expect(asked.last?.priority == .high)
    script.releaseLoads()
    try await waits { cache.containsImage(for: Self.photo, format: .cell) }
    #expect(script.cancellationCount() == 0 && screen.sights.count == 2)
    place.appear()
    #expect(screen.sights.last == .image(isLate: false))
    #expect(script.loadCount() == 1)
  }

  @Test("has its image stored at low priority if it leaves and wants that")
  func lowersPriority() async throws {
    let place = try await placeThatLoads(.lowerPriority)
    #expect(asked.last?.priority == .high)
    place.disappear()
    try await waits { asked.last?.priority == .low }
    place.appear()
    // The new request joins the load, and is as urgent as any.
    try await waits { asked.last?.priority == .high }
    script.releaseLoads()
    await screen.hasShown(.image(isLate: true))
    #expect(script.loadCount() == 1 && script.cancellationCount() == 0)
    withExtendedLifetime(place) {}
  }

  @Test("leaves the priority to a request that has one")
  func keepsPriority() async throws {
    script.holdLoads()
    var options = LoadOptions()
    options.priority = RequestPriority(.medium)
    let place = screen.makePlace()
    place.whenLeaving = .lowerPriority
    place.appear()
    place.want(
      ImagePlace.Request(Self.photo, format: .cell, cache: cache, options: options))
    try await script.hasBegunLoads()
    place.disappear()
    #expect(asked.last?.priority == .medium && options.priority?.value == .medium)
    script.releaseLoads()
    try await waits { cache.containsImage(for: Self.photo, format: .cell) }
  }

  @Test("has its image stored if it is released or wants nothing more, too")
  func isReleased() async throws {
    do {
      let place = try await placeThatLoads(.keepLoading)
      withExtendedLifetime(place) {}
    }
    let place = screen.makePlace()
    place.whenLeaving = .keepLoading
    place.appear()
    let other = URL(filePath: "/photos/2.jpg")
    place.want(ImagePlace.Request(other, format: .cell, cache: cache))
    try await script.hasBegunLoads(of: other)
    place.want(nil)
    script.releaseLoads()
    for photo in [Self.photo, other] {
      try await waits { cache.containsImage(for: photo, format: .cell) }
    }
    #expect(script.cancellationCount() == 0)
  }

  @Test("gives up the load if it is to show another image, whatever it does when it leaves")
  func isReused() async throws {
    let place = try await placeThatLoads(.keepLoading)
    place.want(
      ImagePlace.Request(URL(filePath: "/photos/2.jpg"), format: .cell, cache: cache))
    try await script.hasCancelledLoads(of: Self.photo)
    place.whenLeaving = .cancel
    place.disappear()
  }

  @Test("tells which part of the bytes has arrived, each once, until the image is there")
  func tellsFraction() async throws {
    script.holdLoads()
    var fractions: [Double?] = []
    let place = screen.makePlace()
    place.fractionChanged = { fractions.append(place.fraction) }
    place.appear()
    var request = request()
    request.tellsFraction = true
    place.want(request)
    #expect(place.fraction == nil)
    try await waits { place.fraction == 0.5 }
    #expect(fractions.last == 0.5 && Set(fractions).count == fractions.count)
    script.releaseLoads()
    await screen.hasShown(.image(isLate: true))
    #expect(screen.sights == [.placeholder, .image(isLate: true)])
    place.fractionChanged = {}
  }
}

/// The requests that a source was asked.
private final class AskedRequests: Sendable {
  private let requests = Mutex<[ImageSourceRequest]>([])
  var last: ImageSourceRequest? { requests.withLock { $0.last } }
  func note(_ request: ImageSourceRequest) { requests.withLock { $0.append(request) } }
}

/// Lets other tasks go on until something is true.
@MainActor func waits(until condition: () -> Bool) async throws {
  while !condition() {
    try Task.checkCancellation()
    await Task.yield()
  }
}
