/// Which originals a store has, and in which order they were used: decides, does nothing.
///
/// A place is the number of a record in the index file. Originals of three ranks stand in three
/// lists, each in the order of use, because partials go before originals, and outgrown originals
/// before others.
///
/// Invariants:
/// 1. `byKey` finds each occupied place by its key, `byEntity` by its entity; no two occupied places
///    have the same key and agree on `Flags.partial`. Hints have no `byEntity`.
/// 2. Each occupied place stands in the list of its record's rank and in no other; the others stand
///    in the list of free places.
/// 3. A list is in ascending order of `lastUse`, but for originals that were outgrown meanwhile: they
///    follow those that were outgrown before them. Lists of hints are in no order.
/// 4. `usedByteCount` is the sum of all files, each rounded up, of the index file and of foreign ones.
struct OriginalIndex {
  /// Which originals go first: the lower ones.
  enum Rank: Int, Comparable, CaseIterable {
    case partial, outgrown, regular

    static func < (first: Rank, second: Rank) -> Bool { first.rawValue < second.rawValue }
  }

  private struct Node {
    var record: OriginalRecord
    var previous: Int32 = none
    /// The next newer place of its list, or the next free place.
    var next: Int32 = none
    var isFree: Bool { previous == freed }
  }

  private struct List {
    var first: Int32 = none
    var last: Int32 = none
  }

  /// Bytes of files, each rounded up.
  private struct Sums {
    var files = 0
    var partials = 0

    mutating func add(_ record: OriginalRecord) {
      files += record.roundedByteCount
      if record.rank == .partial { partials += record.roundedByteCount }
    }

    mutating func remove(_ record: OriginalRecord) {
      files -= record.roundedByteCount
      if record.rank == .partial { partials -= record.roundedByteCount }
    }
  }

  private static let none: Int32 = -1
  private static let freed: Int32 = -2
  static let maximumPlaceCount = 1 << 20

  private var nodes: [Node] = []
  private var byKey: PlaceTable
  private var byEntity: PlaceTable?
  private var lists = [List](repeating: List(), count: Rank.allCases.count)
  private var firstFree = none
  private var sums = Sums()

  /// The bytes of all partials, each rounded up.
  var partialByteCount: Int { sums.partials }

  /// The bytes of the index file, rounded up; 0 while there is none.
  var indexByteCount: Int = 0

  /// The bytes of files that no record stands for, each rounded up.
  var foreignByteCount = 0

  init() { (byKey, byEntity) = (PlaceTable(), PlaceTable()) }

  /// The records of an index file; of two for one original the one that was used later counts.
  ///
  /// - Parameters:
  ///   - placeCount: The places of the file, for which room is made; `nil` for as many as there are
  ///     records.
  ///   - now: A use later than this, in microseconds since 1970, counts as one of this moment: the clock
  ///     was put back, and the original would be kept for too long.
  ///   - isOrdered: False for hints, of which nothing is evicted: their lists are in no order, and an
  ///     entity's places are found by a look at each. A first miss waits for these, and sorting alone
  ///     would take longer than all else.
  init(
    _ records: some Sequence<(place: Int, record: OriginalRecord)>, placeCount: Int? = nil,
    now: Int64, isOrdered: Bool = true
  ) {
    byKey = PlaceTable()
    nodes.reserveCapacity(placeCount ?? records.underestimatedCount)
    for (place, record) in records where (0..<Self.maximumPlaceCount).contains(place) {
      makeNodes(upTo: place)
      nodes[place] = Node(record: record)
    }
    fillByKey()
    if isOrdered {
      fillByEntity()
      link(placesByUse(), now: now)
    } else {
      link(nodes.indices, now: now)
    }
  }

  // MARK: Answers

  var count: Int { byKey.count }

  var usedByteCount: Int { sums.files + indexByteCount + foreignByteCount }

  /// The bytes that the index takes in memory.
  var memoryByteCount: Int {
    nodes.capacity * MemoryLayout<Node>.stride + byKey.byteCount + (byEntity?.byteCount ?? 0)
  }

