import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("The stages of a file", .timeLimit(.minutes(10)))
struct PreviewStageTests {
  @Test(
    "end in the bytes that are there, whatever a scanner says", arguments: [-1, 0, 71, Int.max])
  func stray(byteCount: Int) async throws {
    let sketch = try await SketchFixture(decoder: SketchDecoder(stray: byteCount))
    let text = await sketch.told { _ in
      for size in [70, 30] {
        await sketch.process(size)
      }
    }
    #expect(text == "1 999" && sketch.decoder.begun.value == 1)
  }

  @Test("that came before anybody wanted them give way to the newest, of however many bytes")
  func newest() async throws {
    let sketch = try await SketchFixture(total: 1_000_000)
    let first = await sketch.follow(LoadOptions())
    await sketch.step(600_000)
    let second = await sketch.follow()
    await sketch.process(1)
    await sketch.finish([first, second])
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
      await sketch.process(1)
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
    let prefetch = await sketch.follow(LoadOptions())
    let options = LoadOptions { $0.previews = PreviewPolicy(kinds: [.frames, .embedded]) }
    let first = await sketch.follow(options)
    await sketch.step(100)
    await drawings.reaches(1)
    first.cancel()
    await left.reaches(1)
    await sketch.fixture.subscribers(1)
    if !isEarly {
      back.open()
      await sketch.idle()
    }
    let second = await sketch.follow(options)
    back.open()
    await sketch.idle()
    await sketch.process(1)
    try #require(decoder.begun.value == 2)
    await second.previewed.reaches(1)
    await sketch.finish([second, prefetch])
    #expect(second.text == (kind == .frame ? "1 999" : "1 embedded 999"))
  }
}

@Suite("Previews of a fetch with several arrivals", .timeLimit(.minutes(10)))
struct PreviewArrivalTests {
  /// Plays a fetch, and returns what its listener was told and how many drawings began.
  private func told(
    _ decoder: SketchDecoder, _ play: (SketchFixture) async -> Void
  ) async throws -> (text: String, drawingCount: Int) {
    let sketch = try await SketchFixture(decoder: decoder)
    return (await sketch.told { _ in await play(sketch) }, sketch.decoder.begun.value)
  }

  @Test("end with a settled one, though the connection breaks off and is continued")
  func settled() async throws {
    let told = try await told(SketchDecoder(settledStage: 2)) { sketch in
      await sketch.process(200)
      await sketch.breakOff()
      await sketch.process(99)
    }
    #expect(told == ("2 settled 999", 1))
  }

  @Test("show no part of the image twice, though the connection breaks off and is continued")
  func samePart() async throws {
    let told = try await told(SketchDecoder(parts: [1: 0.25, 2: 0.25])) { sketch in
      await sketch.process(100)
      await sketch.breakOff()
      await sketch.process(99)
    }
    #expect(told == ("1 999", 2))
  }

  @Test("show bytes that were thrown away to nobody who joins or becomes due afterwards")
  func formerVersion() async throws {
    let sketch = try await SketchFixture()
    let first = await sketch.follow()
    var options = LoadOptions.previewing
    options.previews.delay = .seconds(5000)
    let patient = await sketch.follow(options)
    await sketch.process(200)
    await sketch.beginAnew()
    await sketch.process(100, after: 9000)
    let second = await sketch.follow()
    await sketch.process(1)
    await sketch.finish([first, patient, second])
    #expect([first, patient, second].map(\.text) == ["2 999", "1 999", "1 999"])
    #expect(sketch.decoder.begun.value == 2)
  }

  @Test("show nothing that is drawn of bytes while they are thrown away")
  func formerIdleJob() async throws {
    let door = Gate()
    // As a decoder that does not ask whether it is cancelled.
    let told = try await told(SketchDecoder(willEnd: { _ in door.waitBlocking() })) { sketch in
      await sketch.step(200)
      await sketch.decoder.begun.reaches(1)
      await sketch.beginAnew()
      door.open()
      await sketch.idle()
      await sketch.process(100)
    }
    #expect(told == ("1 999", 2))
  }

