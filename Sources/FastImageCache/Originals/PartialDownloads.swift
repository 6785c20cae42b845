import Foundation
import ImageSources
import Locking

/// The originals of one cache whose downloads broke off, as far as they came, in memory; the next load of such an
/// original continues it.
///
/// Invariants:
/// 1. The partials have at most `room` bytes together; the least recently used goes first.
/// 2. A load that begins takes the partial of its name, so that no two loads have it.
/// 3. A removal covers the loads under way: none of them leaves anything.
/// 4. A partial that is older than `lifetime`, by a clock that nobody puts back, is not handed out.
final class PartialDownloads: Sendable {
  /// Ends with ``end(_:keeping:askedWith:)``.
  struct Load: Sendable {
    fileprivate let name: OriginalName
    fileprivate let owner: OriginalOwner
    fileprivate let removals: Int
  }

  private struct State {
    /// The one that was left last is the last.
    var partials: [(load: Load, known: KnownOriginal, since: ContinuousClock.Instant)] = []
    var removals = 0

    var byteCount: Int { partials.reduce(0) { $0 + $1.known.bytes.count } }
  }

  static let lifetime = Duration.seconds(7 * 86_400)

  private let state = Lock(State())
  private let room: Int
  private let now: @Sendable () -> ContinuousClock.Instant

  init(room: Int = 8 << 20, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
    (self.room, self.now) = (room, now)
  }

  /// The bytes of all partials.
  var byteCount: Int { state.withLock { $0.byteCount } }

  /// Notes that a load asks for an original, and hands out what there is of it.
  func begin(_ name: OriginalName, of owner: OriginalOwner) -> (load: Load, known: KnownOriginal?) {
    let now = now()
    return state.withLock { state in
      let load = Load(name: name, owner: owner, removals: state.removals)
      state.partials.removeAll { now - $0.since > Self.lifetime }
      guard let index = state.partials.firstIndex(where: { $0.load.name == name }) else {
        return (load, nil)
      }
      return (load, state.partials.remove(at: index).known)
    }
  }

  /// Ends such a load.
  ///
  /// - Parameters:
  ///   - buffer: What is kept; `nil` where nothing is left to be continued.
  ///   - headers: The fields that the load asked for.
  func end(
    _ load: Load, keeping buffer: DownloadBuffer?, askedWith headers: [String: String] = [:]
  ) {
    // Counted first: a partial is a copy, which may be far larger than the room.
    guard let buffer, buffer.byteCount <= room, let known = buffer.partial(askedWith: headers)
    else { return }
    let now = now()
    state.withLock { state in
      guard load.removals == state.removals else { return }
      state.partials.removeAll { $0.load.name == load.name }
      state.partials.append((load, known, now))
      while state.byteCount > room { state.partials.removeFirst() }
    }
  }

  /// Gives the memory of all partials back; loads under way may still leave theirs.
  func clear() { state.withLock { $0.partials = [] } }

  /// Forgets partials, and lets loads under way leave none.
  func remove(_ removal: OriginalRemoval) {
    state.withLock { state in
      state.removals += 1
      state.partials.removeAll { removal.covers($0.load.name, $0.load.owner) }
    }
  }
}
