import TestSupport

@testable import OriginalStore

/// Two stores that share a budget, told twice: by indexes and plans, and by plain lists that are
/// searched from one end to the other.
struct IndexModel {
  /// One original of the lists, which stand in the order in which they go.
  struct Item: Equatable {
    var record: OriginalRecord
    /// Of outgrown originals: when they were outgrown.
    var outgrown: Int64 = 0

    var order: (Int, Int64) {
      let flags = record.flags
      if flags.contains(.partial) { return (0, record.lastUse) }
      return flags.contains(.outgrown) ? (1, outgrown) : (2, record.lastUse)
    }
  }

  var indexes = [OriginalIndex(), OriginalIndex()]
  var items: [[Item]] = [[], []]
  var limit = 400_000
  var readers: [Set<OriginalDigest>] = [[], []]
  private var generator: SplitMix64
  private var clock: Int64 = 0

  init(seed: UInt64) { generator = SplitMix64(state: seed) }

  var used: Int { indexes.reduce(0) { $0 + $1.usedByteCount } }

  static func digest(_ number: Int) -> OriginalDigest {
    OriginalDigest(low: UInt64(number) &* 0x9E37_79B9_7F4A_7C15, high: UInt64(number))
  }

  /// One random step; returns what differs between the two tellings, or is wrong in both.
  mutating func step() -> String? {
    clock += 1
    let store = Int.random(in: 0...1, using: &generator)
    let number = Int.random(in: 0..<40, using: &generator)
    switch Int.random(in: 0..<20, using: &generator) {
    case 0..<9: return keep(number, in: store)
    case 9..<13: use(number, in: store)
    case 13, 14: remove(number, in: store)
    case 15: return lower()
    case 16: move(number, in: store)
    case 17: readers[store] = []
    default: readers[store].insert(Self.digest(number))
    }
    return difference(store)
  }

  private func record(_ number: Int, byteCount: Int, isPartial: Bool) -> OriginalRecord {
    OriginalRecord(
      key: Self.digest(number), entity: UInt64(number % 7) << 40, audience: UInt32(number % 3),
      contentHash: UInt64(clock), byteCount: UInt32(byteCount), width: Int32(byteCount / 100),
      flags: isPartial ? .partial : [], lastUse: clock)
  }

  // MARK: Steps

  private mutating func keep(_ number: Int, in store: Int) -> String? {
    let isPartial = number % 5 == 0
    let new = record(
      number, byteCount: Int.random(in: 1...(limit / 4), using: &generator), isPartial: isPartial)
    let old = items[store].firstIndex { $0.record.key == new.key }
    if isPartial {
      if let old, let place = indexes[store].place(of: new.key, isPartial: true) {
        items[store].remove(at: old)
        indexes[store].remove(place)
      }
    }
    let need = new.roundedByteCount
    guard need <= limit / 4 else { return nil }
    let wanted = victims(for: need, isPartial: isPartial, in: store, sparing: new.key)
    let before = items
    let hasRoom = makeRoom(for: need, isPartial: isPartial, in: store, sparing: new.key)
    guard let wanted else {
      return hasRoom || items != before ? "evicted in vain" : nil
    }
    guard hasRoom else { return "no room for \(need) of \(limit), \(used) used" }
    let gone = (0...1).map { store in
      before[store].map(\.record.key).filter { key in
        !items[store].contains { $0.record.key == key }
      }
    }
    if gone.map(Set.init) != wanted.map(Set.init) { return "evicted \(gone), not \(wanted)" }
    if used + need > limit { return "\(used) and \(need) exceed \(limit)" }
    insert(new, in: store)
    return difference(store)
  }

  private mutating func insert(_ new: OriginalRecord, in store: Int) {
    let smaller = items[store].indices.filter {
      let record = items[store][$0].record
      return record.entity == new.entity && record.key != new.key && record.rank == .regular
        && record.width < new.width && new.rank == .regular
    }
    for index in smaller {
      items[store][index].record.flags.insert(.outgrown)
      items[store][index].outgrown = clock
      if let place = indexes[store].place(of: items[store][index].record.key) {
        indexes[store].outgrow(place)
      }
      clock += 1
    }
    items[store].removeAll { $0.record.key == new.key }
    items[store].append(Item(record: new))
    let isPartial = new.rank == .partial
    if let place = indexes[store].place(of: new.key, isPartial: isPartial) {
      indexes[store].replace(place, with: new)
    } else {
      _ = indexes[store].insert(new)
    }
  }

  private mutating func use(_ number: Int, in store: Int) {
    let key = Self.digest(number)
    guard let place = indexes[store].place(of: key, isPartial: number % 5 == 0),
      let index = items[store].firstIndex(where: { $0.record.key == key })
    else { return }
    indexes[store].use(place, at: clock)
    items[store][index].record.lastUse = clock
    items[store][index].record.flags.remove(.outgrown)
    items[store][index].record.flags.insert(.isUsed)
  }

