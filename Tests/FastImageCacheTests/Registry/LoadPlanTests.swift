import Testing

@testable import FastImageCache

@Suite("The plan of a load", .timeLimit(.minutes(10)))
struct LoadPlanTests {
  enum Step { case read, recall, ask }
  typealias Steps = [Step]

  /// What may be kept, and the steps under each policy where the network is within reach.
  static let table: [(kept: KeptOriginal?, normal: Steps, revalidate: Steps)] = [
    (KeptOriginal(freshness: .fresh), [.read, .ask], [.recall, .ask]),
    (KeptOriginal(freshness: .stale), [.read, .ask], [.recall, .ask]),
    (
      KeptOriginal(freshness: .mustRevalidate(answersFailures: false)), [.recall, .ask],
      [.recall, .ask]
    ),
    (
      KeptOriginal(freshness: .mustRevalidate(answersFailures: true)), [.recall, .ask],
      [.recall, .ask]
    ),
    (KeptOriginal(freshness: .expired(answersFailures: false)), [.recall, .ask], [.recall, .ask]),
    (KeptOriginal(freshness: .expired(answersFailures: true)), [.recall, .ask], [.recall, .ask]),
    (KeptOriginal(freshness: .fresh, isPlaceholder: true), [.ask], [.ask]),
    (KeptOriginal(freshness: .gone), [.ask], [.ask]),
    (nil, [.ask], [.ask]),
  ]

  @Test("reads, recalls and asks as the table of freshness and policy says", arguments: 0..<9)
  func followsTable(row: Int) {
    let (kept, normal, revalidate) = Self.table[row]
    for (policy, steps) in [(LoadOptions.CachePolicy.useCache, normal), (.revalidate, revalidate)] {
      #expect(LoadPlan(policy, within: .network, kept: kept, need: .network).steps == steps)
      // The network is beyond reach, and so is the server of what has expired.
      let reads = policy == .useCache && kept?.isExpired == true
      #expect(
        LoadPlan(policy, within: .local, kept: kept, need: .local).steps
          == (reads ? [.read, .ask] : steps))
    }
    #expect(LoadPlan(.reload, within: .network, kept: kept, need: .network).steps == [.ask])
  }

  @Test("asks no source beyond the reach of its request", arguments: 0..<9)
  func staysWithinReach(row: Int) {
    let kept = Self.table[row].kept
    let isRead = Self.table[row].normal.first == .read || kept?.isExpired == true
    let reads: Steps = isRead ? [.read] : []
    let beyond: [(LoadOptions.Scope, LoadNeed)] = [
      (.cache, .local), (.cache, .network), (.local, .network),
    ]
    for (scope, need) in beyond {
      let plan = LoadPlan(.useCache, within: scope, kept: kept, need: need)
      #expect(plan.steps == reads && !plan.revalidatesInBackground)
      #expect(!plan.answersFailures && !plan.answersUnreachable)
      #expect(plan.showsStale == (isRead && kept?.freshness != .fresh))
      for policy in [LoadOptions.CachePolicy.revalidate, .reload] {
        #expect(LoadPlan(policy, within: scope, kept: kept, need: need).steps.isEmpty)
      }
    }
  }

  @Test("revalidates behind only what answers although it is stale", arguments: 0..<9)
  func revalidatesStale(row: Int) {
    let kept = Self.table[row].kept
    let isStale = kept?.freshness == .stale
    for policy in [LoadOptions.CachePolicy.useCache, .revalidate, .reload] {
      let plan = LoadPlan(policy, within: .network, kept: kept, need: .network)
      #expect(plan.revalidatesInBackground == (isStale && policy == .useCache))
      let local = LoadPlan(policy, within: .network, kept: kept, need: .local)
      #expect(!local.revalidatesInBackground)
    }
  }

  @Test("lets an original answer for a failed server where its terms say so", arguments: 0..<9)
  func answersFailures(row: Int) {
    let kept = Self.table[row].kept
    let mayAnswer = [
      .mustRevalidate(answersFailures: true), .expired(answersFailures: true),
    ].contains(kept?.freshness)
    for policy in [LoadOptions.CachePolicy.useCache, .revalidate, .reload] {
      let plan = LoadPlan(policy, within: .network, kept: kept, need: .network)
      #expect(plan.answersFailures == (mayAnswer && policy == .useCache))
      #expect(plan.answersUnreachable == (kept?.isExpired == true && policy == .useCache))
    }
  }
}

extension LoadPlan {
  fileprivate var steps: LoadPlanTests.Steps {
    let first: LoadPlanTests.Steps =
      switch original {
      case .read?: [.read]
      case .recall?: [.recall]
      case nil: []
      }
    return first + (asks ? [.ask] : [])
  }
}

extension KeptOriginal {
  fileprivate var isExpired: Bool { if case .expired = freshness { true } else { false } }
}
