import Locking

/// The images that a list is about to show: those that enter the window are brought at low priority,
/// and those that leave it are given up.
///
/// ```swift
/// let ahead = PrefetchWindow<Photo>(cache, format: .row)
/// // Whenever the list has moved:
/// ahead.move(to: photos.dropFirst(30).prefix(40))
/// ```
///
/// An image is brought once for each stay in the window. The window asks again for one that failed, or
/// that the table evicted meanwhile, only after it has left; events of the cache tell why one failed. A
/// request for an image that is being brought joins its load and raises its priority.
///
/// Whoever holds the window holds its loads: they are given up when it is released. Any thread may call
/// any method.
///
/// Rows that appear one by one say less than a position: a list binds several times as many cells as
/// come into view. So move the window with the position rather than with the cells.
public final class PrefetchWindow<Entity: ImageEntity>: Sendable {
  /// Invariants: `keys` are those of `entities`, each once, and the plan's; each turn under way has its
  /// round and its task.
  private struct State {
    // As wide as one call of `prefetch`: the limiters bound loads, this bounds the tasks that wait for them.
    var plan = PrefetchPlan<ImageKey>(width: 8)
    var keys: [ImageKey] = []
    var entities: [ImageKey: Entity] = [:]
    var turns: [PrefetchPlan<ImageKey>.Turn: (round: ImageRound, task: Task<Void, Never>)] = [:]
  }

  private let cache: ImageCache
  private let format: ImageFormat
  private let depth: ImageCache.PrefetchDepth
  private let options: LoadOptions
  /// More images would evict one another.
  private let room: Int
  private let state = Lock(State())

  /// Creates an empty window.
  ///
  /// - Parameters:
  ///   - cache: Brings the images.
  ///   - format: One of the cache's formats; with any other nothing is brought.
  ///   - depth: Into the table, or into memory as well.
  ///   - options: The conditions of each request, as for
  ///     ``ImageCache/prefetch(_:format:depth:options:)-(Sequence,_,_,_)``.
  public init(
    _ cache: ImageCache, format: ImageFormat, depth: ImageCache.PrefetchDepth = .memory,
    options: LoadOptions = LoadOptions()
  ) {
    (self.cache, self.format, self.depth, self.options) = (cache, format, depth, options)
    room = cache.tables[format]?.slotCount ?? 0
  }

  deinit {
    giveUp(state.withLock { Array($0.turns.values) })
  }

  /// Makes the window consist of these entities' images.
  ///
  /// Images that were in the window before stay as they are: under way, brought or failed. Those that
  /// wait are brought in the new order. As many are brought as the table has slots, and the others
  /// left out.
  ///
  /// Cost: two hashes for each entity, and a task for each that enters; nothing is looked up on this
  /// thread. ``insert(_:)`` and ``remove(_:)`` cost the same for the whole window.
  ///
  /// - Parameter entities: The most urgent first; of equal ones the first counts.
  public func move(to entities: some Sequence<Entity>) {
    change(adding: entities) { added, _ in added }
  }

  /// Adds images behind those that are there, as for `collectionView(_:prefetchItemsAt:)`.
  ///
  /// - Parameter entities: The most urgent first; those that are in the window stay where they are.
  public func insert(_ entities: some Sequence<Entity>) {
    change(adding: entities) { added, present in present + added }
  }

  /// Gives up images, as for `collectionView(_:cancelPrefetchingForItemsAt:)`.
  ///
  /// - Parameter entities: Those that are not in the window change nothing.
  public func remove(_ entities: some Sequence<Entity>) {
    let leaving = Set(entities.map(key))
    change(adding: []) { _, present in present.filter { !leaving.contains($0) } }
  }

  private func key(of entity: Entity) -> ImageKey {
    ImageKey(
      entity: entity.imageID, version: entity.versionID(for: format), format: format.name)
  }

  /// Changes the window, gives up what left, and starts what may start.
  private func change(
    adding entities: some Sequence<Entity>,
    _ next: (_ added: [ImageKey], _ present: [ImageKey]) -> [ImageKey]
  ) {
    // Outside the lock, because entities are the program's.
    let added = entities.map { (key(of: $0), $0) }
    let (left, before) = state.withLock { state in
      let before = state.entities
      var known = before
      for (key, entity) in added where known[key] == nil { known[key] = entity }
      state.entities = [:]
      state.keys = next(added.map(\.0), state.keys).filter { key in
        guard state.entities.count < room, state.entities[key] == nil else { return false }
        state.entities[key] = known[key]
        return true
      }
      let left = state.plan.move(to: state.keys).compactMap { state.turns.removeValue(forKey: $0) }
      start(&state)
      return (left, before)
    }
    giveUp(left)
    // Entities are released outside the lock: the program may have something to do then.
    withExtendedLifetime(before) {}
  }

  private func giveUp(_ turns: [(round: ImageRound, task: Task<Void, Never>)]) {
    ImageRound.end(turns.map(\.round), in: cache.registry)
    for turn in turns { turn.task.cancel() }
  }

  private func start(_ state: inout State) {
    while let (key, turn) = state.plan.start(), let entity = state.entities[key] {
      // Detached: bringing belongs to no actor and has the priority of nobody who moves the window.
      let round = ImageRound(in: cache.registry)
      let task = Task.detached(name: "prefetch window", priority: .low) {
        [cache, format, depth, options, weak self] in
        _ = await cache.bring(entity, format, depth, options, round) { [weak self] in
          self?.go(on: { $0.plan.begin(turn) })
        }
        self?.go(on: { state in
          state.plan.end(turn, of: key)
          state.turns[turn] = nil
        })
      }
      state.turns[turn] = (round, task)
    }
  }

  private func go(on change: (inout State) -> Void) {
    state.withLock { state in
      change(&state)
      start(&state)
    }
  }
}
