import Foundation
import Locking

/// The originals of one cache whose downloads broke off, as far as they came; the next load of such an
/// original continues it.
final class PartialShelf: Sendable {
  private let partials: Lock<Partials>
  private let room: Int

  /// - Parameter room: The most bytes that all partials together may have.
  init(room: Int = 8 << 20) {
    self.room = room
    partials = Lock(Partials(room: room))
  }

  /// The bytes of all partials.
  var byteCount: Int { partials.withLock { $0.byteCount } }

  /// Notes that a load asks for an original, and hands out what there is of it: the shelf has it no more.
  func begin(
    _ name: OriginalName, of entity: ImageID
  ) -> (load: Partials.Load, known: KnownOriginal?) {
    partials.withLock { $0.begin(name, of: entity, now: .now) }
  }

  /// Ends such a load.
  ///
  /// - Parameters:
  ///   - arrival: What is kept; `nil` where nothing is left to be continued. Nor is it kept where its
  ///     entity's originals were removed since the load began.
  ///   - headers: The fields that the load asked for.
  func end(
    _ load: Partials.Load, keeping arrival: Arrival?, askedWith headers: [String: String] = [:]
  ) {
    // Counted first: a partial is a copy, which may be far larger than the room.
    let partial = arrival.flatMap { $0.byteCount <= room ? $0.partial(askedWith: headers) : nil }
    partials.withLock { $0.end(load, keeping: partial, now: .now) }
  }

  /// Gives the memory of all partials back; loads under way may still leave theirs.
  func clear() { partials.withLock { $0.clear() } }

  /// Forgets partials, and lets loads under way leave none of these.
  func remove(_ removal: Partials.Removal) { partials.withLock { $0.remove(removal) } }

  /// Lets the partials of one entity count as another's, those of loads under way too.
  func changeEntity(from old: ImageID, to new: ImageID) {
    partials.withLock { $0.changeEntity(from: old, to: new) }
  }
}

/// What a ``PartialShelf`` has, as a value.
///
/// Invariants:
/// 1. `byteCount` is the sum of the partials' bytes, and at most `room`.
/// 2. A name has one partial at most. A load that begins takes it, so no two loads have it.
/// 3. A removal covers the loads under way: what they bring is not kept.
/// 4. `names` has the name of each partial under its number. Numbers grow, and none is below `oldest`:
///    so the least recently used partial is found without a search.
/// 5. A partial that is older than `lifetime` is not handed out.
struct Partials: Sendable {
  typealias Instant = ContinuousClock.Instant

  /// Names one load; its number is never used again.
  struct Load: Hashable, Sendable {
    fileprivate let number: Int
  }

  enum Removal: Hashable, Sendable {
    case original(OriginalName)
    case entity(ImageID)
    case audience(Audience)
    case all

    fileprivate func covers(_ name: OriginalName, _ entity: ImageID) -> Bool {
      switch self {
      case .original(let other): name == other
      case .entity(let other): entity == other
      case .audience(let audience): name.audience == audience
      case .all: true
      }
    }
  }

  private struct Entry {
    let partial: KnownOriginal
    var entity: ImageID
    let number: Int
    let since: Instant
  }

  /// By a clock that nobody puts back.
  static let lifetime = Duration.seconds(7 * 86_400)

  let room: Int
  private(set) var byteCount = 0
  private var entries: [OriginalName: Entry] = [:]
  private var names: [Int: OriginalName] = [:]
  private var loads: [Load: (name: OriginalName, entity: ImageID)] = [:]
  private var oldest = 0
  private var next = 0
  private var nextLoad = 0

  init(room: Int) { self.room = room }

  mutating func begin(
    _ name: OriginalName, of entity: ImageID, now: Instant
  ) -> (load: Load, known: KnownOriginal?) {
    let load = Load(number: nextLoad)
    nextLoad += 1
    loads[load] = (name, entity)
    guard let entry = remove(name), now - entry.since <= Self.lifetime else { return (load, nil) }
    return (load, entry.partial)
  }

  mutating func end(_ load: Load, keeping partial: KnownOriginal?, now: Instant) {
    guard let (name, entity) = loads.removeValue(forKey: load), let partial else { return }
    remove(name)
    guard partial.bytes.count <= room else { return }
    entries[name] = Entry(partial: partial, entity: entity, number: next, since: now)
    names[next] = name
    next += 1
    byteCount += partial.bytes.count
    while let (name, entry) = first,
      byteCount > room || now - entry.since > Self.lifetime
    {
      remove(name)
    }
  }

  mutating func remove(_ removal: Removal) {
    for (name, entry) in entries where removal.covers(name, entry.entity) { remove(name) }
    loads = loads.filter { !removal.covers($0.value.name, $0.value.entity) }
  }

  mutating func changeEntity(from old: ImageID, to new: ImageID) {
    for (name, entry) in entries where entry.entity == old { entries[name]?.entity = new }
    for (load, subject) in loads where subject.entity == old { loads[load]?.entity = new }
  }

  /// Forgets the partials, as if there had been no room, and no load.
  mutating func clear() { (entries, names, byteCount) = ([:], [:], 0) }

  /// The least recently used partial.
  private var first: (OriginalName, Entry)? {
    mutating get {
      while oldest < next {
        if let name = names[oldest], let entry = entries[name] { return (name, entry) }
        oldest += 1
      }
      return nil
    }
  }

  @discardableResult
  private mutating func remove(_ name: OriginalName) -> Entry? {
    guard let entry = entries.removeValue(forKey: name) else { return nil }
    names[entry.number] = nil
    byteCount -= entry.partial.bytes.count
    return entry
  }
}
