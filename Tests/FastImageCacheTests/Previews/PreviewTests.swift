import TestSupport
import Testing

@testable import FastImageCache

@Suite("A preview", .timeLimit(.minutes(10)))
struct PreviewTests {
  @Test("is shown while its image loads, in private memory, and nothing of it is kept")
  func shown() async throws {
    let sketch = try await SketchFixture()
    let following = await sketch.follow()
    async let joined = sketch.cache.image(for: Photo("1"), format: .row)
    await sketch.fixture.subscribers(2)
    await sketch.step(100)
    await following.previewed.reaches(1)
    #expect(sketch.cache.cachedImage(for: Photo("1"), format: .row) == nil)
    await sketch.idle()
    await sketch.step(100)
    await following.previewed.reaches(2)
    await sketch.finish([following])
    #expect(following.text == "1 2 999")
    // Nobody else gets a preview.
    #expect(try await joined.solidNumber == 999)
    let statistics = await sketch.cache.statistics()
    #expect((statistics.stores, statistics.decodes, statistics.drawings) == (1, 1, 1))
    // The header is read for the previews, and for the image.
    #expect(sketch.decoder.scanned.value == 1 && sketch.decoder.headers.value == 2)
  }

  @Test("comes before the image in a loop over updates, whose last element is the image")
  func updates() async throws {
    let sketch = try await SketchFixture()
    let loop = Task {
      var numbers: [Int?] = []
      for try await image in sketch.cache.updates(for: Photo("1"), format: .row) {
        numbers.append(image.solidNumber)
        if numbers.count == 1 { sketch.finish() }
      }
      return numbers
    }
    await sketch.fixture.subscribers(1)
    await sketch.step(100)
    #expect(try await loop.value == [1, 999])
    // A hit has nothing before it.
    var again: [Int?] = []
    for try await image in sketch.cache.updates(for: Photo("1"), format: .row) {
      again.append(image.solidNumber)
    }
    #expect(again == [999])
  }

  @Test("is followed by the error in a loop over updates, once")
  func failedUpdates() async throws {
    let fixture = try await Fixture(
      from: ClosureImageSource { _ in throw ImageSourceError.network("no route") })
    var updates = fixture.cache.updates(for: Photo("1"), format: .row).makeAsyncIterator()
    await #expect(throws: ImageCacheError.self) { try await updates.next(isolation: nil) }
    #expect(try await updates.next(isolation: nil) == nil)
  }

  @Test("ends with its loop when the task is cancelled, as an error")
  func cancelledUpdates() async throws {
    let sketch = try await SketchFixture()
    let loop = Task {
      for try await _ in sketch.cache.updates(for: Photo("1"), format: .row) {}
    }
    await sketch.fixture.subscribers(1)
    loop.cancel()
    await #expect { try await loop.value } throws: { $0.isCancelled }
    await sketch.fixture.quiet()
    sketch.finish()
  }

  @Test("is not made in the first 200 milliseconds of a fetch, but of what came in them")
  func delayed() async throws {
    let sketch = try await SketchFixture()
    let text = await sketch.told { following in
      await sketch.step(100, after: 0)
      // Most files are whole by then, so not even the header is read.
      #expect(sketch.decoder.begun.value == 0 && sketch.decoder.headers.value == 0)
      await sketch.step(1)
      await following.previewed.reaches(1)
    }
    #expect(text == "1 999")
  }

  @Test("is drawn once for all formats that are wanted, and for two at most")
  func formats() async throws {
    let sketch = try await SketchFixture([.row, .large, .dot])
    var alone = Photo("1")
    alone.wantsFamily = false
    let following = [ImageFormat.row, .large, .dot].map { format -> Following in
      Following(sketch.cache, alone, format)
    }
    await sketch.fixture.subscribers(3)
    await sketch.step(100)
    await following[0].previewed.reaches(1)
    await following[1].previewed.reaches(1)
    await sketch.finish(following)
    #expect(following[0].text == "1 999")
    #expect(following[2].previewed.value == 0 && sketch.decoder.begun.value == 1)
  }

  @Test("is not made where a closure draws, nor where the hook may change the image")
  func notDrawn() async throws {
    var photo = Photo("1")
    photo.drawing = .custom { source, canvas in try canvas.draw(source, in: canvas.bounds) }
    for hasHook in [false, true] {
      let sketch = try await SketchFixture { configuration in
        if hasHook { configuration.willStore = { _ in } }
      }
      let following = await sketch.follow(photo: hasHook ? Photo("1") : photo)
      for _ in 0..<3 { await sketch.step(100) }
      await sketch.finish([following])
      #expect(following.previewed.value == 0 && sketch.decoder.begun.value == 0)
    }
  }

