import FastImageCache
import Locking

/// The specification: which pictures a request may show.
///
/// A picture was the newest of its subject until an end: until the source had another one; a picture by hand, until it
/// was stored. **A request shows no picture that ended before a horizon**, the last event that its reader may count on:
///
/// | event, when it has returned | the horizon of |
/// |---|---|
/// | a removal of images | the images that it names |
/// | a removal of originals | the originals that it names |
/// | an answer that asked the source (`.reload`, `.revalidate`, `refresh`) and was stored | the image, and its original |
/// | a mark of what is stale | the entity's images and their originals |
/// | a picture by hand | the image, and its original |
/// | another explicit version | the images in that version |
/// | a picture that is shown, and stands in its table | the image |
///
/// An image that is not in its table is drawn from its original, where one is kept: so with a store of originals a request
/// may show what either horizon allows, and goes on showing it when the original is removed. An original belongs to all entities of its address and account; where there are
/// several, the removal of one entity's images does not reach another's original. A moved entity counts as two for a while:
/// a request of its former id that comes after the move may keep an original under that id.
///
/// Events count from the moment at which they were asked for: what a source had then is the oldest that may be shown
/// afterwards. What is asked of a source that fails or lies counts for nothing.
final class Model: Sendable {
  /// An entity's image in a format, under one of its ids.
  struct Line: Hashable {
    let entity: Int
    var generation: Int
    let format: String

    init(_ entity: PlayEntity, _ format: ImageFormat) {
      (self.entity, generation) = (entity.number, entity.generation)
      self.format = format.name
    }
  }

  /// An address's original, for one account.
  struct Source: Hashable {
    let subject: Int
    let account: Int
  }

  /// What a picture by hand was stored for.
  private struct Hand {
    let entity: Int
    let source: Source
    let keepsOriginal: Bool
  }

  /// The time of an event, and its name.
  struct Event: Sendable {
    static let none = Event(time: 0, name: "the beginning")

    let time: Int
    let name: String

    static func newer(_ one: Event?, _ other: Event?) -> Event {
      let (one, other) = (one ?? .none, other ?? .none)
      return one.time >= other.time ? one : other
    }
  }

  /// What a request may count on: read before it begins.
  struct Horizon: Sendable {
    let image: Event
    /// `nil` where nothing is kept beside images.
    let original: Event?
    let version: Event
    /// Of the original's own bytes, which a mark leaves where they are.
    var bytes = Event.none

    var oldest: Event {
      let kept = original.map { $0.time < image.time ? $0 : image } ?? image
      return .newer(kept, version)
    }

    /// For a request whose source is asked at a time, or later.
    func asking(at time: Int) -> Horizon {
      Horizon(
        image: Event(time: time, name: "the request, which asks"), original: nil, version: version)
    }

    /// For requests that began at some time before.
    static let anything = Horizon(image: .none, original: nil, version: .none)

    /// For a kept original: an older one may stay beside a newer image.
    var ofOriginals: Horizon { Horizon(image: bytes, original: nil, version: .none) }
  }

  private struct State {
    var images: [Line: Event] = [:]
    /// What was marked stale since the cache was opened.
    var marks: [Line: Event] = [:]
    var originals: [Source: Event] = [:]
    var originalMarks: [Source: Event] = [:]
    /// Marks under way, and when the last one ended: a load that meets one keeps and stores nothing.
    var marking: [Source: (count: Int, end: Int)] = [:]
    var versions: [Int: (number: Int, since: Event)] = [:]
    var generations: [Int: Int] = [:]
    /// Entities whose images are being moved to another id.
    var moving: Set<Int> = []
    /// Entities whose originals a former id may own; false until the session of the move is over.
    var orphans: [Int: Bool] = [:]
    var hands: [Int: Hand] = [:]
    /// Sources that are kept by hand only, and were.
    var keptByHand: Set<Source> = []

    func original(of source: Source) -> Event {
      .newer(originals[source], originalMarks[source])
    }

    func metMark(_ source: Source, since time: Int) -> Bool {
      marking[source].map { $0.count > 0 || $0.end >= time } ?? false
    }

    /// Whether an original may be there: what is in a file, a data URL or an entity is not kept once more.
    func keepsOriginal(of entity: PlayEntity) -> Bool {
      [.http, .play, .nested].contains(entity.subject.scheme)
        || keptByHand.contains(Model.source(of: entity))
    }
  }

  let timeline: Timeline
  private let state = Lock(State())
  private let entities: [PlayEntity]
  private let crowds: [Source: Int]
  private let variants: Set<Int>

  init(_ timeline: Timeline, _ entities: [PlayEntity]) {
    (self.timeline, self.entities) = (timeline, entities)
    crowds = Dictionary(
      entities.map { (Source(subject: $0.subject.number, account: $0.account), 1) },
      uniquingKeysWith: +)
    variants = Set(entities.filter { $0.naming == .variants }.map(\.subject.number))
  }

  private static func source(of entity: PlayEntity) -> Source {
    Source(subject: entity.subject.number, account: entity.account)
  }