  /// The record at an occupied place.
  subscript(place: Int) -> OriginalRecord { nodes[place].record }

  func place(of key: OriginalDigest, isPartial: Bool = false) -> Int? {
    byKey.place(for: key.low) {
      nodes[$0].record.key == key && nodes[$0].record.flags.contains(.partial) == isPartial
    }
  }

  func places(of entity: UInt64) -> [Int] {
    guard let byEntity else { return places { $0.entity == entity } }
    var found: [Int] = []
    _ = byEntity.place(for: entity) { place in
      if nodes[place].record.entity == entity { found.append(place) }
      return false
    }
    return found
  }

  /// Looks at each record, in the order of places.
  func places(where isWanted: (OriginalRecord) -> Bool) -> [Int] {
    nodes.indices.filter { !nodes[$0].isFree && isWanted(nodes[$0].record) }
  }

  /// The place of the original that goes first, of a rank up to `rank`.
  func oldest(upTo rank: Rank = .regular, where isEvictable: (Int) -> Bool) -> Int? {
    for list in lists[...rank.rawValue] {
      var place = list.first
      while place != Self.none {
        if isEvictable(Int(place)) { return Int(place) }
        place = nodes[Int(place)].next
      }
    }
    return nil
  }

  /// The place at which the next record is inserted, free or behind all others.
  var nextPlace: Int { firstFree == Self.none ? nodes.count : Int(firstFree) }

  // MARK: Changes

  /// Adds the record of an original that has none, as the one used last, at `nextPlace`.
  mutating func insert(_ record: OriginalRecord) -> Int {
    let place = nextPlace
    if firstFree == Self.none { makeNodes(upTo: place) } else { firstFree = nodes[place].next }
    fill(place, record)
    return place
  }

  /// Puts another record in the place of the one of the same original, as the one used last.
  mutating func replace(_ place: Int, with record: OriginalRecord) {
    empty(place)
    fill(place, record)
  }

  /// Notes a use, later than all before; an outgrown original counts as others from then on.
  mutating func use(_ place: Int, at stamp: Int64) {
    unlink(place)
    nodes[place].record.flags.remove(.outgrown)
    nodes[place].record.flags.insert(.isUsed)
    nodes[place].record.lastUse = stamp
    link(place)
  }

  /// Lets an original go before others, since a larger one of its entity came.
  mutating func outgrow(_ place: Int) {
    unlink(place)
    nodes[place].record.flags.insert(.outgrown)
    link(place)
  }

  /// Changes what does not concern the order: freshness, flags of the disk's state.
  mutating func note(_ place: Int, _ change: (inout OriginalRecord) -> Void) {
    let rank = nodes[place].record.rank
    change(&nodes[place].record)
    assert(nodes[place].record.rank == rank, "A note must not change the order.")
  }

  /// Lets the original count as one of another entity.
  mutating func move(_ place: Int, to entity: UInt64) {
    byEntity?.remove(place) { nodes[$0].record.entity }
    nodes[place].record.entity = entity
    byEntity?.insert(place) { nodes[$0].record.entity }
  }

  mutating func remove(_ place: Int) {
    empty(place)
    (nodes[place].previous, nodes[place].next) = (Self.freed, firstFree)
    firstFree = Int32(place)
  }

  // MARK: Private

  /// Finds all places by key; of two records of one original the one with the earlier use is freed.
  private mutating func fillByKey() {
    byKey = nodes.withUnsafeMutableBufferPointer { nodes in
      PlaceTable(nodes.indices) {
        nodes[$0].isFree ? nil : nodes[$0].record.key.low
      } choose: {
        known, new in
        guard nodes[known].record.names(nodes[new].record) else { return nil }
        let isLater = nodes[known].record.lastUse < nodes[new].record.lastUse
        nodes[isLater ? known : new].previous = Self.freed
        return isLater ? new : known
      }
    }
  }

