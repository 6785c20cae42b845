/// The removals that a table file remembers, so that an image in another file of the same table
/// does not come back when its file is taken in: 496 entries between header and records.
///
/// An entry says that the subject's images up to its generation are removed.
///
/// Invariants:
/// 1. A new entry goes to a free place. The place of the entry that it outdates is free afterwards
///    and not before, so that a torn write loses no removal that was noted earlier.
/// 2. At most `entityLimit` entries are of entities. The oldest of them gives its place away only
///    after an entry for `forgotten` covers it.
/// 3. So the highest generation under a subject counts, and some place is always free.
struct RemovalLog {
  enum Subject: Hashable, Sendable {
    case entity(TableID.Digest)
    /// Every image of the table.
    case all
    /// Removals that had no room: nothing as old may be taken in. No image of the file itself is
    /// removed by it.
    case forgotten
  }

  struct Entry: Hashable, Sendable {
    let subject: Subject
    let generation: UInt64
  }

  static let offset = TableLayout.headerByteCount
  static let byteCount = TableLayout.recordsOffset - offset
  static let entryByteCount = 32
  private static let placeCount = byteCount / entryByteCount
  /// Leaves places for both other subjects, and one for an entry that replaces another.
  private static let entityLimit = placeCount - 4
  private static let mark: UInt64 = 1 << 63

  private let nonce: UInt64
  /// A place whose entry a later one of its subject outdates is free.
  private var places = [Entry?](repeating: nil, count: placeCount)
  private(set) var removals = Removals()
  private var lastPlace = placeCount - 1

  /// An empty log.
  init(nonce: UInt64) { self.nonce = nonce }

  /// Reads the log of the file with this nonce; bytes that are no entry are free places.
  init(reading bytes: [UInt8], nonce: UInt64) {
    self.nonce = nonce
    for place in places.indices {
      guard let entry = Self.entry(in: bytes, at: place, nonce: nonce) else { continue }
      places[place] = entry
      removals.note(entry.subject, upTo: entry.generation)
    }
    // An entry that gave its place away stays in the file until the place is written again. Such
    // entries are among the oldest, and `forgotten` covers them (invariant 2).
    for entry in entities.dropLast(Self.entityLimit) { forget(entry) }
  }

  var entries: Set<Entry> {
    Set(removals.generations.map { Entry(subject: $0.key, generation: $0.value) })
  }
  var isEmpty: Bool { removals.isEmpty }

  /// The generation up to which the subject's images are removed; 0 for none.
  func generation(of subject: Subject) -> UInt64 { removals.generations[subject] ?? 0 }

  /// True when the image of a record in another file must not be taken in.
  func forbids(_ record: SlotRecord) -> Bool { removals.covers(record) }

  /// Notes a removal, and returns the places to write, in this order.
  mutating func note(_ entry: Entry) -> [Int] {
    guard entry.generation > generation(of: entry.subject) else { return [] }
    var written: [Int] = []
    if generation(of: entry.subject) == 0, case .entity = entry.subject,
      removals.generations.count >= Self.entityLimit, entities.count >= Self.entityLimit,
      let oldest = entities.first
    {
      written += note(Entry(subject: .forgotten, generation: oldest.generation))
      forget(oldest)
    }
    // The next place without an entry that counts (invariant 3).
    repeat { lastPlace = (lastPlace + 1) % Self.placeCount } while counts(places[lastPlace])
    places[lastPlace] = entry
    removals.note(entry.subject, upTo: entry.generation)
    return written + [lastPlace]
  }

  /// The 32 bytes of a place, and their offset in the file.
  func bytes(of place: Int) -> (bytes: [UInt8], offset: Int) {
    let words = places[place].map { Self.words(of: $0, at: place, nonce: nonce) } ?? [0, 0, 0, 0]
    var bytes: [UInt8] = []
    for word in words { bytes.put(word) }
    return (bytes, Self.offset + place * Self.entryByteCount)
  }

  /// All bytes of the log, as they stand behind the header.
  var bytes: [UInt8] {
    (0..<Self.placeCount).flatMap { bytes(of: $0).bytes }
  }

  // MARK: Private

  private func counts(_ entry: Entry?) -> Bool {
    entry.map { $0.generation == generation(of: $0.subject) } ?? false
  }

  private mutating func forget(_ entry: Entry) { removals.generations[entry.subject] = nil }

  /// The entries of entities, the oldest first.
  private var entities: [Entry] {
    removals.generations.compactMap { subject, generation in
      if case .entity = subject { Entry(subject: subject, generation: generation) } else { nil }
    }
    .sorted { $0.generation < $1.generation }
  }

  private static func entry(in bytes: [UInt8], at place: Int, nonce: UInt64) -> Entry? {
    let offset = place * entryByteCount
    guard bytes.count >= offset + entryByteCount else { return nil }
    func word(_ index: Int) -> UInt64 {
      bytes.withUnsafeBytes { $0.number(at: offset + index * 8, as: UInt64.self) }
    }
    // First, since every opening reads all places and most are free.
    let generation = word(2) & ~mark
    guard generation > 0 else { return nil }
    let found = (0..<4).map(word)
    let subject: Subject =
      switch (found[2] & mark != 0, found[0]) {
      case (false, _): .entity(TableID.Digest(low: found[0], high: found[1]))
      case (true, 0): .all
      case (true, _): .forgotten
      }
    let entry = Entry(subject: subject, generation: generation)
    return words(of: entry, at: place, nonce: nonce) == found ? entry : nil
  }

  private static func words(of entry: Entry, at place: Int, nonce: UInt64) -> [UInt64] {
    let (low, high, flag): (UInt64, UInt64, UInt64) =
      switch entry.subject {
      case .entity(let digest): (digest.low, digest.high, 0)
      case .all: (0, 0, mark)
      case .forgotten: (1, 0, mark)
      }
    let generation = entry.generation | flag
    let hash = LaneHash.hash(
      nonce, UInt64(place), low, high, generation, LaneHash.keys.0, LaneHash.keys.1, 0)
    return [low, high, generation, hash]
  }
}

/// Removals that a file does not have: of each subject the generation up to which its images are removed.
struct Removals: Sendable {
  fileprivate(set) var generations: [RemovalLog.Subject: UInt64] = [:]

  var isEmpty: Bool { generations.isEmpty }

  mutating func note(_ subject: RemovalLog.Subject, upTo generation: UInt64) {
    generations[subject] = max(generations[subject] ?? 0, generation)
  }

  func covers(_ record: SlotRecord) -> Bool {
    !isEmpty
      && [.entity(record.entity), .all, .forgotten].contains {
        record.generation <= generations[$0] ?? 0
      }
  }

  /// Notes them in a log, the oldest first, so that these are forgotten first, and returns the places to write.
  func note(in log: inout RemovalLog) -> [Int] {
    generations.sorted { $0.value < $1.value }
      .flatMap { log.note(RemovalLog.Entry(subject: $0.key, generation: $0.value)) }
  }
}