  // MARK: What may be shown

  /// - Parameter hasOriginals: Whether the cache keeps originals.
  /// - Parameter countsMarks: Not for another process, which goes on finding what is stale.
  func horizon(
    of entity: PlayEntity, _ format: ImageFormat, hasOriginals: Bool, countsMarks: Bool = true
  ) -> Horizon {
    state.withLock { state in
      let removed = state.images[Line(entity, format)] ?? .none
      let image = countsMarks ? .newer(removed, state.marks[Line(entity, format)]) : removed
      let source = Self.source(of: entity)
      // A former version's row may be asked for still: it shows what it showed.
      let version = state.versions[entity.number]
      let since = version.flatMap { $0.number == entity.version ? $0.since : nil } ?? .none
      return Horizon(
        image: image,
        original: hasOriginals && state.keepsOriginal(of: entity)
          ? state.original(of: source) : nil,
        version: since, bytes: state.originals[source] ?? .none)
    }
  }

  /// Why a picture may not be shown; `nil` where it may.
  func objection(to mark: Mark?, of entity: PlayEntity, since horizon: Horizon) -> String? {
    guard let mark else { return "no whole picture" }
    if mark.subject != entity.subject.number { return "another's picture: \(mark)" }
    if mark.maker != .hand, mark.account != served(entity) {
      return "the picture of account \(mark.account)"
    }
    guard let end = timeline.end(of: mark) else { return "no picture yet: \(mark)" }
    if mark.maker == .hand, let objection = objection(toHand: mark, of: entity) {
      return objection
    }
    if entity.subject.scheme == .data, mark.maker == .source, mark.revision != entity.revision {
      return "\(mark) in place of revision \(entity.revision)"
    }
    if entity.subject.scheme != .data || mark.maker == .hand, end <= horizon.oldest.time {
      return
        "\(mark), which was over at \(end), after \(horizon.oldest.name) at \(horizon.oldest.time)"
    }
    return nil
  }

  /// The account that a source sees.
  private func served(_ entity: PlayEntity) -> Int {
    [.http, .play].contains(entity.subject.scheme) ? entity.account : 0
  }

  private func objection(toHand mark: Mark, of entity: PlayEntity) -> String? {
    guard let hand = state.withLock({ $0.hands[mark.revision] }) else {
      return "\(mark), which was never stored"
    }
    if hand.entity == entity.number { return nil }
    let isShared = hand.keepsOriginal && hand.source == Self.source(of: entity)
    return isShared ? nil : "\(mark), which was stored for entity \(hand.entity)"
  }

  // MARK: Events

  /// Images were removed that were asked for at a time, or before.
  func removeImages(of entity: PlayEntity, _ formats: [ImageFormat], at time: Int) {
    raise(images: formats.map { Line(entity, $0) }, to: Event(time: time, name: "a removal"))
  }

  func removeAllImages(_ formats: [ImageFormat], at time: Int) {
    let event = Event(time: time, name: "a removal of all images")
    for entity in entities.map(present) {
      raise(images: formats.map { Line(entity, $0) }, to: event)
    }
  }

  /// The entity's originals were removed: another entity may have loaded the address's.
  func removeOriginals(ofEntity entity: PlayEntity, at time: Int) {
    let isOwner = state.withLock { state in
      !state.moving.contains(entity.number) && state.orphans[entity.number] == nil
        && state.generations[entity.number] ?? 0 == entity.generation
    }
    guard isOwner, crowds[Self.source(of: entity)] == 1,
      !variants.contains(entity.subject.number)
    else { return }
    raise(Self.source(of: entity), to: Event(time: time, name: "a removal of its original"))
  }

  func removeOriginals(ofAccount account: Int, at time: Int) {
    for subject in Subject.all {
      raise(
        Source(subject: subject.number, account: account),
        to: Event(time: time, name: "a sign-out"))
    }
  }

  func removeAllOriginals(at time: Int) {
    for source in crowds.keys {
      raise(source, to: Event(time: time, name: "a removal of all originals"))
    }
  }

  /// A source was asked at a time, or later, and its answer is kept.
  ///
  /// - Parameter name: What asked.
  func asked(
    for entity: PlayEntity, _ formats: [ImageFormat], at time: Int, keepsOriginal: Bool,
    by name: String
  ) {
    guard entity.subject.isSteady,
      !state.withLock({ $0.metMark(Self.source(of: entity), since: time) })
    else { return }
    // The source's answer is as new as its picture was at that time.
    let event = Event(time: time, name: name)
    if keepsOriginal, !variants.contains(entity.subject.number) {
      raise(Self.source(of: entity), to: event)
      // The row is the present id's.
      state.withLock { if $0.orphans[entity.number] == true { $0.orphans[entity.number] = nil } }
    }
    raise(images: formats.map { Line(entity, $0) }, to: event)
  }

  func willMark(_ entity: PlayEntity) {
    state.withLock { $0.marking[Self.source(of: entity), default: (0, 0)].count += 1 }
  }

