import FastImageCache
import Foundation
import Locking
import TestSupport
import Testing

@Suite("A prefetch", .timeLimit(.minutes(10)))
struct PrefetchTests {
  @Test(
    "stores images for which nobody waits", arguments: [ImageCache.PrefetchDepth.disk, .memory])
  func storesImages(depth: ImageCache.PrefetchDepth) async throws {
    let fixture = try await Fixture()
    let photos = photos(0..<12)
    let progress = await fixture.cache.prefetch(photos, format: .row, depth: depth)
    #expect(progress.loadedCount == 12 && progress.failedCount == 0 && progress.isFinished)
    #expect(
      photos.map { fixture.cache.cachedImage(for: $0, format: .row)?.solidNumber }
        == Array(0..<12))
  }

  @Test("takes any sequence, of one type or of several")
  func takesSequences() async throws {
    let fixture = try await Fixture()
    let cache = fixture.cache
    let (first, second) = (Photo("a", url: "test:/1"), Photo("b", url: "test:/2"))
    let url = URL(fileURLWithPath: "/pictures/2")
    let several: [any ImageEntity] = [first, url]
    let totals = [
      await cache.prefetch([first], format: .row),
      await cache.prefetch([first, second], format: .row),
      await cache.prefetch([first, url], format: .row), await cache.prefetch([], format: .row),
      await cache.prefetch([url], format: .row), await cache.prefetch(several, format: .row),
      await cache.prefetch([first, second].lazy.filter { $0.imageID == "b" }, format: .row),
    ].map(\.totalCount)
    #expect(totals == [1, 2, 2, 0, 1, 2, 1])
  }

  @Test("counts failures and goes on")
  func countsFailures() async throws {
    struct Broken: Error {}
    let fixture = try await Fixture(
      source: ScriptedSource { url, _, _ in
        if url.lastPathComponent == "3" { throw Broken() }
        return .bitmap(try solid(1))
      })
    let photos = photos(0..<10)
    let progress = await fixture.cache.prefetch(photos, format: .row)
    #expect(progress.loadedCount == 9 && progress.failedCount == 1)
  }

  @Test("whose task is cancelled cancels what is left")
  func endsWithTask() async throws {
    let (fixture, _) = try await Fixture.gated()
    let photos = (0..<50).map { Photo(ImageID($0)) }
    let task = Task { await fixture.cache.prefetch(photos, format: .row) }
    await fixture.source.started.reaches(1)
    task.cancel()
    let progress = await task.value
    #expect(progress.loadedCount == 0 && progress.failedCount == 0 && !progress.isFinished)
    await fixture.quiet()
    #expect(fixture.source.started.value < 50)
  }

  @Test("asks the source in the order of urgency")
  func keepsOrder() async throws {
    let order = Order()
    let source = ScriptedSource { url, _, _ in
      order.note(url.lastPathComponent)
      return .bitmap(try solid(1))
    }
    let format = ImageFormat.row.with(capacity: 200)
    let fixture = try await Fixture([format], source: source) {
      $0.resources = LoadResources(localWidth: 1)
    }
    let photos = photos(0..<200)
    #expect(await fixture.cache.prefetch(photos, format: format).loadedCount == 200)
    #expect(order.notes == (0..<200).map { "\($0)" })
  }

  @Test("brings several images at the same time, from a source or from the entities themselves")
  func worksBesideItself() async throws {
    let gate = CancellableGate()
    // One place is kept for rows on screen.
    let fixture = try await Fixture(source: ScriptedSource(gate: gate)) {
      $0.resources = LoadResources(localWidth: 5)
    }
    let photos = photos(0..<4)
    let prefetch = Task { await fixture.cache.prefetch(photos, format: .row) }
    await fixture.source.started.reaches(4)
    let asked = Counter()
    let owners = (10..<14).map { number in
      var photo = Photo(ImageID(number))
      photo.url = nil
      photo.ownImage = { _ in
        asked.increment()
        try await gate.pass()
        return .bitmap(try solid(number))
      }
      return photo
    }
    let other = Task { await fixture.cache.prefetch(owners, format: .row) }
    await asked.reaches(4)
    gate.open()
    #expect(await prefetch.value.loadedCount == 4)
    #expect(await other.value.loadedCount == 4)
  }

  @Test("does not wait with the others for an image that somebody else loads")
  func passesSharedLoads() async throws {
    let (gate, entered) = (CancellableGate(), Counter())
    let fixture = try await Fixture(
      source: ScriptedSource { url, _, _ in
        entered.increment()
        try await gate.pass()
        return .bitmap(try solid(1))
      })
    let shared = Photo("shared")
    let waiting = Task { try await fixture.image(shared) }
    await entered.reaches(1)
    let prefetch = Task { await fixture.cache.prefetch([shared, Photo("b")], format: .row) }
    await entered.reaches(2)
    gate.open()
    _ = try await waiting.value
    #expect(await prefetch.value.loadedCount == 2)
  }
}

@Suite("A prefetch of more images than there is room for", .timeLimit(.minutes(10)))
struct OverfullPrefetchTests {
  private let format = ImageFormat.row.with(capacity: 4)

