import TestSupport
import Testing

@testable import FastImageCache

@Suite("Previews of several kinds", .timeLimit(.minutes(10)))
struct PreviewKindTests {
  private func options(_ kinds: PreviewPolicy.Kinds, limit: Int = 3) -> LoadOptions {
    LoadOptions {
      $0.previews = PreviewPolicy(kinds: kinds)
      $0.previews.limit = limit
    }
  }

  private let all: PreviewPolicy.Kinds = [.frames, .embedded, .rows]

  /// Lets the first stages arrive, one after the other.
  ///
  /// - Parameter reader: One that is shown all previews. It reads each, since an unread one gives way to the next.
  private func step(_ sketch: SketchFixture, stages: Int, _ reader: Following? = nil) async {
    for _ in 0..<stages {
      await sketch.process(100)
      await reader?.previewed.reaches(sketch.decoder.ended.value)
    }
  }

  private func follow(
    _ kinds: PreviewPolicy.Kinds, _ stages: [PreviewStage.Kind], limit: Int = 3, count: Int? = nil
  ) async throws -> (text: String, begun: Int) {
    let sketch = try await SketchFixture(decoder: SketchDecoder(kinds: stages))
    let text = await sketch.told(options(kinds, limit: limit)) { following in
      await step(sketch, stages: count ?? stages.count, following)
    }
    return (text, sketch.decoder.begun.value)
  }

  @Test("are of those kinds only that somebody asks for")
  func wanted() async throws {
    let stages: [PreviewStage.Kind] = [.rows, .embedded, .frame]
    #expect(try await follow(.frames, stages) == ("3 999", 1))
    #expect(try await follow(.embedded, stages) == ("2 embedded 999", 1))
    #expect(try await follow(.rows, stages) == ("1 rows 0.1 999", 1))
    #expect(try await follow([], stages) == ("999", 0))
    #expect(try await follow(all, stages) == ("1 rows 0.1 2 embedded 3 999", 3))
    #expect(PreviewPolicy().kinds == .frames)
    #expect(LoadOptions.previewing.previews.kinds == .frames)
  }

  @Test("of a kind that nobody asks for have no header read, and are made once somebody does")
  func unwanted() async throws {
    let sketch = try await SketchFixture(decoder: SketchDecoder(kinds: [.embedded, .rows, .rows]))
    let frames = await sketch.follow(options(.frames))
    await step(sketch, stages: 2)
    #expect(sketch.decoder.headers.value == 0)
    let rows = await sketch.follow(options(.rows))
    await sketch.step(1)
    await rows.previewed.reaches(1)
    #expect(sketch.decoder.headers.value == 1)
    await sketch.finish([frames, rows])
    #expect(frames.text == "999" && rows.text == "2 rows 0.2 999")
  }

