import Foundation

@testable import FastImageCache

extension LoadRegistry.Joined where Handle == LoadID {
  var load: LoadID { handle }
}

/// A registry and its model, to which the same happens.
struct RegistryPlay {
  /// Faults that a play must find.
  enum Plant {
    case none
    /// Versions of one entity share a load.
    case versionsIgnored
    /// Whoever leaves is answered all the same.
    case leavingIgnored
    /// What was removed is joined.
    case removalsIgnored
    /// Loads keep the priority of subscribers who have left.
    case fallsIgnored
    /// A reload joins any load.
    case policiesIgnored
    /// A request of an explicit version joins a load of any.
    case explicitIgnored
    /// A reload joins a load that has asked.
    case askingIgnored
    /// All audiences share a load.
    case audiencesIgnored
    /// Originals are kept that were removed.
    case lostOriginalsIgnored
    /// Nobody knows that a load begins with what is kept.
    case keptIgnored
    /// Subscribers keep their priority.
    case movesIgnored
    /// Nobody hears of escalated tasks.
    case escalationsIgnored
    /// Who is given another priority loses that of the task.
    case escalationsForgotten
  }

  private let plant: Plant
  private var registry = LoadRegistry<SubscriberID, ImageKey, LoadID>()
  private var model = RegistryModel()
  private var number = 0
  private static let formats = ["row", "dot"]
  private static let identities = [
    nil, LoadIdentity(LoadOptions(account: AccountID("a")).conditions, beginsWithKept: false),
    LoadIdentity(.ordinary, beginsWithKept: true),
  ]

  private static func loadKey(_ audience: Int, _ version: ImageID?) -> LoadKey {
    .url(URL(fileURLWithPath: "/photo.jpg"), identities[audience], version: version)
  }

  init(plant: Plant = .none) { self.plant = plant }

  private static func key(_ format: String, _ version: Int, of entity: ImageID = "a") -> ImageKey {
    ImageKey(entity: entity, version: ImageID("\(version)"), format: format)
  }

  /// Whether an event does something that no other event does: else it makes no new sequence.
  func isPossible(_ event: RegistryEvent) -> Bool {
    switch event {
    case .join: true
    case .leaveOldest: !model.subscribers.isEmpty
    case .leaveNewest, .moveNewest: model.subscribers.count > 1
    case .moveOldest, .escalateNewest: !model.subscribers.isEmpty
    case .finish: model.loads.contains { !$0.handedOut.isEmpty }
    case .retireNewest: model.loads.count > 1
    case .askNewest: model.loads.last?.hasAsked == false
    case .keepNewest: model.loads.count > 1
    case .takeNewest, .deliverNewest, .retireOldest, .failOldest, .supersede, .remove,
      .keepOldest, .removeOriginals:
      !model.loads.isEmpty
    }
  }

  /// Lets an event happen, and says what the two disagree about.
  mutating func apply(_ event: RegistryEvent) -> String? {
    let problem: String?
    switch event {
    case .join(let format, let version, let policy, let audience, let entity, let isExplicit):
      problem = join(format, version, policy, audience, entity, isExplicit)
    case .askNewest: problem = ask(model.loads.last)
    case .keepOldest: problem = keep(model.loads.first)
    case .keepNewest: problem = keep(model.loads.last)
    case .removeOriginals: problem = removeOriginals()
    case .leaveOldest: problem = leave(model.subscribers.first)
    case .leaveNewest: problem = leave(model.subscribers.last)
    case .moveOldest(let priority): problem = move(model.subscribers.first, to: priority)
    case .moveNewest(let priority): problem = move(model.subscribers.last, to: priority)
    case .escalateNewest(let priority): problem = escalate(model.subscribers.last, to: priority)
    case .takeNewest: problem = take(model.loads.last)
    case .finish(let isFetched): problem = finish(isFetched)
    case .deliverNewest: problem = deliver(model.loads.last)
    case .retireOldest: problem = retire(model.loads.first)
    case .retireNewest: problem = retire(model.loads.last)
    case .failOldest: problem = fail(model.loads.first)
    case .supersede(let format, let version): problem = supersede(Self.key(format, version))
    case .remove(let format): problem = remove(format)
    }
    if let problem { return problem }
    if plant != .leavingIgnored, registry.subscriberCount != model.subscribers.count {
      return "\(registry.subscriberCount) wait"
    }
    if registry.loadCount != model.loads.count { return "\(registry.loadCount) loads" }
    return comparePriorities()
  }

