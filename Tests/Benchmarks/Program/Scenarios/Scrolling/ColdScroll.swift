import CommandSupport
import FastImageCache
import Foundation
import ImageViewing

/// A scroll through images of an earlier session, in places on screen.
struct ColdScroll: Scenario {
  static let id = "H1"
  static let name = "cold-scroll"
  static let summary = """
    1000 photos of 200 x 200 of an earlier session, none of them looked at in this one: twenty places \
    show the first, and then four of them the next four in each frame of 8.3 ms. The longest time for which a \
    frame, or an answer between two frames, held the main thread after the first frame, against reading and \
    checking the four photos of each frame there
    """

  private static let placeCount = 20
  private static let newCount = 4
  private static let frame = Duration.microseconds(8333)

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let gallery = try await Gallery(
      Self.name, count: max(40, min(setting.effort.imageCount, 1000)), side: 200, roles: [],
      setting: setting)
    await gallery.close()
    let (format, images) = (gallery.format, gallery.hits.images)
    let contenders = [true, false].map { usesPlaces in
      Contest.Contender {
        try await setting.withCache(Self.name, formats: [format]) { cache in
          try await Self.scroll(images, format, cache, usesPlaces: usesPlaces)
        }
      }
    }
    let results = try await Contest(contenders).run(
      roundCount: min(setting.effort.roundCount, 5))
    return Findings([
      Measure(
        Self.id, "longest block of the main thread in a cold scroll", unit: "ms",
        ours: results[0], reference: results[1], named: "reading and checking there",
        bar: .oursAtMost(1))
    ])
  }

  /// - Returns: The longest block after the first frame, in milliseconds.
  @MainActor private static func scroll(
    _ images: [BenchImage], _ format: ImageFormat, _ cache: ImageCache, usesPlaces: Bool
  ) async throws -> Double {
    let blocks = Blocks()
    let places = (0..<placeCount).map { _ in
      ImagePlace(
        deliver: { job in Task { @MainActor in blocks.measure(job) } }, show: { _ in })
    }
    func show(_ number: Int) {
      if usesPlaces {
        let place = places[number % placeCount]
        place.want(ImagePlace.Request(images[number], format: format, cache: cache))
        place.appear()
      } else {
        withExtendedLifetime(cache.cachedImage(for: images[number], format: format)) {}
      }
    }
    for number in 0..<placeCount { show(number) }
    // The moment that counts as the first frame.
    try await Task.sleep(for: .milliseconds(150))
    blocks.reset()
    for start in stride(from: placeCount, to: images.count - newCount, by: newCount) {
      blocks.measure { for number in start..<start + newCount { show(number) } }
      try await Task.sleep(for: frame)
    }
    for place in places { place.disappear() }
    return blocks.longest / .milliseconds(1)
  }

  /// How long jobs held the main thread.
  @MainActor private final class Blocks {
    private(set) var longest = Duration.zero

    func reset() { longest = .zero }

    func measure(_ job: () -> Void) {
      let start = ContinuousClock.now
      job()
      longest = max(longest, ContinuousClock.now - start)
    }
  }
}
