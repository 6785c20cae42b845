import Synchronization
import TestSupport
import Testing

@testable import FastImageCache

@Suite("An urgency", .timeLimit(.minutes(10)))
struct UrgencyTests {
  @Test("tells those who observe at that moment, and nobody else", arguments: 1...4)
  func tellsObservers(seed: UInt64) {
    final class Told: Sendable {
      let count = Atomic(0)
    }
    var generator = SplitMix64(state: seed)
    let urgency = Urgency(.low)
    var observers: [(observation: Urgency.Observation, told: Told)] = []
    var former: [Told] = []
    for step in 0..<500 {
      if Int.random(in: 0..<5, using: &generator) < 3 || observers.isEmpty {
        let told = Told()
        observers.append((urgency.observe { told.count.add(1, ordering: .relaxed) }, told))
      } else {
        let left = observers.remove(at: Int.random(in: 0..<observers.count, using: &generator))
        urgency.endObservation(left.observation)
        former.append(left.told)
      }
      let before = (observers.map(\.told) + former).map { $0.count.load(ordering: .relaxed) }
      urgency.set(step % 2 == 0 ? .high : .low)?()
      let after = (observers.map(\.told) + former).map { $0.count.load(ordering: .relaxed) }
      let expected = before.enumerated().map { $0.element + ($0.offset < observers.count ? 1 : 0) }
      #expect(after == expected)
      if after != expected { return }
    }
    #expect(Set(observers.map(\.observation)).count == observers.count)
    // Places are given again: there are no more than there were observers at once.
    #expect(observers.allSatisfy { $0.observation < 400 })
    for observer in observers { urgency.endObservation(observer.observation) }
    #expect(urgency.set(.medium) != nil)
  }
}
