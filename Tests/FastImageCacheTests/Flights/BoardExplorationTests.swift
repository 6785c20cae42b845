import TestSupport
import Testing

@testable import FastImageCache

@Suite("A flight board, played against a plain model,", .timeLimit(.minutes(15)))
struct BoardExplorationTests {
  /// All that can happen to two formats and two versions of one picture, without saying the same
  /// twice.
  private static let alphabet: [BoardEvent] = [
    .join(format: "row", version: 1), .join(format: "dot", version: 1),
    .join(format: "row", version: 2), .leaveOldest, .leaveNewest, .takeNewest,
    .finish(isFetched: true), .finish(isFetched: false), .deliverNewest,
    .storeSiblings(format: "dot"), .retireOldest, .retireNewest, .failOldest,
    .supersede(format: "row", version: 1), .forbid(format: "row"), .remove(format: "row"),
  ]

  /// Plays all sequences that go on from `play`, and returns the first that the two disagree after.
  private func explore(_ play: BoardPlay, _ events: [BoardEvent], length: Int) -> String? {
    guard events.count < length else { return nil }
    for event in Self.alphabet where play.isPossible(event) {
      var next = play
      if let problem = next.apply(event) { return "\(problem) after \(events + [event])" }
      if let problem = explore(next, events + [event], length: length) { return problem }
    }
    return nil
  }

  @Test("agrees with it after every sequence of five events")
  func agreesAfterAllSequences() {
    #expect(explore(BoardPlay(), [], length: 5) == nil)
  }

  @Test("agrees with it over long random histories", arguments: 0..<50)
  func agreesOverHistories(seed: UInt64) {
    var random = SplitMix64(state: seed)
    var play = BoardPlay()
    for step in 0..<400 {
      guard let event = Self.alphabet.randomElement(using: &random) else { return }
      if let problem = play.apply(event) {
        Issue.record("\(problem) after \(event), step \(step)")
        return
      }
    }
  }

  @Test(
    "is found out when it ignores what it must not",
    arguments: [
      BoardPlay.Plant.versionsIgnored, .leavingIgnored, .removalsIgnored, .storesIgnored,
      .fallsIgnored,
    ])
  func findsPlantedFaults(plant: BoardPlay.Plant) {
    #expect(explore(BoardPlay(plant: plant), [], length: 5) != nil)
  }
}