  private mutating func remove(_ number: Int, in store: Int) {
    let entity = UInt64(number % 7) << 40
    for place in indexes[store].places(of: entity) { indexes[store].remove(place) }
    items[store].removeAll { $0.record.entity == entity }
  }

  private mutating func move(_ number: Int, in store: Int) {
    let (old, new) = (UInt64(number % 7) << 40, UInt64((number + 1) % 7) << 40)
    for place in indexes[store].places(of: old) { indexes[store].move(place, to: new) }
    for index in items[store].indices where items[store][index].record.entity == old {
      items[store][index].record.entity = new
    }
  }

  private mutating func lower() -> String? {
    readers = [[], []]
    limit = limit > 100_000 ? limit / 2 : 400_000
    _ = makeRoom(for: 0, isPartial: false, in: 0, sparing: nil)
    return used > limit ? "\(used) exceed the lowered \(limit)" : nil
  }

  // MARK: Room

  private mutating func makeRoom(
    for need: Int, isPartial: Bool, in store: Int, sparing key: OriginalDigest?
  ) -> Bool {
    let partials = indexes.reduce(0) { $0 + $1.partialByteCount }
    var plan = RoomPlan(
      for: need, in: store, budget: .init(byteCount: limit, used: used),
      volume: .init(byteCount: .max, used: indexes[store].usedByteCount),
      partials: isPartial ? .init(byteCount: limit / 4, used: partials) : nil)
    func isSpared(_ own: OriginalDigest, _ index: Int) -> Bool {
      readers[index].contains(own) || (index == store && own == key)
    }
    let evictable = (0...1).map { index in
      items[index].filter { !isSpared($0.record.key, index) }
    }
    func sum(_ items: [Item]) -> Int { items.reduce(0) { $0 + $1.record.roundedByteCount } }
    guard
      plan.canMakeRoom(
        evicting: sum(evictable[0] + evictable[1]), own: sum(evictable[store]),
        partials: sum((evictable[0] + evictable[1]).filter { $0.record.rank == .partial }))
    else { return false }
    while !plan.hasRoom {
      let places = (0...1).map { index in
        indexes[index].oldest { !isSpared(indexes[index][$0].key, index) }
      }
      let heads = (0...1).map { index in places[index].map { indexes[index].head($0) } }
      guard let index = plan.next(among: heads), let head = heads[index], let place = places[index]
      else { return false }
      items[index].removeAll { $0.record == indexes[index][place] }
      indexes[index].remove(place)
      plan.note(head, of: index)
    }
    return true
  }

  /// The keys that have to go, by the lists; `nil` where there is no room.
  private func victims(
    for need: Int, isPartial: Bool, in store: Int, sparing key: OriginalDigest
  ) -> [[OriginalDigest]]? {
    var all: [(store: Int, item: Item)] = []
    for index in 0...1 { all += items[index].map { (index, $0) } }
    var gone: [[OriginalDigest]] = [[], []]
    func total(_ isCounted: (Item) -> Bool) -> Int {
      all.filter { isCounted($0.item) }.reduce(0) { $0 + $1.item.record.roundedByteCount }
    }
    let candidates = all.filter {
      !readers[$0.store].contains($0.item.record.key)
        && !($0.store == store && $0.item.record.key == key)
    }.sorted { $0.item.order < $1.item.order }
    var queues = (0...1).map { store in candidates.filter { $0.store == store } }
    while let candidate = queues.compactMap(\.first).min(by: {
      ($0.item.record.rank, $0.item.record.lastUse) < ($1.item.record.rank, $1.item.record.lastUse)
    }) {
      queues[candidate.store].removeFirst()
      let isTight = total { _ in true } + need > limit
      let arePartialsTight =
        isPartial && total { $0.record.flags.contains(.partial) } + need > limit / 4
      guard isTight || (arePartialsTight && candidate.item.record.flags.contains(.partial)) else {
        continue
      }
      all.removeAll { $0.store == candidate.store && $0.item == candidate.item }
      gone[candidate.store].append(candidate.item.record.key)
    }
    let fits =
      total { _ in true } + need <= limit
      && !(isPartial && total { $0.record.flags.contains(.partial) } + need > limit / 4)
    return fits ? gone : nil
  }

  // MARK: Comparison

  private func difference(_ store: Int) -> String? {
    let index = indexes[store]
    if used > limit { return "\(used) exceed \(limit)" }
    if index.count != items[store].count { return "\(index.count) of \(items[store].count)" }
    let sum = items[store].reduce(0) { $0 + $1.record.roundedByteCount }
    if index.usedByteCount != sum { return "\(index.usedByteCount) instead of \(sum)" }
    for item in items[store] {
      let isPartial = item.record.rank == .partial
      guard let place = index.place(of: item.record.key, isPartial: isPartial),
        index[place] == item.record
      else { return "\(item) is not found" }
      guard index.places(of: item.record.entity).contains(place) else { return "\(item) is lost" }
    }
    return nil
  }
}