  private mutating func comparePriorities() -> String? {
    let before = Dictionary(uniqueKeysWithValues: model.loads.map { ($0.id, $0.priority) })
    let expected = model.followSubscribers()
    var moved: [LoadID: Priority] = [:]
    for (load, priority) in registry.takeMoved() {
      let isIgnored = plant == .fallsIgnored && before[load].map { priority < $0 } == true
      if !isIgnored { moved[load] = priority }
    }
    return moved == expected ? nil : "\(moved) became as urgent, not \(expected),"
  }

  // MARK: Events

  private mutating func join(
    _ format: String, _ version: Int, _ policy: LoadOptions.CachePolicy, _ audience: Int,
    _ entity: ImageID, _ isExplicit: Bool
  ) -> String? {
    number += 1
    let priority = [Priority.medium, .high, .low][number % 3]
    let key = Self.key(format, version, of: entity)
    let explicit = isExplicit ? version : nil
    let slot = RegistryModel.Slot(audience: audience, version: explicit)
    let any = model.loads.last { $0.audience == audience && $0.explicit != nil && !isExplicit }?.id
    let newest = model.loads.first { $0.id == model.current[slot] ?? any }
    let joinable = newest.flatMap { load in
      load.versions[entity] ?? version == version
        && !(entity == "a" && load.removed.contains(format))
        && policy <= load.policy
        && !(policy > .useCache && load.hasAsked)
        ? load : nil
    }
    let isNewOutput = joinable.map { !$0.wishes.contains(key) } ?? true
    let told = plant == .versionsIgnored ? newest?.versions[entity] ?? version : version
    let id = SubscriberID(number: number)
    var toldAudience = plant == .audiencesIgnored ? 0 : audience
    if plant == .keptIgnored, audience == RegistryModel.kept { toldAudience = 0 }
    let joined = registry.join(
      id, key: Self.key(format, told, of: entity),
      loadKey: Self.loadKey(
        toldAudience, plant == .explicitIgnored ? nil : explicit.map { ImageID("\($0)") }),
      priority: priority,
      versions: Self.formats.map { Self.key($0, told, of: entity) },
      policy: plant == .policiesIgnored ? .useCache : policy,
      request: Self.key(format, told, of: entity),
      start: { $0 }, subscriber: { _ in id })
    if joined.isNewLoad != (joinable == nil) { return "a load is wrongly new or old" }
    if let joinable, joined.load != joinable.id { return "another load was joined" }
    if joinable == nil {
      model.loads.append(
        .init(
          id: joined.load, policy: policy, audience: audience, versions: [entity: version],
          explicit: explicit, priority: priority))
      model.current[slot] = joined.load
    }
    model.subscribers.append(
      .init(number: number, load: joined.load, key: key, given: priority))
    model.change(joined.load) { load in
      if isNewOutput { load.wishes.append(key) }
      load.versions[entity] = version
    }
    return nil
  }

  private mutating func leave(_ subscriber: RegistryModel.Subscriber?) -> String? {
    guard let subscriber else { return nil }
    model.subscribers.removeAll { $0.number == subscriber.number }
    if model.subscribers(for: subscriber.key, of: subscriber.load).isEmpty {
      model.forget(subscriber.key, of: subscriber.load)
    }
    let isAbandoned = model.loads.first { $0.id == subscriber.load }.map(model.isAbandoned) ?? false
    if isAbandoned { model.end(subscriber.load) }
    if plant == .leavingIgnored { return nil }
    let left = registry.leave(SubscriberID(number: subscriber.number))
    let isRight =
      left?.subscriber == SubscriberID(number: subscriber.number)
      && left?.abandoned?.handle == (isAbandoned ? subscriber.load : nil)
    return isRight ? nil : "leaving did \(String(describing: left))"
  }

  private mutating func move(_ subscriber: RegistryModel.Subscriber?, to priority: Priority)
    -> String?
  {
    guard let subscriber else { return nil }
    model.change(subscriber) { $0.given = priority }
    if plant != .movesIgnored {
      registry.move(SubscriberID(number: subscriber.number), to: priority)
    }
    return nil
  }

