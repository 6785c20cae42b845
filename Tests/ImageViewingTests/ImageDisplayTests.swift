import TestSupport
import Testing

@testable import ImageViewing

@Suite("What a place on screen shows, played")
struct ImageDisplayTests {
  /// Every course of five events from a fresh place.
  @Test func everyCourse() {
    var count = 0
    func play(_ screen: Screen, _ depth: Int) {
      for act in Act.allCases {
        var next = screen
        next.perform(act)
        count += 1
        if let fault = next.fault {
          Issue.record("\(fault) after \(next.course)")
          return
        }
        if depth > 1 { play(next, depth - 1) }
      }
    }
    play(Screen(), 5)
    #expect(count > 500_000)
  }

  /// Longer courses, so that turns of many requests are under way.
  @Test(arguments: 1...200) func longCourses(seed: UInt64) {
    var random = SplitMix64(state: seed)
    var screen = Screen()
    for _ in 0..<300 {
      screen.perform(Act.allCases.randomElement(using: &random) ?? .appear)
      guard screen.fault == nil else { break }
    }
    #expect(screen.fault == nil, "\(screen.course)")
  }
}

/// A target without a cache: an entity, and a version of its image.
private struct Wanted: DisplayTarget {
  let entity: Int
  let version: Int
  func isOfSameImage(as other: Wanted) -> Bool { entity == other.entity }
}

private enum Act: CaseIterable {
  case wantA1, wantA2, wantB, wantNothing, giveA2
  case appear, disappear
  /// Answers of the load under way, and of one that was given up.
  case preview, load, verify, fail, loadLate, previewLate, failLate
  case storeA1, empty, recover

  var target: Wanted? {
    switch self {
    case .wantA1: Wanted(entity: 1, version: 1)
    case .wantA2, .giveA2: Wanted(entity: 1, version: 2)
    case .wantB: Wanted(entity: 2, version: 1)
    default: nil
    }
  }
}

private enum Seen: Equatable {
  case nothing, placeholder, failure
  case preview(Wanted)
  case image(Wanted, isLate: Bool)

  var rank: Int {
    switch self {
    case .nothing: 0
    case .placeholder, .failure: 1
    case .preview: 2
    case .image: 3
    }
  }

  var target: Wanted? {
    switch self {
    case .preview(let target), .image(let target, _): target
    default: nil
    }
  }
}

/// The place as an adapter would play it, and the first fault that somebody who looks could see.
private struct Screen {
  private var show = ImageDisplay<Wanted>()
  private var table: Set<Wanted> = []
  private var target: Wanted?
  private var isVisible = false
  private var seen = Seen.nothing
  /// The load under way, and one that was given up and may answer all the same.
  private var loading: (turn: Int, target: Wanted)?
  private var late: (turn: Int, target: Wanted)?
  /// How often the table had changed when the load under way began.
  private var loadedAfter = 0
  private var changeCount = 0
  /// What the next step shows.
  private var brought: Wanted?
  private(set) var shown: [Seen] = []
  private(set) var lookCount = 0
  private(set) var course: [Act] = []
  private(set) var fault: String?

  mutating func perform(_ act: Act) {
    course.append(act)
    let (before, shownBefore) = (seen, shown.count)
    let looksBefore = lookCount
    switch act {
    case .wantA1, .wantA2, .wantB, .wantNothing:
      let isSame = act.target == target
      target = act.target
      report(.wanted(act.target))
      if isSame, lookCount > looksBefore || seen != before { fault = "The same target begins anew" }
    case .giveA2:
      (target, brought) = (act.target, act.target)
      if let target { report(.given(target)) }
      if isVisible, seen.rank < 3 || loading != nil {
        fault = "An image that is given is not shown"
      }
    case .appear:
      isVisible = true
      report(.appeared)
    case .disappear:
      isVisible = false
      report(.disappeared)
    case .preview: if let loading { answer(loading, .previewed(loading.turn)) }
    case .load:
      if let answered = loading {
        loading = nil
        answer(answered, .loaded(answered.turn))
        if seen != .image(answered.target, isLate: true) {
          fault = "A loaded image is not shown"
        }
      }
    case .verify:
      if let answered = loading {
        loading = nil
        answer(answered, .verified(answered.turn))
        if seen != .image(answered.target, isLate: false) { fault = "A verified image is late" }
        // Where nobody waits, it changes nothing.
        report(.verified(answered.turn))
      }
    case .fail:
      if let answered = loading {
        loading = nil
        answer(answered, .failed(answered.turn))
      }
    case .loadLate: if let late { answer(late, .loaded(late.turn)) }
    case .previewLate: if let late { answer(late, .previewed(late.turn)) }
    case .failLate: if let late { answer(late, .failed(late.turn)) }
    case .storeA1: change { $0.insert(Wanted(entity: 1, version: 1)) }
    case .empty: change { $0 = [] }
    case .recover: report(.recovered)
    }
    let isLateAct = [.loadLate, .previewLate, .failLate].contains(act)
    if isLateAct, seen != before { fault = "An answer that nobody waits for is shown" }
    if shown.count > shownBefore + 1 { fault = "Something flashes" }
    if lookCount > looksBefore + 1 { fault = "The cache is asked twice" }
    check(before, looked: lookCount > looksBefore)
  }

  private mutating func change(_ body: (inout Set<Wanted>) -> Void) {
    body(&table)
    changeCount += 1
    let looksBefore = lookCount
    report(.changed)
    if isVisible, target != nil, lookCount == looksBefore { fault = "A change is not looked at" }
  }

  private mutating func check(_ before: Seen, looked: Bool) {
    guard isVisible, let target else {
      if seen != .nothing { fault = "A hidden or empty place shows something" }
      if loading != nil { fault = "A hidden or empty place loads" }
      return
    }
    if seen == .nothing { fault = "A place shows nothing" }
    if let other = seen.target, other.entity != target.entity { fault = "The wrong image" }
    if looked, table.contains(target), seen != .image(target, isLate: false) {
      fault = "A hit is not shown at once"
    }
    if let old = before.target, old.entity == target.entity, seen.rank < before.rank {
      fault = "Something worse is shown than before"
    }
    if let loading, loading.target != target { fault = "The load is of another image" }
    if loading != nil, loadedAfter < changeCount { fault = "A load is from before a change" }
  }

  private mutating func answer(
    _ load: (turn: Int, target: Wanted), _ event: ImageDisplay<Wanted>.Event
  ) {
    brought = load.target
    report(event)
  }

  private mutating func report(_ event: ImageDisplay<Wanted>.Event) {
    for step in show.handle(event) { take(step) }
  }

  private mutating func take(_ step: ImageDisplay<Wanted>.Step) {
    switch step {
    case .look:
      lookCount += 1
      let isThere = target.map(table.contains) ?? false
      if isThere { brought = target }
      report(.looked(isThere: isThere))
    case .load(let turn):
      if loading != nil { fault = "Two loads at once" }
      loading = target.map { (turn, $0) }
      loadedAfter = changeCount
    case .cancel:
      if loading == nil { fault = "Nothing is there to be given up" }
      (late, loading) = (loading, nil)
    case .showImage(let isLate): see(brought.map { .image($0, isLate: isLate) } ?? .nothing)
    case .showPreview: see(brought.map { .preview($0) } ?? .nothing)
    case .showPlaceholder:
      if seen == .placeholder { fault = "The placeholder is shown twice" }
      see(.placeholder)
    case .showFailure: see(.failure)
    case .clear: seen = .nothing
    }
  }

  private mutating func see(_ new: Seen) {
    seen = new
    shown.append(new)
  }
}
