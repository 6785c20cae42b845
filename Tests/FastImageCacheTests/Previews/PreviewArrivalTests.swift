import TestSupport
import Testing

@testable import FastImageCache

@Suite("Previews of a fetch with several arrivals", .timeLimit(.minutes(10)))
struct PreviewArrivalTests {
  private func step(_ sketch: SketchFixture, _ byteCount: Int, after seconds: Int = 1000) async {
    await sketch.step(byteCount, after: seconds)
    await sketch.idle()
  }

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
      await step(sketch, 200)
      await sketch.breakOff()
      await step(sketch, 99)
    }
    #expect(told == ("2 settled 999", 1))
  }

  @Test("show no part of the image twice, though the connection breaks off and is continued")
  func samePart() async throws {
    let told = try await told(SketchDecoder(parts: [1: 0.25, 2: 0.25])) { sketch in
      await step(sketch, 100)
      await sketch.breakOff()
      await step(sketch, 99)
    }
    #expect(told == ("1 999", 2))
  }

  @Test("show bytes that were thrown away to nobody who joins or becomes due afterwards")
  func formerVersion() async throws {
    let sketch = try await SketchFixture()
    let first = Following(sketch.cache)
    var options = LoadOptions.previewing
    options.previews.delay = .seconds(5000)
    let patient = Following(sketch.cache, Photo("1"), .row, options)
    await sketch.fixture.subscribers(2)
    await step(sketch, 200)
    await sketch.beginAnew()
    await step(sketch, 100, after: 9000)
    let second = Following(sketch.cache)
    await sketch.fixture.subscribers(3)
    await step(sketch, 1)
    sketch.finish()
    for one in [first, patient, second] { await one.ends() }
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
      await step(sketch, 100)
    }
    #expect(told == ("1 999", 2))
  }

  @Test("show nothing of another version where a settled one of the former is shown")
  func formerSettled() async throws {
    let told = try await told(SketchDecoder(settledStage: 2)) { sketch in
      await step(sketch, 200)
      await sketch.beginAnew()
      await step(sketch, 300)
    }
    #expect(told == ("2 settled 999", 1))
  }

  /// A frame without a part has all pixels.
  @Test(
    "show no smaller part of another version than of the former one",
    arguments: [[2: 0.25, 3: 0.2, 4: 0.5], [3: 0.9]])
  func formerPart(parts: [Int: Double]) async throws {
    let told = try await told(SketchDecoder(parts: parts)) { sketch in
      await step(sketch, 200)
      await sketch.beginAnew()
      await step(sketch, 300)
      await step(sketch, 100)
    }
    #expect(told.text == "2 4 999")
  }
}