  private mutating func escalate(
    _ subscriber: RegistryModel.Subscriber?, to priority: Priority
  ) -> String? {
    guard let subscriber else { return nil }
    model.change(subscriber) { $0.escalated = max(priority, $0.escalated) }
    let id = SubscriberID(number: subscriber.number)
    switch plant {
    case .escalationsIgnored: break
    case .escalationsForgotten: registry.move(id, to: max(priority, subscriber.priority))
    default: registry.escalate(id, to: priority)
    }
    return nil
  }

  private mutating func ask(_ load: RegistryModel.Load?) -> String? {
    guard let load else { return nil }
    model.change(load.id) { $0.hasAsked = true }
    if plant != .askingIgnored { registry.look(at: load.id) { $0.hasAsked = true } }
    return nil
  }

  private mutating func keep(_ load: RegistryModel.Load?) -> String? {
    guard let load else { return nil }
    let isKept = registry.keepsOriginal(of: "a", load.id)
    return isKept != load.keepsNothing ? nil : "keeping is wrongly allowed or not"
  }

  private mutating func removeOriginals() -> String? {
    for load in model.loads { model.change(load.id) { $0.keepsNothing = true } }
    if plant != .lostOriginalsIgnored {
      number += 1
      registry.remove(.originals("a"), at: number)
    }
    return nil
  }

  private mutating func take(_ load: RegistryModel.Load?) -> String? {
    guard let load else { return nil }
    let expected = load.wishes.filter { !load.handedOut.contains($0) }
    model.change(load.id) { $0.handedOut += expected }
    let taken = registry.look(at: load.id) { $0.take() } ?? []
    return taken == expected ? nil : "other images were handed out"
  }

  private mutating func finish(_ isFetched: Bool) -> String? {
    guard let load = model.loads.first(where: { !$0.handedOut.isEmpty }) else { return nil }
    return finish(load.handedOut[0], of: load, isFetched)
  }

  private mutating func deliver(_ load: RegistryModel.Load?) -> String? {
    if let problem = take(load) { return problem }
    guard let load = model.loads.first(where: { $0.id == load?.id }),
      let key = load.handedOut.last
    else { return nil }
    return finish(key, of: load, true)
  }

  private mutating func finish(
    _ key: ImageKey, of load: RegistryModel.Load, _ isFetched: Bool
  ) -> String? {
    let expected = model.subscribers(for: key, of: load.id)
    model.forget(key, of: load.id)
    if isFetched { model.change(load.id) { $0.hasDelivered = true } }
    if registry.finish(key, of: load.id, isFetched: isFetched) != expected {
      return "others were answered"
    }
    let again = registry.finish(key, of: load.id, isFetched: isFetched)
    return again.isEmpty ? nil : "somebody was answered twice"
  }

  /// Only a load that has finished all that it was handed retires.
  private mutating func retire(_ load: RegistryModel.Load?) -> String? {
    guard let load, load.handedOut.isEmpty else { return nil }
    let isIdle = load.wishes.isEmpty
    if isIdle { model.end(load.id) }
    return registry.retire(load.id) == isIdle ? nil : "a load retired wrongly or not"
  }

  private mutating func fail(_ load: RegistryModel.Load?) -> String? {
    guard let load else { return nil }
    let expected = load.wishes.flatMap { model.subscribers(for: $0, of: load.id) }
    model.subscribers.removeAll { $0.load == load.id }
    model.end(load.id)
    return registry.fail(load.id).subscribers == expected ? nil : "others were told"
  }

  private mutating func supersede(_ key: ImageKey) -> String? {
    number += 1
    var expected: [SubscriberID] = []
    var ended: [LoadID] = []
    for load in model.loads { model.change(load.id) { $0.removed.insert(key.format) } }
    for load in model.loads where load.wishes.contains(key) {
      expected += model.subscribers(for: key, of: load.id)
      model.forget(key, of: load.id)
      if model.isAbandoned(load) {
        model.end(load.id)
        ended.append(load.id)
      }
    }
    let (subscribers, loads) = registry.supersede(key, at: number)
    return subscribers == expected && loads == ended ? nil : "superseding did something else"
  }

  private mutating func remove(_ format: String) -> String? {
    number += 1
    for load in model.loads { model.change(load.id) { $0.removed.insert(format) } }
    if plant != .removalsIgnored { registry.remove(.entity("a", format: format), at: number) }
    return nil
  }
}
