import Foundation

@testable import FastImageCache

/// Something that happens to a load registry. Loads are those under way, the oldest first.
enum RegistryEvent: Hashable {
  case join(
    format: String, version: Int, policy: LoadOptions.CachePolicy = .useCache, audience: Int = 0,
    entity: ImageID = "a", isExplicit: Bool = false)
  /// The newest load asks its source.
  case askNewest
  /// The original of a load is held.
  case keepOldest
  case keepNewest
  case removeOriginals
  case leaveOldest
  case leaveNewest
  /// A subscriber is given another priority.
  case moveOldest(Priority)
  case moveNewest(Priority)
  /// The task of a subscriber is escalated.
  case escalateNewest(Priority)
  case takeNewest
  /// The image that was handed out first of all and is not finished.
  case finish(isFetched: Bool)
  /// The newest load hands out what it has not, and finishes what it handed out last.
  case deliverNewest
  case retireOldest
  case retireNewest
  case failOldest
  case supersede(format: String, version: Int)
  case remove(format: String)
}

/// The plainest bookkeeping that could be right: who waits for what.
struct RegistryModel {
  struct Subscriber {
    let number: Int
    let load: LoadID
    let key: ImageKey
    var given: Priority
    var escalated = Priority.background

    var priority: Priority { max(given, escalated) }
  }
  struct Load {
    let id: LoadID
    let policy: LoadOptions.CachePolicy
    let audience: Int
    var hasAsked = false
    /// Whether its original was removed.
    var keepsNothing = false
    /// All that was ever asked of it is of these versions of its entities.
    var versions: [ImageID: Int]
    /// That of the request that began it.
    let explicit: Int?
    var hasDelivered = false
    var priority: Priority
    var wishes: [ImageKey] = []
    var handedOut: [ImageKey] = []
    /// The formats whose image of "a" was removed or stored by hand since the load began.
    var removed: Set<String> = []
  }

  /// By which a load is found: an audience, and a version where that is explicit.
  struct Slot: Hashable {
    let audience: Int
    let version: Int?
  }

  /// The audience of requests that begin with what is kept.
  static let kept = 2

  var subscribers: [Subscriber] = []
  /// Those under way, the oldest first.
  var loads: [Load] = []
  /// The one that may be joined.
  var current: [Slot: LoadID] = [:]

  func subscribers(for key: ImageKey, of id: LoadID) -> [SubscriberID] {
    subscribers.filter { $0.load == id && $0.key == key }.map { SubscriberID(number: $0.number) }
  }

  mutating func change(_ subscriber: Subscriber?, _ body: (inout Subscriber) -> Void) {
    guard let index = subscribers.firstIndex(where: { $0.number == subscriber?.number }) else {
      return
    }
    body(&subscribers[index])
  }

  mutating func change(_ id: LoadID, _ body: (inout Load) -> Void) {
    guard let index = loads.firstIndex(where: { $0.id == id }) else { return }
    body(&loads[index])
  }

  /// Forgets an image of a load, and who waits for it.
  mutating func forget(_ key: ImageKey, of id: LoadID) {
    subscribers.removeAll { $0.load == id && $0.key == key }
    change(id) { load in
      load.wishes.removeAll { $0 == key }
      load.handedOut.removeAll { $0 == key }
    }
  }

  mutating func end(_ id: LoadID) {
    loads.removeAll { $0.id == id }
    current = current.filter { $0.value != id }
  }

  /// Gives each load the highest priority of its subscribers, and returns those that have changed.
  mutating func followSubscribers() -> [LoadID: Priority] {
    var changed: [LoadID: Priority] = [:]
    for index in loads.indices {
      let priorities = subscribers.filter { $0.load == loads[index].id }.map(\.priority)
      guard let highest = priorities.max(), highest != loads[index].priority else { continue }
      loads[index].priority = highest
      changed[loads[index].id] = highest
    }
    return changed
  }

  /// True when nobody wants anything of a load that has delivered nothing that it fetched.
  func isAbandoned(_ load: Load) -> Bool {
    !load.hasDelivered && !subscribers.contains { $0.load == load.id }
  }
}

/// Tests of a registry whose subscribers are numbers, with one entity in two formats.
protocol LoadRegistrySuite {
  var registry: LoadRegistry<Int, ImageKey, LoadID> { get set }
}

extension LoadRegistrySuite {
  var url: LoadKey { .url(URL(fileURLWithPath: "/photo.jpg")) }
  var row: ImageKey { ImageKey(entity: "a", version: "a1", format: "row") }
  var dot: ImageKey { ImageKey(entity: "a", version: "a1", format: "dot") }

  mutating func join(
    _ number: Int, _ key: ImageKey, priority: Priority = .medium,
    versions: [String: ImageID] = ["row": "a1", "dot": "a1"],
    policy: LoadOptions.CachePolicy = .useCache, storage: LoadOptions.Storage = .all,
    after asker: LoadID? = nil,
    loadKey: LoadKey? = nil
  ) -> LoadRegistry<Int, ImageKey, LoadID>.Joined {
    registry.join(
      SubscriberID(number: number), key: key, loadKey: loadKey ?? url, priority: priority,
      versions: versions.map { ImageKey(entity: "a", version: $1, format: $0) },
      policy: policy, storage: storage, after: asker?.number ?? -1, request: key, start: { $0 },
      subscriber: { _ in number })
  }

  mutating func take(_ load: LoadID) -> [ImageKey] {
    registry.look(at: load) { $0.take() } ?? []
  }

  mutating func finish(
    _ key: ImageKey, of load: LoadID, isFetched: Bool = true
  ) -> [Int] {
    registry.finish(key, of: load, isFetched: isFetched)
  }
}