  @Test("are never followed by one that shows less")
  func noLess() async throws {
    #expect(try await follow(all, [.frame, .embedded, .rows, .frame]) == ("1 4 999", 2))
    #expect(
      try await follow(all, [.embedded, .rows, .frame]) == ("1 embedded 3 999", 2))
  }

  @Test("are none of top rows where a placeholder is shown")
  func afterPlaceholder() async throws {
    let stages: [PreviewStage.Kind] = [.rows, .embedded, .frame]
    let sketch = try await SketchFixture(decoder: SketchDecoder(kinds: stages))
    var (sample, placeholder) = (Photo("1"), LoadOptions())
    sample.ownImage = { _ in .bitmap(try solid(5)) }
    placeholder.isPlaceholder = true
    _ = try await sketch.cache.image(for: sample, format: .row, options: placeholder)
    await sketch.fixture.quiet()
    var options = options(all)
    options.fallback = FallbackPolicy()
    let text = await sketch.told(options) { _ in
      await step(sketch, stages: 3)
    }
    #expect(text == "stored 2 embedded 3 999")
  }

  @Test("are none where a sharp image is shown, stale or of a sibling", arguments: [false, true])
  func afterSharp(isStale: Bool) async throws {
    let formats = [ImageFormat.square(8), .square(16)]
    let sketch = try await SketchFixture(formats)
    var stored = Photo("1")
    stored.wantsFamily = false
    stored.ownImage = { _ in .bitmap(try solid(5)) }
    _ = try await sketch.cache.image(for: stored, format: formats[isStale ? 0 : 1])
    await sketch.fixture.quiet()
    if isStale { try await sketch.cache.markStale(stored) }
    var options = options(all)
    options.fallback = FallbackPolicy()
    let following = await sketch.follow(options, format: formats[0])
    await step(sketch, stages: 2)
    await sketch.finish([following])
    #expect(following.text == "stored 999" && sketch.decoder.begun.value == 0)
  }

  @Test("are those that show most, where several are there at once")
  func atOnce() async throws {
    let sketch = try await SketchFixture(decoder: SketchDecoder(kinds: [.rows, .frame, .embedded]))
    let text = await sketch.told(options(all)) { _ in
      await sketch.process(300)
      await sketch.process(1)
    }
    #expect(text == "2 999" && sketch.decoder.begun.value == 1)
  }

  @Test("are those that each listener of a load asked for, and the load's latest")
  func listeners() async throws {
    let stages: [PreviewStage.Kind] = [.embedded, .rows, .frame]
    let sketch = try await SketchFixture(decoder: SketchDecoder(kinds: stages))
    let kinds: [PreviewPolicy.Kinds] = [.frames, [.embedded, .rows], .rows]
    let following = kinds.map { Following(sketch.cache, Photo("1"), .row, options($0)) }
    await sketch.fixture.subscribers(3)
    await step(sketch, stages: 3)
    // The frame is the latest, which is shown to no one who did not ask for frames.
    let late = Following(sketch.cache, Photo("1"), .row, options([.embedded, .rows]))
    let later = Following(sketch.cache, Photo("1"), .row, options(all))
    await later.previewed.reaches(1)
    await sketch.fixture.subscribers(5)
    await sketch.finish(following + [late, later])
    #expect(following.map(\.text) == ["3 999", "1 embedded 999", "999"])
    #expect(late.text == "999" && later.text == "3 999")
  }

  @Test("are no more for a listener than it asked for, whatever others are shown")
  func ownLimits() async throws {
    let sketch = try await SketchFixture([.row, .large])
    let few = await sketch.follow(options(.frames, limit: 1))
    let many = await sketch.follow(options(.frames))
    await step(sketch, stages: 1, many)
    await few.previewed.reaches(1)
    // One was drawn of the load, if of another format.
    let late = await sketch.follow(options(.frames, limit: 1), format: .large)
    await step(sketch, stages: 2, many)
    await sketch.finish([few, many, late])
    #expect([few, many, late].map(\.text) == ["1 999", "1 2 3 999", "999"])
  }

  @Test("of one format go on where another format's is settled")
  func settledApart() async throws {
    let sketch = try await SketchFixture([.row, .large], decoder: SketchDecoder(settledStage: 1))
    let first = await sketch.follow(options(.frames))
    await step(sketch, stages: 1)
    let second = await sketch.follow(options(.frames), format: .large)
    await step(sketch, stages: 1)
    await sketch.finish([first, second])
    #expect(first.text == "1 settled 999" && second.text.hasPrefix("2 "))
  }

  @Test("of two formats that are settled leave their places to a third's")
  func settledPlaces() async throws {
    let formats = [ImageFormat.dot, .row, .large]
    let sketch = try await SketchFixture(formats, decoder: SketchDecoder(settledStage: 1))
    var alone = Photo("1")
    alone.wantsFamily = false
    var following: [Following] = []
    for format in formats {
      following.append(await sketch.follow(options(.frames), photo: alone, format: format))
    }
    await step(sketch, stages: 1)
    // The third is the only one that wants more.
    await step(sketch, stages: 1)
    try #require(sketch.decoder.begun.value == 2)
    await following[2].previewed.reaches(1)
    await step(sketch, stages: 1)
    await sketch.finish(following)
    #expect(following[1].text == "1 settled 999" && following[2].text == "2 settled 999")
    #expect(sketch.decoder.begun.value == 2)
  }

  @Test("of one kind leave the number of another's to who wants that")
  func limits() async throws {
    let stages: [PreviewStage.Kind] = [.embedded, .frame, .frame]
    let sketch = try await SketchFixture(decoder: SketchDecoder(kinds: stages))
    let frames = await sketch.follow(options(.frames, limit: 1))
    let thumbnail = await sketch.follow(options(.embedded, limit: 1))
    await step(sketch, stages: 3)
    await sketch.finish([frames, thumbnail])
    #expect(frames.text == "2 999" && thumbnail.text == "1 embedded 999")
    #expect(sketch.decoder.begun.value == 2)
    #expect(try await follow(all, [.rows, .embedded, .frame], limit: 2).begun == 2)
  }

  @Test("of the same part of the image are not shown twice")
  func samePart() async throws {
    let parts = [1: 0.25, 2: 0.25, 3: 0.2, 4: 0.5]
    let sketch = try await SketchFixture(decoder: SketchDecoder(parts: parts))
    let text = await sketch.told { _ in
      await step(sketch, stages: 4)
    }
    #expect(text == "1 4 999" && sketch.decoder.begun.value == 4)
  }

  @Test("of frames follow no thumbnail that has as many pixels")
  func afterThumbnail() async throws {
    let parts = [1: 0.04, 2: 0.02, 3: 0.04]
    let sketch = try await SketchFixture(decoder: SketchDecoder(kinds: [.embedded], parts: parts))
    let following = await sketch.follow(options([.frames, .embedded]))
    await step(sketch, stages: 2)
    // Who joins is shown the thumbnail, too.
    let late = Following(sketch.cache, Photo("1"), .row, options([.frames, .embedded]))
    await late.previewed.reaches(1)
    await step(sketch, stages: 2)
    await sketch.finish([following, late])
    #expect(following.text == "1 embedded 4 999" && late.text == "1 embedded 4 999")
    #expect(sketch.decoder.begun.value == 4)
  }

  @Test("of frames are for those, too, who were not shown the thumbnail", arguments: [false, true])
  func withoutThumbnail(isFirst: Bool) async throws {
    let parts = [1: 0.04, 2: 0.02]
    let sketch = try await SketchFixture(decoder: SketchDecoder(kinds: [.embedded], parts: parts))
    let kinds: [PreviewPolicy.Kinds] = [[.frames, .embedded], .frames]
    var following: [Following] = []
    for kinds in isFirst ? kinds.reversed() : kinds {
      following.append(await sketch.follow(options(kinds)))
    }
    await step(sketch, stages: 3)
    await sketch.finish(following)
    let texts = ["1 embedded 3 999", "2 3 999"]
    #expect(following.map(\.text) == (isFirst ? texts.reversed() : texts))
  }
}