  func didMark(_ entity: PlayEntity) {
    let time = timeline.tick()
    state.withLock { state in
      let source = Self.source(of: entity)
      state.marking[source] = ((state.marking[source]?.count ?? 1) - 1, time)
    }
  }

  /// Images were marked stale, until the cache is closed; their originals for good.
  func marked(_ entity: PlayEntity, at time: Int, hasOriginals: Bool) {
    let event = Event(time: time, name: "a mark")
    state.withLock { state in
      for format in PlayFormats.all where entity.subject.isSteady {
        state.marks[Line(entity, format)] = .newer(state.marks[Line(entity, format)], event)
      }
    }
    if hasOriginals, entity.subject.isSteady, !variants.contains(entity.subject.number) {
      raise(Self.source(of: entity), to: event, isMark: true)
    }
  }

  /// The cache was closed: marks are over, and requests of former ids.
  func endSession() {
    state.withLock { state in
      state.marks = [:]
      state.orphans = state.orphans.mapValues { _ in true }
    }
  }

  /// A picture was shown that stands in its table: an older one does not follow.
  ///
  /// - Parameters:
  ///   - keepsOriginal: Whether the source's answer was kept as well.
  ///   - time: When it was asked for.
  func shown(
    _ mark: Mark, of entity: PlayEntity, _ format: ImageFormat, keepsOriginal: Bool = false,
    since time: Int = .max
  ) {
    // The end of a picture by hand may be its start.
    let start = timeline.start(of: mark)
    let event = Event(time: mark.maker == .hand ? start - 1 : start, name: "\(mark) was shown")
    let source = Self.source(of: entity)
    if keepsOriginal, !variants.contains(entity.subject.number),
      !state.withLock({ $0.metMark(source, since: time) })
    {
      raise(source, to: event)
    }
    raise(images: [Line(entity, format)], to: event)
  }

  /// A picture by hand is about to be stored.
  func willStore(_ mark: Mark, for entity: PlayEntity, keepsOriginal: Bool) {
    let source = Self.source(of: entity)
    state.withLock {
      $0.hands[mark.revision] = Hand(
        entity: entity.number, source: source, keepsOriginal: keepsOriginal)
      if keepsOriginal { $0.keptByHand.insert(source) }
    }
  }

  private func raise(images lines: [Line], to event: Event) {
    state.withLock { state in
      for line in lines { state.images[line] = .newer(state.images[line], event) }
    }
  }

  /// Raises the horizon of an original. Images that were drawn from it before stay, as old as it may have been: so an
  /// event of both is one of the original first.
  private func raise(_ source: Source, to event: Event, isMark: Bool = false) {
    state.withLock { state in
      let isKept = entities.contains {
        Self.source(of: $0) == source && state.keepsOriginal(of: $0)
      }
      guard isKept else { return }
      let former = state.original(of: source)
      if isMark {
        state.originalMarks[source] = .newer(state.originalMarks[source], event)
      } else {
        state.originals[source] = .newer(state.originals[source], event)
      }
      guard former.time < event.time else { return }
      let meant = Set(entities.filter { Self.source(of: $0) == source }.map(\.number))
      for (line, image) in state.images where meant.contains(line.entity) {
        if image.time > former.time { state.images[line] = former }
      }
    }
  }

  // MARK: Names

  /// The entity under its present id, in its present version.
  func present(_ entity: PlayEntity) -> PlayEntity {
    var present = entity
    state.withLock { state in
      present.version = state.versions[entity.number]?.number ?? 0
      present.generation = state.generations[entity.number] ?? 0
    }
    present.revision = timeline.revision(of: entity.subject.number)
    return present
  }

  /// The program has heard of a change at a time. A server that lies may call the former picture unchanged.
  func raiseVersion(of entity: PlayEntity, at time: Int) {
    let event = entity.subject.isSteady ? Event(time: time, name: "its version") : .none
    state.withLock { state in
      state.versions[entity.number] = ((state.versions[entity.number]?.number ?? 0) + 1, event)
    }
  }

  /// The images of an entity are about to be moved to its next id; ``didMove(_:_:)`` has what is returned.
  ///
  /// Nothing is returned while they are moved already. What is removed under the former id from now on may be moved
  /// before.
  func willMove(_ entity: PlayEntity) -> [(Line, Event)]? {
    state.withLock { state in
      guard state.generations[entity.number] ?? 0 == entity.generation,
        state.moving.insert(entity.number).inserted
      else { return nil }
      return state.images.filter {
        $0.key.entity == entity.number && $0.key.generation == entity.generation
      }
      .map { ($0.key, $0.value) }
    }
  }

  func didMove(_ entity: PlayEntity, _ lines: [(Line, Event)], isMoved: Bool) {
    state.withLock { state in
      state.moving.remove(entity.number)
      guard isMoved else { return }
      state.generations[entity.number] = entity.generation + 1
      state.orphans[entity.number] = false
      for (line, event) in lines {
        var moved = line
        moved.generation += 1
        state.images[moved] = .newer(state.images[moved], event)
      }
    }
  }
}
