import TestSupport
import Testing

@testable import FastImageCache

@Suite("The stages of a file", .timeLimit(.minutes(10)))
struct PreviewStageTests {
  @Test(
    "are those that end in the bytes that are there, whatever a scanner says",
    arguments: [-1, 0, 71, Int.max])
  func stray(byteCount: Int) async throws {
    let sketch = try await SketchFixture(decoder: SketchDecoder(stray: byteCount))
    let text = await sketch.told { _ in
      for size in [70, 30] {
        await sketch.step(size)
        await sketch.idle()
      }
    }
    #expect(text == "1 999" && sketch.decoder.begun.value == 1)
  }

  @Test("that came before anybody wanted them give way to the newest, of however many bytes")
  func newest() async throws {
    let sketch = try await SketchFixture(total: 1_000_000)
    let first = Following(sketch.cache, Photo("1"), .row, LoadOptions())
    await sketch.fixture.subscribers(1)
    await sketch.step(600_000)
    let second = Following(sketch.cache)
    await sketch.fixture.subscribers(2)
    await sketch.step(1)
    await sketch.idle()
    sketch.finish()
    await first.ends()
    await second.ends()
    #expect(second.text == "6000 999" && sketch.decoder.begun.value == 1)
  }

  @Test("that could not be drawn to their end are left for a newer one")
  func interrupted() async throws {
    let drawings = Counter()
    let decoder = SketchDecoder(willEnd: { isCancelled in
      if drawings.increment() == 1 { while !isCancelled() {} }
    })
    let resources = LoadResources(decodeWidth: 1)
    let sketch = try await SketchFixture(decoder: decoder) { $0.resources = resources }
    let text = try await sketch.told { _ in
      await sketch.step(100)
      await decoder.begun.reaches(1)
      await sketch.step(100)
      try await resources.workers.run(priority: .high) { _ in }
      await decoder.ended.reaches(1)
      await sketch.idle()
      await sketch.step(1)
      await sketch.idle()
    }
    #expect(text == "2 999" && decoder.begun.value == 2)
  }

  @Test(
    "are drawn anew where the last follower has left during the drawing and comes back",
    arguments: [PreviewStage.Kind.frame, .embedded], [false, true])
  func comesBack(kind: PreviewStage.Kind, isEarly: Bool) async throws {
    let (drawings, left, back) = (Counter(), Counter(), Gate())
    let willEnd: SketchDecoder.WillEnd = { isCancelled throws(ImageDecodingError) in
      guard drawings.increment() == 1 else { return }
      while !isCancelled() {}
      left.increment()
      back.waitBlocking()
      throw .cancelled
    }
    let decoder = SketchDecoder(kinds: [kind], willEnd: willEnd)
    let sketch = try await SketchFixture(decoder: decoder)
    var options = LoadOptions()
    options.previews = PreviewPolicy(kinds: [.frames, .embedded])
    let prefetch = Following(sketch.cache, Photo("1"), .row, LoadOptions())
    let first = Following(sketch.cache, Photo("1"), .row, options)
    await sketch.fixture.subscribers(2)
    await sketch.step(100)
    await drawings.reaches(1)
    first.cancel()
    await left.reaches(1)
    await sketch.fixture.subscribers(1)
    if !isEarly {
      back.open()
      await sketch.idle()
    }
    let second = Following(sketch.cache, Photo("1"), .row, options)
    await sketch.fixture.subscribers(2)
    back.open()
    await sketch.idle()
    await sketch.step(1)
    await sketch.idle()
    try #require(decoder.begun.value == 2)
    await second.previewed.reaches(1)
    sketch.finish()
    await second.ends()
    await prefetch.ends()
    #expect(second.text == (kind == .frame ? "1 999" : "1 embedded 999"))
  }
}
