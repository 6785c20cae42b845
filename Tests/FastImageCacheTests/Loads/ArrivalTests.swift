import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A request for many images", .timeLimit(.minutes(10)))
struct ArrivalTests {
  /// A source whose every image waits at a gate of its own.
  private func source(
    _ gates: [CancellableGate], _ order: Order = Order()
  ) -> ScriptedSource {
    ScriptedSource { url, _, _ in
      let number = Int(url.lastPathComponent) ?? 0
      order.note("\(number)")
      try await gates[number].pass()
      return .bitmap(try solid(number))
    }
  }

  @Test("gives them in the order of their arrival, and counts")
  func ordersByArrival() async throws {
    let gates = (0..<3).map { _ in CancellableGate() }
    let fixture = try await Fixture(source: source(gates))
    let (photos, read) = (photos(0..<3), Counter())
    let reader = Task {
      var texts: [String] = []
      for await arrival in fixture.cache.images(for: photos, format: .row) {
        let number = try arrival.result.get().solidNumber ?? -1
        #expect(arrival.entity.id == ImageID(number) && arrival.index == number)
        texts.append("\(number): \(arrival.completedCount) of \(arrival.totalCount)")
        read.increment()
      }
      return texts
    }
    await fixture.source.started.reaches(3)
    for (count, number) in [2, 0, 1].enumerated() {
      gates[number].open()
      await read.reaches(count + 1)
    }
    #expect(try await reader.value == ["2: 1 of 3", "0: 2 of 3", "1: 3 of 3"])
  }

  @Test("gives each error to its own entity and goes on")
  func tellsErrors() async throws {
    struct Broken: Error {}
    let fixture = try await Fixture(
      source: ScriptedSource { url, _, _ in
        guard url.lastPathComponent != "1" else { throw Broken() }
        return .bitmap(try solid(7))
      })
    var failed: [Int] = []
    for await arrival in fixture.cache.images(for: photos(0..<3), format: .row) {
      if case .failure(.sourceFailed(_, underlying: is Broken)) = arrival.result {
        failed.append(arrival.index)
      } else {
        #expect(try arrival.result.get().solidNumber == 7)
      }
    }
    #expect(failed == [1])
    var errors: [ImageCacheError?] = []
    for await arrival in fixture.cache.images(for: photos(0..<3), format: .large) {
      if case .failure(let error) = arrival.result { errors.append(error) }
    }
    #expect(errors == Array(repeating: .unknownFormat("large"), count: 3))
    await fixture.cache.close()
    for await arrival in fixture.cache.images(for: photos(0..<20), format: .row) {
      #expect(arrival.result == .failure(.closed))
    }
  }

  @Test("gives those in the table at once, in one turn of the reader's actor")
  @MainActor
  func givesHitsAtOnce() async throws {
    let fixture = try await Fixture(source: ScriptedSource(gate: CancellableGate()))
    let photos = photos(0..<4)
    for number in [1, 3] {
      try await fixture.cache.store(solid(number), for: photos[number], format: .row)
    }
    let turns = Counter()
    Task { @MainActor in turns.increment() }
    var found: [Int] = []
    for await arrival in fixture.cache.images(for: photos, format: .row) {
      found.append(arrival.index)
      if found.count == 2 { break }
    }
    #expect(found == [1, 3] && turns.value == 0)
    // The loads of the others had begun, and ended with the loop.
    #expect(await fixture.cache.statistics().misses == 2)
    await fixture.subscribers(0)
    await fixture.quiet()
  }

  @Test("ends for each copy of its iterator that waits when the last one has come")
  @MainActor
  func endsForCopies() async throws {
    let gate = CancellableGate()
    let fixture = try await Fixture(source: source([gate]))
    let iterator = fixture.cache.images(for: photos(0..<1), format: .row).makeAsyncIterator()
    let begun = Counter()
    let readers = (0..<2).map { _ in
      Task { @MainActor in
        var copy = iterator
        begun.increment()
        return await copy.next(isolation: MainActor.shared)?.index
      }
    }
    // On this actor, so both wait.
    await begun.reaches(2)
    gate.open()
    var indexes: [Int?] = []
    for reader in readers { indexes.append(await reader.value) }
    #expect(indexes == [0, nil])
    withExtendedLifetime(iterator) {}
  }