  private mutating func fillByEntity() {
    byEntity = nodes.withUnsafeBufferPointer { nodes in
      PlaceTable(nodes.indices) { nodes[$0].isFree ? nil : nodes[$0].record.entity }
    }
  }

  /// The occupied places in the order of use.
  private func placesByUse() -> [Int] {
    // Sorted beside the records: those are moved by none of the comparisons.
    var order: [(use: Int64, place: Int)] = []
    order.reserveCapacity(count)
    for place in nodes.indices.reversed() where !nodes[place].isFree {
      order.append((nodes[place].record.lastUse, place))
    }
    order.sort { $0.use < $1.use }
    return order.map(\.place)
  }

  /// Puts the occupied places into their lists, in the order given, and counts their files; the free ones
  /// follow each other in the order of the file.
  ///
  /// - Parameter now: No use is later.
  private mutating func link(_ places: some Sequence<Int>, now: Int64) {
    var (sums, lists, firstFree) = (Sums(), lists, firstFree)
    nodes.withUnsafeMutableBufferPointer { nodes in
      for place in places where !nodes[place].isFree {
        Self.link(place, nodes, &lists)
        nodes[place].record.lastUse = min(nodes[place].record.lastUse, now)
        sums.add(nodes[place].record)
      }
      for place in nodes.indices.reversed() where nodes[place].isFree {
        nodes[place].next = firstFree
        firstFree = Int32(place)
      }
    }
    (self.sums, self.lists, self.firstFree) = (sums, lists, firstFree)
  }

  private mutating func makeNodes(upTo place: Int) {
    guard place >= nodes.count else { return }
    // By a part of what there is: doubling would waste memory.
    if place >= nodes.capacity { nodes.reserveCapacity(max(16, place + 1 + place / 32)) }
    let empty = OriginalRecord(
      key: OriginalDigest(low: 0, high: 0), entity: 0, audience: 0, contentHash: 0, byteCount: 0)
    while place >= nodes.count { nodes.append(Node(record: empty, previous: Self.freed)) }
  }

  private mutating func fill(_ place: Int, _ record: OriginalRecord) {
    nodes[place].record = record
    link(place)
    byKey.insert(place) { nodes[$0].record.key.low }
    byEntity?.insert(place) { nodes[$0].record.entity }
    sums.add(record)
  }

  private mutating func empty(_ place: Int) {
    let record = nodes[place].record
    unlink(place)
    byKey.remove(place) { nodes[$0].record.key.low }
    byEntity?.remove(place) { nodes[$0].record.entity }
    sums.remove(record)
  }

  private mutating func link(_ place: Int) {
    nodes.withUnsafeMutableBufferPointer { Self.link(place, $0, &lists) }
  }

  /// Appends the place to the list of its rank.
  private static func link(
    _ place: Int, _ nodes: UnsafeMutableBufferPointer<Node>, _ lists: inout [List]
  ) {
    let rank = nodes[place].record.rank.rawValue
    let (own, last) = (Int32(place), lists[rank].last)
    (nodes[place].previous, nodes[place].next) = (last, none)
    lists[rank].last = own
    if last == none { lists[rank].first = own } else { nodes[Int(last)].next = own }
  }

  private mutating func unlink(_ place: Int) {
    let rank = nodes[place].record.rank.rawValue
    let (previous, next) = (nodes[place].previous, nodes[place].next)
    if previous == Self.none { lists[rank].first = next } else { nodes[Int(previous)].next = next }
    if next == Self.none {
      lists[rank].last = previous
    } else {
      nodes[Int(next)].previous = previous
    }
  }
}

extension OriginalRecord {
  /// Whether both are records of one original, or of one partial.
  fileprivate func names(_ other: OriginalRecord) -> Bool {
    key == other.key && flags.contains(.partial) == other.flags.contains(.partial)
  }

  var rank: OriginalIndex.Rank {
    flags.contains(.partial) ? .partial : flags.contains(.outgrown) ? .outgrown : .regular
  }

  /// What a budget counts for the file.
  var roundedByteCount: Int { RoomPlan.rounded(Int(byteCount)) }
}
