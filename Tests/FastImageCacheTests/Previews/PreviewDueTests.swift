import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("The time for a preview", .timeLimit(.minutes(10)))
struct PreviewDueTests {
  @Test("comes although the first bytes are too few to tell the file's type")
  func firstBytes() async throws {
    let sketch = try await SketchFixture()
    let text = await sketch.told { following in
      await sketch.step(10)
      await sketch.step(90)
      await following.previewed.reaches(1)
    }
    #expect(text == "1 999")
  }

  @Test("does not come where the rest is due soon")
  func dueSoon() async throws {
    let sketch = try await SketchFixture()
    let text = await sketch.told { _ in
      await sketch.step(1)
      // At 899 bytes in a second the last hundred come in 0.11 seconds.
      await sketch.step(899, after: 1)
      await sketch.idle()
      #expect(sketch.decoder.begun.value == 0)
    }
    #expect(text == "999")
  }

  @Test("comes five times in a second at most, and shows the newest bytes then")
  func rate() async throws {
    // Workers would draw the next one at once.
    let resources = LoadResources(previewLoad: 1)
    let sketch = try await SketchFixture { $0.resources = resources }
    let text = await sketch.told { following in
      await sketch.step(100)
      await following.previewed.reaches(1)
      await sketch.idle()
      for _ in 0..<3 {
        await sketch.step(100, after: 0)
        await sketch.idle()
      }
      #expect(sketch.decoder.begun.value == 1)
      await sketch.step(1, after: 1)
      await following.previewed.reaches(2)
    }
    #expect(text == "1 4 999" && sketch.decoder.begun.value == 2)
  }

  @Test("is there at once with what an earlier load has left")
  func resumed() async throws {
    let (clock, decoder, gate) = (ManualClock(), SketchDecoder(), CancellableGate())
    let bytes = SketchDecoder.magic + Data(count: 994)
    let terms = ResponseMetadata(
      fields: ["ETag": "\"1\"", "Content-Length": "1000"], received: Date())
    let source = EncodedSource { request, call in
      let arrival = request.begin(terms, continuing: request.known)
      try arrival.append(bytes[arrival.byteCount..<(call == 1 ? 200 : 201)])
      if call == 1 { throw ImageSourceError.network("cut") }
      try await gate.pass()
      try arrival.append(bytes[201...])
      return .arrived(arrival)
    }
    let fixture = try await Fixture(from: source) { ($0.decoders, $0.clock) = ([decoder], clock) }
    await #expect(throws: ImageCacheError.self) {
      try await fixture.cache.image(for: Photo("1"), format: .row)
    }
    let following = Following(fixture.cache)
    await following.previewed.reaches(1)
    gate.open()
    await following.ends()
    #expect(following.text == "2 999")
  }

  @Test("is over once all bytes are there, for who comes then, too")
  func over() async throws {
    let (decoding, decoded) = (Counter(), Gate())
    let decoder = SketchDecoder {
      decoding.increment()
      decoded.waitBlocking()
    }
    let sketch = try await SketchFixture(decoder: decoder)
    let first = Following(sketch.cache)
    await sketch.fixture.subscribers(1)
    await sketch.step(100)
    await first.previewed.reaches(1)
    sketch.finish()
    await decoding.reaches(1)
    let second = Following(sketch.cache)
    await sketch.fixture.subscribers(2)
    decoded.open()
    await first.ends()
    await second.ends()
    #expect(first.text == "1 999" && second.text == "999")
  }

  @Test("does not come for an image that is too large")
  func tooLarge() async throws {
    let sketch = try await SketchFixture { $0.limits.pixelCount = 255 }
    let text = await sketch.told { _ in
      await sketch.step(100)
      await sketch.idle()
    }
    #expect(text.isEmpty && sketch.decoder.begun.value == 0)
  }

  @Test("comes for each listener of a load by itself, of which nothing is drawn before")
  func patient() async throws {
    let sketch = try await SketchFixture([.dot, .large])
    var alone = Photo("1")
    alone.wantsFamily = false
    let first = Following(sketch.cache, alone, .dot)
    await sketch.fixture.subscribers(1)
    let patient = Following(sketch.cache, alone, .large, options(delay: 5000))
    await sketch.fixture.subscribers(2)
    await sketch.step(100)
    await first.previewed.reaches(1)
    await sketch.idle()
    await sketch.step(100, after: 9000)
    await patient.previewed.reaches(1)
    sketch.finish()
    await first.ends()
    await patient.ends()
    #expect(patient.text == "2 999")
    // The larger format needs all pixels, the other one less.
    let widths = sketch.decoder.minimumWidths
    #expect(widths.count == 2 && widths[0] < 16 && widths[1] == 16)
  }

  @Test("brings a listener what was drawn before, though others have used up its number")
  func spent() async throws {
    let sketch = try await SketchFixture()
    let first = Following(sketch.cache)
    let patient = Following(sketch.cache, Photo("1"), .row, options(delay: 5000))
    await sketch.fixture.subscribers(2)
    for _ in 0..<3 {
      await sketch.step(100)
      await sketch.idle()
    }
    await sketch.step(100, after: 9000)
    await patient.previewed.reaches(1)
    await sketch.step(100)
    sketch.finish()
    await first.ends()
    await patient.ends()
    #expect(patient.text == "3 999" && sketch.decoder.begun.value == 3)
  }

  @Test("brings a listener a settled one that was drawn before, and no other is drawn for it")
  func settled() async throws {
    let sketch = try await SketchFixture(decoder: SketchDecoder(settledStage: 1))
    let first = Following(sketch.cache)
    let patient = Following(sketch.cache, Photo("1"), .row, options(delay: 5000))
    await sketch.fixture.subscribers(2)
    await sketch.step(100)
    await first.previewed.reaches(1)
    await sketch.idle()
    await sketch.step(100, after: 9000)
    await patient.previewed.reaches(1)
    sketch.finish()
    await first.ends()
    await patient.ends()
    #expect(patient.text == "1 settled 999" && sketch.decoder.begun.value == 1)
  }

  @Test("does not come sooner for a listener that joins")
  func joining() async throws {
    let sketch = try await SketchFixture()
    let first = Following(sketch.cache)
    await sketch.fixture.subscribers(1)
    await sketch.step(100)
    await first.previewed.reaches(1)
    let patient = Following(sketch.cache, Photo("1"), .row, options(delay: 5000))
    await sketch.fixture.subscribers(2)
    await sketch.idle()
    await sketch.step(100)
    await first.previewed.reaches(2)
    await sketch.idle()
    await sketch.step(100, after: 9000)
    await patient.previewed.reaches(1)
    sketch.finish()
    await first.ends()
    await patient.ends()
    #expect(patient.text == "3 999")
  }

  private func options(delay seconds: Int) -> LoadOptions {
    var options = LoadOptions.previewing
    options.previews.delay = .seconds(seconds)
    return options
  }
}
