import TestSupport
import Testing

@testable import FastImageCache

@Suite("Previews of a fetch with several arrivals", .timeLimit(.minutes(10)))
struct PreviewArrivalTests {
  private func step(_ sketch: SketchFixture, _ byteCount: Int, after seconds: Int = 1000) async {
    await sketch.step(byteCount, after: seconds)
    await sketch.idle()
  }

  @Test("end with a settled one, though the connection breaks off and is continued")
  func settled() async throws {
    let sketch = try await SketchFixture(decoder: SketchDecoder(settledStage: 2))
    let following = Following(sketch.cache)
    await sketch.fixture.waiters(1)
    await step(sketch, 200)
    await sketch.breakOff()
    await step(sketch, 99)
    sketch.finish()
    await following.ends()
    #expect(following.text == "2 settled 999" && sketch.decoder.begun.value == 1)
  }

  @Test("show no part of the picture twice, though the connection breaks off and is continued")
  func samePart() async throws {
    let sketch = try await SketchFixture(decoder: SketchDecoder(parts: [1: 0.25, 2: 0.25]))
    let following = Following(sketch.cache)
    await sketch.fixture.waiters(1)
    await step(sketch, 100)
    await sketch.breakOff()
    await step(sketch, 99)
    sketch.finish()
    await following.ends()
    #expect(following.text == "1 999" && sketch.decoder.begun.value == 2)
  }
}
