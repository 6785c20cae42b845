/// The steps of a program, and what it was promised: each image, or original, by its entity and version.
struct PowerHistory {
  /// One step, and the events that it caused.
  private struct Step {
    let events: Range<Int>
    /// Which version each entity may have afterwards; `nil` is none.
    let changes: [Int: Int?]
  }

  /// What there was when `flush()` returned.
  private struct Promise {
    let event: Int
    let images: [Int: Int]
  }

  private var steps: [Step] = []
  private var promises: [Promise] = []
  private(set) var present: [Int: Int] = [:]

  mutating func note(_ changes: [Int: Int?], events: Range<Int>) {
    steps.append(Step(events: events, changes: changes))
    for (entity, version) in changes { present[entity] = version }
  }

  mutating func promise(at event: Int) {
    promises.append(Promise(event: event, images: present))
  }

  /// The images that must be there, and those that may be, when the power goes after so many
  /// events.
  func expectation(at cut: Int) -> PowerExpectation {
    let promise = promises.last { $0.event <= cut }
    let since = promise?.event ?? 0
    var expectation = PowerExpectation(promised: promise?.images ?? [:])
    for step in steps where step.events.upperBound > since && step.events.lowerBound < cut {
      for (entity, version) in step.changes { expectation.allow(version, of: entity) }
    }
    return expectation
  }
}

/// The images that may show after the power went.
struct PowerExpectation {
  private let promised: [Int: Int]
  private var changed: [Int: Set<Int>] = [:]

  init(promised: [Int: Int]) { self.promised = promised }

  mutating func allow(_ version: Int?, of entity: Int) {
    changed[entity, default: []].formUnion(version.map { [$0] } ?? [])
  }

  /// True for promised images, and those stored since.
  func allows(_ image: ImageVersion) -> Bool {
    promised[image.entity] == image.version
      || changed[image.entity]?.contains(image.version) ?? false
  }

  /// The promised images that no step has touched since.
  var covered: [ImageVersion] {
    promised.filter { changed[$0.key] == nil }.map {
      ImageVersion(entity: $0.key, version: $0.value)
    }
  }
}
