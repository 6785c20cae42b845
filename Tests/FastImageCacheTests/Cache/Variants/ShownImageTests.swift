import FastImageCache
import Foundation
import TestSupport
import Testing

/// The worth of what a stream shows: no step may be worth less than one before it.
private func rank(of step: ImageProgress, for format: ImageFormat) -> Int? {
  switch step {
  case .preview(_, let preview):
    switch preview.kind {
    case .variant(format): 4
    case .variant: 3
    case .stale: 2
    case .placeholder: 1
    default: nil
    }
  case .finished: 5
  default: nil
  }
}

@Suite("A stream that shows variants", .timeLimit(.minutes(10)))
struct ShownImageTests {
  private let small = ImageFormat.square(8)
  private let large = ImageFormat.square(16)

  /// The worth of each step of a stream.
  private func ranks(
    of photo: Photo, _ format: ImageFormat, _ options: LoadOptions, in fixture: Fixture,
    look: () -> Void = {}
  ) async -> [Int] {
    var ranks: [Int] = []
    for await step in fixture.cache.progress(for: photo, format: format, options: options) {
      if let rank = rank(of: step, for: format) { ranks.append(rank) }
      look()
    }
    return ranks
  }

  private func photo(_ id: ImageID = "a", url: String = "test:/1") -> Photo {
    var photo = Photo(id, version: "1", url: url)
    photo.wantsFamily = false
    return photo
  }

  private func options(_ policy: LoadOptions.CachePolicy = .useCache) -> LoadOptions {
    LoadOptions(policy) { $0.fallback = FallbackPolicy() }
  }

  @Test("begins with the closest image, before its load has begun, and ends with the wanted one")
  func showsFirst() async throws {
    let (fixture, gate) = try await Fixture.gated([small, large])
    try await fixture.cache.store(solid(9), for: photo(), format: small)
    let stream = fixture.cache.progress(for: photo(), format: large, options: options())
    var shown: [(number: Int?, rank: Int)] = []
    for await step in stream {
      guard let rank = rank(of: step, for: large) else { continue }
      switch step {
      case .preview(let image, _), .finished(let image): shown.append((image.solidNumber, rank))
      default: break
      }
      gate.open()
    }
    #expect(shown.map(\.rank) == [3, 5] && shown.map(\.number) == [9, 1])
  }

  @Test("shows a placeholder until the real image is there, which is loaded all the same")
  func showsPlaceholder() async throws {
    // The placeholder is shown before the image is loaded, or a slow reader would not see it.
    let gate = CancellableGate()
    let source = ScriptedSource { url, _, _ in
      if url.lastPathComponent == "1" { try await gate.pass() }
      return .bitmap(try solid(Int(url.lastPathComponent) ?? 0))
    }
    let fixture = try await Fixture([large], source: source)
    var conditions = options()
    conditions.isPlaceholder = true
    let thumbnail = photo(url: "test:/7")
    _ = try await fixture.image(thumbnail, large, conditions)
    await fixture.quiet()
    var shown: [CachedImage] = []
    for try await image in fixture.cache.updates(for: photo(), format: large) {
      shown.append(image)
      gate.open()
    }
    #expect(shown.map(\.solidNumber) == [7, 1])
  }

  @Test("shows the wanted image itself while its source is asked about it")
  func showsItself() async throws {
    let (fixture, gate) = try await Fixture.gated([large])
    try await fixture.cache.store(solid(9), for: photo(), format: large)
    let ranks = await ranks(of: photo(), large, options(.revalidate), in: fixture) { gate.open() }
    #expect(ranks == [4, 5])
  }

  @Test("shows nothing by default, nor where nothing is there")
  func showsNothing() async throws {
    let fixture = try await Fixture([small, large])
    try await fixture.cache.store(solid(9), for: photo(), format: small)
    try await fixture.cache.store(solid(9), for: photo("c"), format: large)
    var asking = LoadOptions()
    asking.cachePolicy = .revalidate
    for (photo, options) in [
      (photo(), LoadOptions()), (photo("b"), options()), (photo("c"), asking),
    ] {
      #expect(await ranks(of: photo, large, options, in: fixture) == [5])
    }
  }

  @Test("never shows less than before, whatever happened to the images", arguments: 1...4)
  func neverFalls(seed: UInt64) async throws {
    var random = SplitMix64(state: seed)
    let fixture = try await Fixture([small, large])
    for step in 0..<150 {
      let photo = photo(ImageID(Int.random(in: 0..<3, using: &random)))
      let format = [small, large][Int.random(in: 0..<2, using: &random)]
      let before = fixture.cache.bestCachedImage(for: photo, format: format)
      var change = options()
      switch Int.random(in: 0..<8, using: &random) {
      case 0: try await fixture.cache.removeImage(for: photo, format: format)
      case 1..<3:
        try await fixture.cache.markStale(photo)
        // What was shown is shown still.
        let after = fixture.cache.bestCachedImage(for: photo, format: format)
        #expect((after == nil) == (before == nil), "step \(step)")
      case 3: try await fixture.cache.refresh(photo)
      case 4..<6: change.isPlaceholder = true
      default: break
      }
      let ranks = await ranks(of: photo, format, change, in: fixture)
      await fixture.quiet()
      #expect(ranks == ranks.sorted() && ranks.last == 5, "step \(step)")
      let after = fixture.cache.bestCachedImage(for: photo, format: format)
      // A placeholder hides no image that was there.
      if change.isPlaceholder, let before, before.preview.kind != .placeholder {
        #expect(after.map { $0.preview.kind != .placeholder } == true, "step \(step)")
      }
      if !change.isPlaceholder { #expect(after?.preview.isSettled == true, "step \(step)") }
    }
  }
}
