import TestSupport
import Testing

@testable import TableStore

@Suite("A table used by many tasks", .timeLimit(.wholeRun))
struct ConcurrencyTests {
  @Test("never changes a leased image, however many are evicted around it")
  func keepsLeasesUnderEviction() async throws {
    let fixture = try Fixture()
    let table = try fixture.open(slots: 6)
    let sealed = try (0..<12).map { entity in
      try (0..<2).map { try table.sealed(key(entity, $0)) }
    }
    let stored = Counter()
    let shown = Counter()
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          var random = SplitMix64(state: UInt64(task))
          var held: [(TableKey, TableEntry)] = []
          for _ in 0..<400 {
            let entity = Int.random(in: 0..<12, using: &random)
            let version = Int.random(in: 0..<2, using: &random)
            let wanted = key(entity, version)
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<3:
              // All slots may be leased at the moment, which this test does not care about.
              if let entry = try? table.insert(sealed[entity][version]).entry {
                held.append((wanted, entry))
                stored.increment()
              }
            case 3..<6:
              if let entry = table.entry(for: wanted) { held.append((wanted, entry)) }
            case 6:
              _ = try? table.remove(wanted.entity)
            default:
              if let image = held.randomElement(using: &random) {
                #expect(image.1.shows(image.0))
                shown.increment()
              }
            }
            if held.count > 1 {
              let (key, entry) = held.removeFirst()
              #expect(entry.shows(key))
            }
          }
        }
      }
    }
    // The table was really used: stores succeeded and images were leased.
    #expect(stored.value > 100)
    #expect(shown.value > 20)
    #expect(table.statistics.leasedCount == 0)
    #expect(table.verify().isEmpty)
  }

  @Test("verifies an image of an earlier session for several tasks at once")
  func verifiesConcurrently() async throws {
    let fixture = try Fixture()
    var table = try fixture.open()
    for entity in 0..<8 { try table.store(key(entity)) }
    table = try fixture.reopen(table)
    let reopened = table
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for entity in 0..<8 {
            #expect(reopened.entry(for: key(entity))?.shows(key(entity)) == true)
          }
        }
      }
    }
    #expect(reopened.statistics.leasedCount == 0)
    #expect(reopened.statistics.unverifiedCount == 0)
  }

  @Test("lets readers go on while it is emptied, flushed and closed")
  func toleratesUpkeep() async throws {
    let fixture = try Fixture()
    let table = try fixture.open(slots: 4)
    let sealed = try (0..<6).map { try table.sealed(key($0)) }
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<3 {
        group.addTask {
          for round in 0..<300 {
            let wanted = (round + task) % 6
            if let entry = table.entry(for: key(wanted)) { #expect(entry.shows(key(wanted))) }
          }
        }
      }
      group.addTask {
        for round in 0..<200 {
          // Once the table is closed the stores fail, which is as it should be.
          _ = try? table.insert(sealed[round % 6])
          if round % 20 == 0 { try? table.removeAll() }
          if round % 7 == 0 { try? table.flush() }
          if round == 190 { table.close() }
        }
      }
    }
    #expect(table.entry(for: key(0)) == nil)
  }
}
