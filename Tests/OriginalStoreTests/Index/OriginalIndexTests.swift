import TestSupport
import Testing

@testable import OriginalStore

@Suite("The index of originals", .timeLimit(.minutes(8)))
struct OriginalIndexTests {
  @Test(
    "never exceeds a budget that two stores share, and the oldest use of both goes first",
    arguments: [1, 2] as [UInt64])
  func sharedBudget(seed: UInt64) {
    var model = IndexModel(seed: seed)
    for step in 0..<(isOptimized ? 500_000 : 15_000) {
      if let difference = model.step() {
        Issue.record("step \(step): \(difference)")
        return
      }
    }
  }

  @Test("takes at most 96 bytes for each original, however many there are")
  func memory() {
    var index = OriginalIndex()
    var worst = 0.0
    for number in 1...30_000 {
      _ = index.insert(Self.record(number))
      if number >= 10_000, number % 97 == 0 {
        worst = max(worst, Double(index.memoryByteCount) / Double(number))
      }
    }
    #expect(worst <= 96)
    let opened = OriginalIndex((0..<30_000).map { ($0, Self.record($0)) }, now: .max)
    #expect(opened.memoryByteCount <= 96 * 30_000)
  }

  @Test("has the order of the file's last uses, and of two records for one original the later")
  func order() {
    let uses = [5, 2, 9, 7, 1] as [Int64]
    var records = uses.indices.map { (place: $0 * 2, record: Self.record($0, lastUse: uses[$0])) }
    records.append((20, Self.record(1, lastUse: 8)))
    var index = OriginalIndex(records, now: 100)
    var order: [Int64] = []
    while let place = index.oldest(where: { _ in true }) {
      order.append(index[place].lastUse)
      index.remove(place)
    }
    #expect(order == [1, 5, 7, 8, 9])
  }

  @Test("finds the same in hints, whose order nobody needs, as in an owner's index")
  func hints() {
    let uses = [7, 3, 12] as [Int64]
    var records = uses.indices.map { (place: $0, record: Self.record($0, lastUse: uses[$0])) }
    records += [(3, Self.record(1, lastUse: 8)), (4, Self.record(0, lastUse: 2))]
    let hints = OriginalIndex(records, now: 10, isOrdered: false)
    let index = OriginalIndex(records, now: 10)
    let found = uses.indices.map { number in
      hints.place(of: Self.record(number).key).map { hints[$0].lastUse }
    }
    #expect(found == [7, 8, 10])
    for number in uses.indices {
      let key = Self.record(number).key
      #expect(hints.place(of: key) == index.place(of: key))
    }
    #expect(hints.count == 3 && hints.usedByteCount == index.usedByteCount)
    #expect(hints.nextPlace == index.nextPlace)
  }

  @Test(
    "has of each of many originals the record that was used last, and frees the others' places",
    arguments: [true, false])
  func many(isOrdered: Bool) {
    var latest: [Int: (place: Int, use: Int64)] = [:]
    var records: [(place: Int, record: OriginalRecord)] = []
    for place in 0..<3000 where place % 7 != 3 {
      let (number, use) = (place * 7919 % 900, Int64(place * 104_729 % 50))
      records.append((place, Self.record(number, lastUse: use)))
      if latest[number].map({ $0.use < use }) ?? true { latest[number] = (place, use) }
    }
    var index = OriginalIndex(records, now: 100, isOrdered: isOrdered)
    #expect(index.count == latest.count)
    for (number, expected) in latest {
      let record = Self.record(number)
      #expect(index.place(of: record.key) == expected.place)
      #expect(index.places(of: record.entity) == [expected.place])
      #expect(index[expected.place].lastUse == expected.use)
    }
    // Each place is in a list or free, and in one of them only.
    let occupied = Set(latest.values.map(\.place))
    var free: [Int] = []
    for number in 0..<3000 - occupied.count {
      free.append(index.insert(Self.record(5000 + number)))
    }
    #expect(free == (0..<3000).filter { !occupied.contains($0) })
    var left = 0
    while let place = index.oldest(where: { _ in true }) {
      index.remove(place)
      left += 1
    }
    #expect(left == 3000 && index.count == 0 && index.usedByteCount == 0)
  }

  @Test("finds and moves an entity's originals in hints, which have no table of entities")
  func hintsOfEntity() {
    var hints = OriginalIndex(
      [(0, Self.record(1)), (1, Self.record(2)), (2, Self.record(3))], now: 0, isOrdered: false)
    let (old, new) = (Self.record(2).entity, Self.record(3).entity)
    hints.move(1, to: new)
    #expect(hints.places(of: old) == [] && hints.places(of: new) == [1, 2])
    hints.remove(2)
    #expect(hints.places(of: new) == [1])
  }

  @Test("lets partials go first, then what was outgrown, and what was used again as all others")
  func ranks() {
    var index = OriginalIndex()
    let places = (1...4).map { index.insert(Self.record($0, lastUse: Int64($0))) }
    index.outgrow(places[2])
    index.outgrow(places[3])
    var partial = Self.record(5, lastUse: 5)
    partial.flags.insert(.partial)
    let fifth = index.insert(partial)
    #expect(index.oldest { _ in true } == fifth)
    #expect(index.oldest(upTo: .partial) { $0 != fifth } == nil)
    #expect(index.oldest { $0 != fifth } == places[2])
    index.use(places[2], at: 6)
    #expect(index.oldest { $0 != fifth } == places[3])
    #expect(index.oldest { $0 != fifth && $0 != places[3] } == places[0])
  }

  @Test("holds an original and its partial beside each other")
  func partialBesideWhole() {
    var index = OriginalIndex()
    var partial = Self.record(1)
    partial.flags.insert(.partial)
    let places = (index.insert(Self.record(1)), index.insert(partial))
    #expect(index.place(of: partial.key) == places.0)
    #expect(index.place(of: partial.key, isPartial: true) == places.1)
    #expect(index.partialByteCount == 4096)
    #expect(index.usedByteCount == 8192)
  }

  @Test("believes no use that is yet to come, so that nothing is kept for too long")
  func futureUse() {
    let index = OriginalIndex([(0, Self.record(1, lastUse: 1_000))], now: 10)
    #expect(index[0].lastUse == 10)
  }

  @Test("ignores places that no index file has")
  func farPlaces() {
    let index = OriginalIndex([(Int.max, Self.record(1)), (-1, Self.record(2))], now: 0)
    #expect(index.count == 0)
  }

  @Test("uses freed places again, those of the file first")
  func freePlaces() {
    var index = OriginalIndex([(3, Self.record(1))], now: 0)
    #expect(index.insert(Self.record(2)) == 0)
    #expect(index.insert(Self.record(3)) == 1)
    index.remove(0)
    #expect(index.insert(Self.record(4)) == 0)
    #expect(index.insert(Self.record(5)) == 2)
    #expect(index.nextPlace == 4)
  }

  private static func record(_ number: Int, lastUse: Int64 = 0) -> OriginalRecord {
    OriginalRecord(
      key: IndexModel.digest(number), entity: UInt64(number) &* 0x2545_F491_4F6C_DD1D, audience: 0,
      contentHash: 0, byteCount: 100, lastUse: lastUse)
  }
}

/// Whether this build has optimised code, in which a test can take many more steps.
let isOptimized: Bool = {
  var isOptimized = true
  assert({ isOptimized = false }() == ())
  return isOptimized
}()