  private func kept(_ numbers: ClosedRange<Int>, in fixture: Fixture) -> [Int] {
    numbers.filter { fixture.cache.containsImage(for: photos([$0])[0], format: format) }
  }

  @Test("keeps the most urgent, asks for no other, and says how many it left out")
  func fillsTable() async throws {
    let fixture = try await Fixture([format])
    let progress = await fixture.cache.prefetch(photos(1...100), format: format)
    #expect(progress.loadedCount == 4 && progress.leftOutCount == 96 && progress.isFinished)
    #expect(kept(1...100, in: fixture) == [1, 2, 3, 4])
    #expect(fixture.source.started.value == 4)
    // What an entity has already takes no second slot.
    let again = await fixture.cache.prefetch(photos([1, 1, 2, 3, 4, 4, 5]), format: format)
    #expect(again.loadedCount == 6 && again.leftOutCount == 1)
    #expect(fixture.source.started.value == 4)
  }

  @Test("evicts none of its own that are there, however long they were not used")
  func keepsPresent() async throws {
    let fixture = try await Fixture([format])
    for photo in photos([5, 6, 90, 91]) {
      try await fixture.cache.store(solid(7), for: photo, format: format)
    }
    let progress = await fixture.cache.prefetch(photos([1, 2, 5, 6, 3]), format: format)
    #expect(progress.loadedCount == 4 && progress.leftOutCount == 1)
    #expect(kept(1...100, in: fixture) == [1, 2, 5, 6])
    #expect(fixture.source.started.value == 2)
    let statistics = await fixture.cache.statistics()
    #expect(statistics.hits == 2 && statistics.misses == 2)
  }

  @Test("gives up its least urgent ones that are there, where others hold slots")
  func keepsOrderOfPresent() async throws {
    let format = ImageFormat.row.with(capacity: 20)
    let fixture = try await Fixture([format])
    var held: [CachedImage] = []
    for photo in photos(50..<61) {
      held.append(try await fixture.cache.store(solid(8), for: photo, format: format))
    }
    for photo in photos(9...17) {
      try await fixture.cache.store(solid(7), for: photo, format: format)
    }
    // The first eight take slots before the ninth is looked at again.
    let progress = await fixture.cache.prefetch(photos(1...17), format: format)
    #expect(progress.loadedCount == 9 && progress.leftOutCount == 8 && held.count == 11)
    let kept = (1...17).filter {
      fixture.cache.containsImage(for: photos([$0])[0], format: format)
    }
    #expect(kept == Array(1...9) && fixture.source.started.value == 8)
  }

  @Test("leaves the slots alone that show other images, and not those that show its own")
  func respectsLeases() async throws {
    let (opened, stored) = (Lock<ImageCache?>(nil), Counter())
    let fixture = try await Fixture(
      [format],
      source: ScriptedSource { url, _, _ in
        let number = Int(url.lastPathComponent) ?? 0
        // The third image finds a slot once the tasks of the others have given theirs back, soon after their
        // stores.
        if number == 3 { await stored.reaches(4) }
        while number == 3, let cache = opened.withLock({ $0 }), !Task.isCancelled {
          let statistics = await cache.statistics()
          if statistics.stores == 4, statistics.tables[0].leasedCount == 2 { break }
          await Task.yield()
        }
        return .bitmap(try solid(number))
      })
    opened.withLock { $0 = fixture.cache }
    let events = fixture.cache.events()
    let counting = Task {
      for await event in events { if case .stored = event { stored.increment() } }
      stored.end()
    }
    defer {
      counting.cancel()
      opened.withLock { $0 = nil }
    }
    let mine = try await fixture.cache.store(solid(7), for: photos([4])[0], format: format)
    let other = try await fixture.cache.store(solid(8), for: photos([99])[0], format: format)
    let progress = await fixture.cache.prefetch(photos([1, 2, 3, 4]), format: format)
    // The slot of the fourth is held, so that a place is left for two others.
    #expect(progress.loadedCount == 3 && progress.leftOutCount == 1)
    #expect(fixture.source.started.value <= 3)
    #expect(kept(1...100, in: fixture).contains(99) && mine.solidNumber == 7)
    #expect(other.solidNumber == 8)
  }

  @Test("in a format that this device does not store asks for nothing")
  func respectsDevices() async throws {
    let phone = ImageFormat("p", devices: .phone)
    let fixture = try await Fixture([phone])
    let progress = await fixture.cache.prefetch(photos(1...3), format: phone)
    #expect(progress.leftOutCount == 3 && progress.isFinished)
    #expect(fixture.source.started.value == 0)
  }

  @Test("counts as left out what found all slots held when it came")
  func countsUnkept() async throws {
    let (fixture, gate) = try await Fixture.gated([format])
    let prefetch = Task { await fixture.cache.prefetch(photos(1...3), format: format) }
    await fixture.source.started.reaches(3)
    var held: [CachedImage] = []
    for photo in photos(91...94) {
      held.append(try await fixture.cache.store(solid(7), for: photo, format: format))
    }
    gate.open()
    let progress = await prefetch.value
    #expect(progress.leftOutCount == 3 && progress.loadedCount == 0 && progress.isFinished)
    #expect(held.count == 4)
  }
}
