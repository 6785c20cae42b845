import TestSupport
import Testing

@testable import FastImageCache

@Suite("A load registry, played against a plain model,", .timeLimit(.minutes(15)))
struct RegistryExplorationTests {
  /// All that can happen to two formats and two versions of one image, without saying the same
  /// twice.
  private static let alphabet: [RegistryEvent] = [
    .join(format: "row", version: 1), .join(format: "dot", version: 1),
    .join(format: "row", version: 2), .leaveOldest, .leaveNewest, .takeNewest,
    .finish(isFetched: true), .finish(isFetched: false), .deliverNewest,
    .retireOldest, .retireNewest, .failOldest,
    .supersede(format: "row", version: 1), .remove(format: "row"),
  ]

  /// All that can happen to requests that want more than usual, or for another account.
  private static let strengths: [RegistryEvent] = [
    .join(format: "row", version: 1), .join(format: "row", version: 1, policy: .revalidate),
    .join(format: "row", version: 1, policy: .reload),
    .join(format: "row", version: 1, audience: 1),
    .join(format: "row", version: 1, audience: RegistryModel.kept),
    .join(format: "dot", version: 1, policy: .reload, audience: 1), .askNewest, .deliverNewest,
    .retireNewest, .retireOldest, .failOldest, .leaveNewest,
    .keepOldest, .keepNewest, .removeOriginals, .remove(format: "row"),
  ]

  /// All that can happen to two entities of one address with versions of their own.
  private static let versions: [RegistryEvent] = [
    .join(format: "row", version: 1), .join(format: "row", version: 1, isExplicit: true),
    .join(format: "row", version: 2, entity: "b", isExplicit: true),
    .join(format: "dot", version: 1, entity: "b", isExplicit: true),
    .join(format: "row", version: 2, policy: .revalidate, entity: "b", isExplicit: true),
    .askNewest, .deliverNewest, .retireNewest, .retireOldest, .failOldest, .leaveNewest,
    .leaveOldest, .remove(format: "row"),
  ]

  /// All that can happen to the priority of subscribers.
  private static let priorities: [RegistryEvent] = [
    .join(format: "row", version: 1), .join(format: "dot", version: 1),
    .join(format: "row", version: 1, policy: .reload), .moveOldest(.background),
    .moveOldest(.high), .moveNewest(.low), .moveNewest(.high), .escalateNewest(.medium),
    .escalateNewest(.high), .leaveOldest, .leaveNewest, .deliverNewest, .failOldest,
    .supersede(format: "row", version: 1),
  ]

  /// Plays all sequences that go on from `play`, and returns the first that the two disagree after.
  private func explore(
    _ play: RegistryPlay, _ alphabet: [RegistryEvent], _ events: [RegistryEvent] = [],
    length: Int = 5
  ) -> String? {
    guard events.count < length else { return nil }
    for event in alphabet where play.isPossible(event) {
      var next = play
      if let problem = next.apply(event) { return "\(problem) after \(events + [event])" }
      if let problem = explore(next, alphabet, events + [event], length: length) { return problem }
    }
    return nil
  }

  @Test("agrees with it after every sequence of five events")
  func agreesAfterAllSequences() {
    #expect(explore(RegistryPlay(), Self.alphabet) == nil)
  }

  @Test("agrees with it after every sequence of five events of policies and audiences")
  func agreesAfterAllStrengths() {
    #expect(explore(RegistryPlay(), Self.strengths) == nil)
  }

  @Test("agrees with it after every sequence of five events of explicit versions")
  func agreesAfterAllVersions() {
    #expect(explore(RegistryPlay(), Self.versions) == nil)
    #expect(explore(RegistryPlay(plant: .explicitIgnored), Self.versions) != nil)
  }

  @Test("agrees with it after every sequence of five events of priorities")
  func agreesAfterAllPriorities() {
    #expect(explore(RegistryPlay(), Self.priorities) == nil)
  }

  @Test("agrees with it over long random histories", arguments: 0..<50)
  func agreesOverHistories(seed: UInt64) {
    var random = SplitMix64(state: seed)
    var play = RegistryPlay()
    let alphabet = Self.alphabet + Self.strengths + Self.versions + Self.priorities
    for step in 0..<400 {
      guard let event = alphabet.randomElement(using: &random) else { return }
      if let problem = play.apply(event) {
        Issue.record("\(problem) after \(event), step \(step)")
        return
      }
    }
  }

  @Test(
    "is found out when it ignores what it must not",
    arguments: [
      RegistryPlay.Plant.versionsIgnored, .leavingIgnored, .removalsIgnored, .fallsIgnored,
    ])
  func findsPlantedFaults(plant: RegistryPlay.Plant) {
    #expect(explore(RegistryPlay(plant: plant), Self.alphabet) != nil)
  }

  @Test(
    "is found out when it joins whom it must not",
    arguments: [
      RegistryPlay.Plant.policiesIgnored, .askingIgnored, .audiencesIgnored, .lostOriginalsIgnored,
      .keptIgnored,
    ])
  func findsWrongJoins(plant: RegistryPlay.Plant) {
    #expect(explore(RegistryPlay(plant: plant), Self.strengths) != nil)
  }

  @Test(
    "is found out when its subscribers are not as urgent as they must be",
    arguments: [
      RegistryPlay.Plant.fallsIgnored, .movesIgnored, .escalationsIgnored, .escalationsForgotten,
    ])
  func findsWrongPriorities(plant: RegistryPlay.Plant) {
    #expect(explore(RegistryPlay(plant: plant), Self.priorities) != nil)
  }
}