  @Test("is skipped while all workers are busy, and made once they are not")
  func fullLoad() async throws {
    let resources = LoadResources(decodeWidth: 1)
    let sketch = try await SketchFixture { $0.resources = resources }
    let text = try await sketch.told { following in
      let occupied = try await Occupied(resources.workers)
      for _ in 0..<3 { await sketch.step(100) }
      #expect(sketch.decoder.begun.value == 0 && resources.workers.counts.waiting == 0)
      try await occupied.leave()
      await sketch.step(1)
      await following.previewed.reaches(1)
    }
    #expect(text == "3 999")
  }

  @Test("is skipped where no part of the processor is for previews, or no memory is left")
  func noLoad() async throws {
    // The decode alone takes 1024 bytes, and the copies of the first stage's 200.
    for resources in [LoadResources(previewLoad: 0), LoadResources(decodeByteBudget: 1200)] {
      let sketch = try await SketchFixture { $0.resources = resources }
      let following = await sketch.follow()
      for _ in 0..<3 { await sketch.step(100) }
      await sketch.finish([following])
      #expect(following.previewed.value == 0 && sketch.decoder.begun.value == 0)
    }
  }

  @Test("is shown to nobody once the image is there")
  func finalFirst() async throws {
    let door = Gate()
    // As a decoder that does not ask whether it is cancelled.
    let decoder = SketchDecoder(willEnd: { _ in door.waitBlocking() })
    let sketch = try await SketchFixture(decoder: decoder) {
      $0.resources = LoadResources(decodeWidth: 2)
    }
    let text = await sketch.told { _ in
      await sketch.step(100)
      await decoder.begun.reaches(1)
    }
    door.open()
    await sketch.idle()
    #expect(text == "999")
  }

  @Test("is shown to nobody once all bytes are there")
  func answeredFirst() async throws {
    let (door, decoded, decoding) = (Gate(), Gate(), Counter())
    let decoder = SketchDecoder {
      decoding.increment()
      decoded.waitBlocking()
    } willEnd: { _ in
      door.waitBlocking()
    }
    let sketch = try await SketchFixture(decoder: decoder) {
      $0.resources = LoadResources(decodeWidth: 2)
    }
    let following = await sketch.follow()
    await sketch.step(100)
    await decoder.begun.reaches(1)
    sketch.finish()
    await decoding.reaches(1)
    door.open()
    while sketch.cache.renderer.workers.counts.inside > 1, !Task.isCancelled { await Task.yield() }
    decoded.open()
    await following.ends()
    #expect(following.text == "999")
  }

  @Test("is given up when the source has answered, so that the image gets its worker")
  func answered() async throws {
    let decoder = SketchDecoder(willEnd: { isCancelled in while !isCancelled() {} })
    let sketch = try await SketchFixture(decoder: decoder) {
      $0.resources = LoadResources(decodeWidth: 1)
    }
    let text = await sketch.told { _ in
      await sketch.step(100)
      await decoder.begun.reaches(1)
    }
    #expect(decoder.ended.value == 1)
    #expect(text == "999")
  }

  @Test("is given up when nobody follows the load any more")
  func abandoned() async throws {
    let decoder = SketchDecoder(willEnd: { isCancelled in while !isCancelled() {} })
    let sketch = try await SketchFixture(decoder: decoder)
    let following = await sketch.follow()
    async let joined = sketch.cache.image(for: Photo("1"), format: .row)
    await sketch.fixture.subscribers(2)
    await sketch.step(100)
    await decoder.begun.reaches(1)
    following.cancel()
    await decoder.ended.reaches(1)
    sketch.finish()
    #expect(try await joined.solidNumber == 999)
  }

  @Test("that cannot be decoded is nothing to the image")
  func damaged() async throws {
    let sketch = try await SketchFixture(decoder: SketchDecoder(isDamaged: true))
    let text = await sketch.told { _ in
      await sketch.step(100)
      await sketch.decoder.ended.reaches(1)
      await sketch.idle()
      // It is not tried again before there is more.
      await sketch.process(1)
      #expect(sketch.decoder.begun.value == 1)
      await sketch.step(99)
      await sketch.decoder.ended.reaches(2)
    }
    #expect(text == "999")
  }
}