  @Test("show nothing of another version where a settled one of the former is shown")
  func formerSettled() async throws {
    let told = try await told(SketchDecoder(settledStage: 2)) { sketch in
      await sketch.process(200)
      await sketch.beginAnew()
      await sketch.process(300)
    }
    #expect(told == ("2 settled 999", 1))
  }

  /// A frame without a part has all pixels.
  @Test(
    "show no smaller part of another version than of the former one",
    arguments: [[2: 0.25, 3: 0.2, 4: 0.5], [3: 0.9]])
  func formerPart(parts: [Int: Double]) async throws {
    let told = try await told(SketchDecoder(parts: parts)) { sketch in
      await sketch.process(200)
      await sketch.beginAnew()
      await sketch.process(300)
      await sketch.process(100)
    }
    #expect(told.text == "2 4 999")
  }
}

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
      await sketch.process(899, after: 1)
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
        await sketch.process(100, after: 0)
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
    await #expect(throws: ImageCacheError.self) { try await fixture.image(Photo("1")) }
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
    let first = await sketch.follow()
    await sketch.step(100)
    await first.previewed.reaches(1)
    sketch.finish()
    await decoding.reaches(1)
    let second = await sketch.follow()
    decoded.open()
    await first.ends()
    await second.ends()
    #expect(first.text == "1 999" && second.text == "999")
  }

  @Test("does not come for an image that is too large")
  func tooLarge() async throws {
    let sketch = try await SketchFixture { $0.limits.pixelCount = 255 }
    let text = await sketch.told { _ in
      await sketch.process(100)
    }
    #expect(text.isEmpty && sketch.decoder.begun.value == 0)
  }

  @Test("comes for each listener of a load by itself, of which nothing is drawn before")
  func patient() async throws {
    let sketch = try await SketchFixture([.dot, .large])
    var alone = Photo("1")
    alone.wantsFamily = false
    let first = await sketch.follow(photo: alone, format: .dot)
    let patient = await sketch.follow(options(delay: 5000), photo: alone, format: .large)
    await sketch.step(100)
    await first.previewed.reaches(1)
    await sketch.idle()
    await sketch.step(100, after: 9000)
    await patient.previewed.reaches(1)
    await sketch.finish([first, patient])
    #expect(patient.text == "2 999")
    // The larger format needs all pixels, the other one less.
    let widths = sketch.decoder.minimumWidths
    #expect(widths.count == 2 && widths[0] < 16 && widths[1] == 16)
  }

  @Test("brings a listener what was drawn before, though others have used up its number")
  func spent() async throws {
    let sketch = try await SketchFixture()
    let first = await sketch.follow()
    let patient = await sketch.follow(options(delay: 5000))
    for _ in 0..<3 {
      await sketch.process(100)
    }
    await sketch.step(100, after: 9000)
    await patient.previewed.reaches(1)
    await sketch.step(100)
    await sketch.finish([first, patient])
    #expect(patient.text == "3 999" && sketch.decoder.begun.value == 3)
  }

  @Test("brings a listener a settled one that was drawn before, and no other is drawn for it")
  func settled() async throws {
    let sketch = try await SketchFixture(decoder: SketchDecoder(settledStage: 1))
    let first = await sketch.follow()
    let patient = await sketch.follow(options(delay: 5000))
    await sketch.step(100)
    await first.previewed.reaches(1)
    await sketch.idle()
    await sketch.step(100, after: 9000)
    await patient.previewed.reaches(1)
    await sketch.finish([first, patient])
    #expect(patient.text == "1 settled 999" && sketch.decoder.begun.value == 1)
  }

  @Test("does not come sooner for a listener that joins")
  func joining() async throws {
    let sketch = try await SketchFixture()
    let first = await sketch.follow()
    await sketch.step(100)
    await first.previewed.reaches(1)
    let patient = await sketch.follow(options(delay: 5000))
    await sketch.idle()
    await sketch.step(100)
    await first.previewed.reaches(2)
    await sketch.idle()
    await sketch.step(100, after: 9000)
    await patient.previewed.reaches(1)
    await sketch.finish([first, patient])
    #expect(patient.text == "3 999")
  }

  private func options(delay seconds: Int) -> LoadOptions {
    var options = LoadOptions.previewing
    options.previews.delay = .seconds(seconds)
    return options
  }
}
