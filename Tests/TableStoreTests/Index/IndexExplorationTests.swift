import TestSupport
import Testing

@testable import TableStore

@Suite("A table index, played against a plain model,", .timeLimit(.wholeRun))
struct IndexExplorationTests {
  /// All events of a table of two slots and three entities that differ in effect.
  private static let alphabet: [IndexEvent] = [
    .store(entity: 0, version: 0), .store(entity: 1, version: 0), .store(entity: 2, version: 0),
    .store(entity: 0, version: 1), .unclaim(entity: 1), .look(entity: 0, version: 0),
    .look(entity: 1, version: 0), .release(0, fromNewest: false), .release(0, fromNewest: true),
    .remove(entity: 0), .markStale(entity: 0), .lookAny(entity: 0), .reopen, .resume,
    .spoil(entity: 0),
    .storeUnverified(entity: 1, version: 0),
  ]

  /// Plays every sequence of so many events, and returns the first after which the two disagree.
  private func explore(length: Int, capacity: Int, _ plant: IndexPlay.Plant) -> String? {
    let count = (0..<length).reduce(1) { product, _ in product * Self.alphabet.count }
    for number in 0..<count {
      var play = IndexPlay(capacity: capacity, plant: plant)
      var rest = number
      var events: [IndexEvent] = []
      for _ in 0..<length {
        let event = Self.alphabet[rest % Self.alphabet.count]
        rest /= Self.alphabet.count
        events.append(event)
        if let problem = play.apply(event) { return "\(problem) after \(events)" }
      }
    }
    return nil
  }

  @Test("agrees with it after every sequence of four events", arguments: [1, 2])
  func agreesAfterAllSequences(capacity: Int) {
    #expect(explore(length: 4, capacity: capacity, .none) == nil)
  }

  @Test(
    "agrees with it over long random histories",
    arguments: [(UInt64(1), 1), (2, 2), (3, 5), (4, 12), (5, 16)])
  func agreesOverHistories(seed: UInt64, capacity: Int) {
    var random = SplitMix64(state: seed)
    var play = IndexPlay(capacity: capacity)
    for step in 0..<6_000 {
      let entity = Int.random(in: 0..<(capacity * 2), using: &random)
      let version = Int.random(in: 0..<2, using: &random)
      let index = Int.random(in: 0..<max(1, play.leaseCount), using: &random)
      let event: IndexEvent =
        switch Int.random(in: 0..<28, using: &random) {
        case 0..<6: .store(entity: entity, version: version)
        case 6: .storeUnverified(entity: entity, version: version)
        case 7: .unclaim(entity: entity)
        case 8..<14: .look(entity: entity, version: version)
        case 14..<20: .release(index, fromNewest: false)
        case 20: .reopen
        case 21: .resume
        case 22: .spoil(entity: entity)
        case 23..<25: .markStale(entity: entity)
        case 25..<27: .lookAny(entity: entity)
        default: .remove(entity: entity)
        }
      if let problem = play.apply(event) {
        Issue.record("\(problem) after \(event), step \(step)")
        return
      }
    }
  }

  @Test(
    "is found out when it ignores leases, removals or marks, or when a mark is a removal",
    arguments: [IndexPlay.Plant.leasesIgnored, .removalsIgnored, .marksIgnored, .marksRemove])
  func findsPlantedFaults(plant: IndexPlay.Plant) {
    #expect(explore(length: 4, capacity: 2, plant) != nil)
  }

  @Test(
    "is found out when a hit counts as no use, or only until the file is closed",
    arguments: [IndexPlay.Plant.none, .usesIgnored, .orderForgotten])
  func findsIgnoredUses(plant: IndexPlay.Plant) {
    var play = IndexPlay(capacity: 2, plant: plant)
    let release = IndexEvent.release(0, fromNewest: false)
    let problems = [
      .store(entity: 0, version: 0), release, .store(entity: 1, version: 0), release,
      .look(entity: 0, version: 0), release, .reopen, .store(entity: 2, version: 0),
    ].compactMap { play.apply($0) }
    #expect(problems.isEmpty == (plant == .none))
  }
}