  @Test("takes entities of several types, any sequence, and one entity twice")
  func takesAll() async throws {
    let fixture = try await Fixture()
    let (photo, url) = (Photo("a", url: "test:/1"), URL(fileURLWithPath: "/pictures/2"))
    for await arrival in fixture.cache.images(for: [photo, url], format: .row) {
      #expect(try arrival.result.get().solidNumber == arrival.index + 1)
    }
    let several: [any ImageEntity] = [photo, url]
    for await arrival in fixture.cache.images(for: several.reversed(), format: .row) {
      #expect(try arrival.result.get().solidNumber == 2 - arrival.index)
    }
    for await _ in fixture.cache.images(for: [], format: .row) { Issue.record("Nothing came.") }
    var indexes: Set<Int> = []
    for await arrival in fixture.cache.images(for: [photo, photo], format: .row) {
      indexes.insert(arrival.index)
    }
    #expect(indexes == [0, 1] && fixture.source.started.value == 2)
  }

  @Test("ends all its loads when the loop is left, cancelled or never entered")
  func endsLoads() async throws {
    let gates = (0..<8).map { _ in CancellableGate() }
    gates[0].open()
    let fixture = try await Fixture(source: source(gates)) {
      $0.resources = LoadResources(localWidth: 8)
    }
    let photos = photos(0..<8)
    do {
      let unread = fixture.cache.images(for: photos, format: .row)
      withExtendedLifetime(unread.makeAsyncIterator()) {}
    }
    #expect(await fixture.cache.statistics().misses == 0)

    let leaver = Task {
      for await _ in fixture.cache.images(for: photos, format: .row) {
        await fixture.source.started.reaches(8)
        break
      }
      await fixture.source.cancelled.reaches(7)
    }
    await leaver.value
    await fixture.subscribers(0)
    await fixture.quiet()

    let read = Counter()
    let reader = Task {
      for await _ in fixture.cache.images(for: photos, format: .row) { read.increment() }
    }
    await fixture.source.started.reaches(15)
    reader.cancel()
    await reader.value
    #expect(read.value == 1)
    await fixture.subscribers(0)
    await fixture.quiet()
  }

  @Test("gives no image after a cancellation, even if it has arrived, and releases those unread")
  func endsWithCancellation() async throws {
    let fixture = try await Fixture()
    let (photos, read, busy) = (photos(0..<4), Counter(), Gate())
    let arrivals = fixture.cache.images(for: photos, format: .row)
    let reader = Task {
      for await _ in arrivals {
        read.increment()
        await busy.pass()
      }
    }
    await read.reaches(1)
    await fixture.quiet()
    reader.cancel()
    busy.open()
    await reader.value
    #expect(read.value == 1)
    #expect(await fixture.cache.statistics().tables[0].leasedCount == 0)
  }

  @Test("loads no more for a slow reader than half of its table holds")
  func waitsForReader() async throws {
    let format = ImageFormat.row.with(capacity: 8)
    let fixture = try await Fixture([format])
    let (photos, read, busy) = (photos(0..<20), Counter(), Gate())
    let reader = Task {
      for await arrival in fixture.cache.images(for: photos, format: format) {
        let image = try arrival.result.get()
        #expect(!image.isPrivate)
        read.increment()
        await busy.pass()
      }
    }
    await read.reaches(1)
    await fixture.source.started.reaches(5)
    await fixture.quiet()
    #expect(fixture.source.started.value == 5)
    // Four that nobody has read; the reader may have one more in its hand.
    #expect(await (4...5).contains(fixture.cache.statistics().tables[0].leasedCount))
    busy.open()
    try await reader.value
    #expect(read.value == 20 && fixture.source.started.value == 20)
  }

  @Test("loads at the priority of its reader")
  func hasPriority() async throws {
    let (gate, order, noted) = (CancellableGate(), Order(), Counter())
    let fixture = try await Fixture(
      source: ScriptedSource { _, _, _ in
        order.note("\(Task.currentPriority == .low)")
        noted.increment()
        try await gate.pass()
        return .bitmap(try solid(1))
      })
    let photos = photos(0..<1)
    let reader = Task(priority: .low) {
      for await _ in fixture.cache.images(for: photos, format: .row) {}
    }
    // Not the task's value, which would raise its priority.
    await noted.reaches(1)
    #expect(order.notes == ["true"])
    gate.open()
    await reader.value
  }
}
