import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A shelf of partials", .timeLimit(.minutes(10)))
struct PartialShelfTests {
  private func name(_ number: Int, _ audience: Audience = .everyone) -> OriginalName {
    OriginalName(id: ImageID("original \(number)"), audience: audience)
  }

  private func terms(total: Int, _ fields: [String: String] = [:]) -> OriginalTerms {
    let head = ["ETag": #""x""#, "Content-Length": "\(total)"].merging(fields) { $1 }
    return OriginalTerms(fields: head, received: Date(timeIntervalSince1970: 784_112_000))
  }

  private func arrival(_ count: Int, of total: Int, _ fields: [String: String] = [:]) -> Arrival {
    let bytes = Data(repeating: UInt8(truncatingIfNeeded: count), count: count)
    let terms = terms(total: total, fields)
    return Arrival(
      terms, continuing: KnownOriginal(terms: terms, bytes: bytes, isWhole: false),
      byteCountLimit: count)
  }

  /// What a load finds that begins now.
  private func take(_ name: OriginalName, from shelf: PartialShelf) -> KnownOriginal? {
    let (load, known) = shelf.begin(name, of: 0)
    shelf.end(load, keeping: nil)
    return known
  }

  private func put(
    _ arrival: Arrival, as name: OriginalName, of entity: ImageID = 0, on shelf: PartialShelf
  ) {
    shelf.end(shelf.begin(name, of: entity).load, keeping: arrival)
  }

  @Test("hands out what it has once, to the account that it is from")
  func taking() throws {
    let shelf = PartialShelf(room: 100)
    put(arrival(10, of: 20), as: name(1, Audience("a")), on: shelf)
    #expect(take(name(1), from: shelf) == nil)
    #expect(take(name(2, Audience("a")), from: shelf) == nil && shelf.byteCount == 10)
    let partial = try #require(take(name(1, Audience("a")), from: shelf))
    #expect(partial.bytes == Data(repeating: 10, count: 10) && !partial.isWhole)
    #expect(partial.terms.entityTag == #""x""#)
    #expect(take(name(1, Audience("a")), from: shelf) == nil && shelf.byteCount == 0)
  }

  @Test("gives the partials of an entity, and those of loads under way, to another id")
  func changingEntity() {
    let shelf = PartialShelf(room: 100)
    put(arrival(10, of: 20), as: name(1), of: "a", on: shelf)
    let (load, other) = (shelf.begin(name(2), of: "a").load, shelf.begin(name(3), of: "a").load)
    shelf.changeEntity(from: "a", to: "b")
    shelf.remove(.entity("a"))
    #expect(shelf.byteCount == 10)
    shelf.end(other, keeping: arrival(10, of: 20))
    #expect(shelf.byteCount == 20)
    shelf.remove(.entity("b"))
    shelf.end(load, keeping: arrival(10, of: 20))
    #expect(shelf.byteCount == 0)
  }

  @Test("keeps nothing that cannot be continued")
  func refusing() throws {
    let shelf = PartialShelf(room: 100)
    let arrivals = [
      arrival(10, of: 20, ["ETag": #"W/"x""#]), arrival(10, of: 20, ["Accept-Ranges": "none"]),
      arrival(10, of: 20, ["Content-Length": ""]), arrival(0, of: 20), arrival(21, of: 20),
      arrival(101, of: 200),
    ]
    for (number, arrival) in arrivals.enumerated() {
      put(arrival, as: name(number), on: shelf)
      #expect(take(name(number), from: shelf) == nil && shelf.byteCount == 0, "\(number)")
    }
    put(arrival(100, of: 100), as: name(7), on: shelf)
    #expect(try #require(take(name(7), from: shelf)).isWhole)
  }

  @Test("gives its memory back when it is told to; loads under way may fill it again")
  func trimming() {
    let shelf = PartialShelf(room: 100)
    let memory = TrimmableMemory(
      tables: TableSet([]), source: URLImageSource(), partials: shelf,
      watch: MemoryPressureWatch { _ in })
    for (level, count) in [(MemoryTrim.spare, 10), (.partials, 0), (.pages, 0)] {
      put(arrival(10, of: 20), as: name(1), on: shelf)
      let load = shelf.begin(name(2), of: 0).load
      memory.trim(level)
      #expect(shelf.byteCount == count)
      shelf.end(load, keeping: arrival(10, of: 20))
      #expect(take(name(2), from: shelf) != nil && shelf.byteCount == count)
    }
  }

  @Test("forgets an entity's partials, and all of them, also those of loads under way")
  func removing() {
    let shelf = PartialShelf(room: 100)
    for number in 1...4 {
      put(arrival(10, of: 20), as: name(number), of: number % 2 == 0 ? 2 : 1, on: shelf)
    }
    let loads = [1, 2].map { shelf.begin(name(10), of: $0).load }
    shelf.remove(.entity(1))
    #expect(shelf.byteCount == 20)
    #expect(take(name(3), from: shelf) == nil && take(name(4), from: shelf) != nil)
    shelf.end(loads[0], keeping: arrival(10, of: 20))
    #expect(take(name(10), from: shelf) == nil)
    shelf.end(loads[1], keeping: arrival(10, of: 20))
    #expect(take(name(10), from: shelf) != nil)

    let last = shelf.begin(name(11), of: 1).load
    shelf.remove(.all)
    shelf.end(last, keeping: arrival(10, of: 20))
    #expect(shelf.byteCount == 0 && take(name(2), from: shelf) == nil)
    // The numbers of the partials before are no obstacle.
    put(arrival(10, of: 20), as: name(11), on: shelf)
    #expect(take(name(11), from: shelf) != nil)
  }

  @Test("forgets the partials of one original and of one account, also those of loads under way")
  func removingByName() {
    for removal in [
      Partials.Removal.original(name(1, Audience("a"))), .audience(Audience("a")),
    ] {
      let shelf = PartialShelf(room: 100)
      put(arrival(10, of: 20), as: name(1), on: shelf)
      put(arrival(10, of: 20), as: name(1, Audience("a")), on: shelf)
      let loads = [Audience.everyone, Audience("a")].map { shelf.begin(name(1, $0), of: 0).load }
      for load in loads { shelf.end(load, keeping: arrival(10, of: 20)) }
      let again = [Audience.everyone, Audience("a")].map { shelf.begin(name(1, $0), of: 0).load }
      shelf.remove(removal)
      for load in again { shelf.end(load, keeping: arrival(10, of: 20)) }
      #expect(take(name(1, Audience("a")), from: shelf) == nil)
      #expect(take(name(1), from: shelf) != nil)
    }
  }

  @Test("does what a plain list would do, whatever is begun, ended and removed", arguments: 0..<200)
  func play(seed: UInt64) {
    var random = SplitMix64(state: seed)
    var play = PartialsPlay()
    for _ in 0..<300 {
      play.step(by: &random)
      #expect(play.byteCountsAgree)
    }
  }
}

/// Partials beside a model: a list, with the least recently used partial first.
private struct PartialsPlay {
  private struct Kept {
    let name: OriginalName
    let count: Int
    let entity: ImageID
    let since: ContinuousClock.Instant
  }

  private struct Running {
    let load: Partials.Load
    let name: OriginalName
    let entity: ImageID
    var isRemoved = false
  }

  private let room = 100
  private var partials = Partials(room: 100)
  private var list: [Kept] = []
  private var running: [Running] = []
  private var now = ContinuousClock.now

  private var sum: Int { list.reduce(0) { $0 + $1.count } }

  var byteCountsAgree: Bool { partials.byteCount == sum && sum <= room }

  mutating func step(by random: inout SplitMix64) {
    let entity = ImageID(Int.random(in: 0..<4, using: &random))
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<9: begin(.random(in: 0..<12, using: &random), entity)
    case 9..<17:
      guard !running.isEmpty else { return }
      let index = Int.random(in: 0..<running.count, using: &random)
      let count = Int.random(in: 0...110, using: &random) / Int.random(in: 1...8, using: &random)
      end(running.remove(at: index), count)
    case 17:
      partials.remove(.entity(entity))
      list.removeAll { $0.entity == entity }
      for index in running.indices where running[index].entity == entity {
        running[index].isRemoved = true
      }
    case 18 where Int.random(in: 0..<8, using: &random) == 0:
      partials.remove(.all)
      list = []
      for index in running.indices { running[index].isRemoved = true }
    default: now += .seconds(Int.random(in: 0...200_000, using: &random))
    }
  }

  private mutating func begin(_ number: Int, _ entity: ImageID) {
    let name = OriginalName(id: ImageID("\(number)"), audience: .everyone)
    let (load, known) = partials.begin(name, of: entity, now: now)
    let kept = list.first { $0.name == name && now - $0.since <= Partials.lifetime }
    #expect(known?.bytes.count == kept?.count)
    list.removeAll { $0.name == name }
    running.append(Running(load: load, name: name, entity: entity))
  }

  /// - Parameter count: None is no partial.
  private mutating func end(_ ended: Running, _ count: Int) {
    let terms = OriginalTerms(received: Date(timeIntervalSince1970: 0))
    let partial = KnownOriginal(terms: terms, bytes: Data(count: count), isWhole: false)
    partials.end(ended.load, keeping: count == 0 ? nil : partial, now: now)
    guard count > 0, !ended.isRemoved else { return }
    list.removeAll { $0.name == ended.name }
    guard count <= room else { return }
    list.append(Kept(name: ended.name, count: count, entity: ended.entity, since: now))
    list.removeAll { now - $0.since > Partials.lifetime }
    while sum > room { list.removeFirst() }
  }
}

@Suite("The slot of a load's arrival", .timeLimit(.minutes(10)))
struct ArrivalSlotTests {
  private let terms = OriginalTerms(
    fields: ["ETag": #""x""#, "Content-Length": "4"], received: Date(timeIntervalSince1970: 0))

  private var known: KnownOriginal {
    KnownOriginal(terms: terms, bytes: Data([1, 2]), isWhole: false)
  }

  @Test("has what the load continues until the source begins, and then what arrives")
  func newest() throws {
    let slot = ArrivalSlot(continuing: known)
    var request = ImageSourceRequest(url: URL(fileURLWithPath: "/"), byteCountLimit: 3)
    request.arrivals = slot
    #expect(!request.begin(terms).isContinued)
    let arrival = request.begin(terms, continuing: known)
    #expect(arrival.byteCount == 2 && arrival.isContinued)
    try arrival.append(Data([3]))
    #expect(throws: ImageSourceError.tooLarge(byteCountLimit: 3)) { try arrival.append(Data([4])) }
    #expect(slot.take()?.partial()?.bytes == Data([1, 2, 3]) && slot.take() == nil)
    #expect(slot.receivedByteCount == 1)

    let untouched = ArrivalSlot(continuing: known)
    #expect(untouched.take()?.partial()?.bytes == Data([1, 2]))
    #expect(ArrivalSlot().take() == nil)
  }

  @Test("has nothing after what arrived turned out to be wrong")
  func dropping() throws {
    let slot = ArrivalSlot(continuing: known)
    try slot.begin(terms, continuing: nil, byteCountLimit: 4).append(Data([1, 2, 3]))
    slot.drop()
    #expect(slot.take() == nil && slot.receivedByteCount == 3)
  }
}
