import CommandSupport
import Foundation
import Locking
import OriginalStore
import TableStore
import TestSupport

/// Long random mixed steps on two stores that share a budget, against a model of both.
struct OriginalSoakMethod: TortureMethod {
  static let name = "originals-soak"
  static let grammar = makeGrammar(
    summary: "plays two stores of originals with one budget against a model",
    count: "steps (100000)",
    discussion: """
      Originals are kept, replaced, read, copied, confirmed and removed, by key, entity and audience; the
      budget is lowered and raised; stores are closed and opened; files are cut, changed and exchanged.
      After each step both stores must have what the model has, in the order of use of both together,
      and their folders as many bytes as it says. In every eighth step the folders are counted at each
      call to the system as well. In every hundredth, on another folder, the clock jumps between sessions
      by a year, to 1970, 2038 or 2106, and records claim that originals are fresh for ever: nothing may
      show 30 days after its last use, nor be fresh 30 days after its answer.
      """)

  private let count: Int
  private let seed: UInt64
  private let plant: Plant

  /// Faults that a run is to find.
  enum Plant {
    case none
    /// The model hears of no use.
    case forgottenUses
    /// The store keeps and believes all for ten years.
    case credulity
  }

  init(_ arguments: Arguments, seed: UInt64) throws {
    self.init(
      count: try arguments.integer("--count", in: 1...1_000_000_000) ?? 100_000, seed: seed,
      plant: .none)
  }

  init(count: Int, seed: UInt64, plant: Plant) {
    (self.count, self.seed, self.plant) = (count, seed, plant)
  }

  func run() async throws -> Findings {
    let findings = Findings(Self.name, seed: seed, isQuiet: plant != .none)
    var stores = try OriginalStores(findings, isForgetful: plant == .forgottenUses)
    var random = SplitMix64(state: seed)
    for store in 0...1 { try await stores.keep(0, 1, in: store) }
    for step in 0..<count {
      if Task.isCancelled { break }
      stores.countsAtCalls = step.isMultiple(of: 8)
      try await stores.step(using: &random)
      findings.count("steps")
      try stores.compare("step \(step)")
      if step.isMultiple(of: 100) {
        var clocks = try OriginalClocks(findings, isCredulous: plant == .credulity)
        try await clocks.run(using: &random)
      }
      // What differs once differs for long.
      if findings.faultCount > 20 { break }
    }
    return findings
  }
}

/// The stores, and the model beside them.
private struct OriginalStores {
  private static let budgets = [110_000, OriginalCatalogue.tightBudget, 260_000]

  private let findings: Findings
  private let isForgetful: Bool
  private let parent: TemporaryFolder
  private let folders: [OriginalsFolder]
  private let budget: OriginalBudget
  private let clock = Lock<Int64>(1_700_000_000_000_000)
  private let watched = Lock(false)
  /// That of the budget; while it is lowered, what it was.
  private let limit = Lock(OriginalCatalogue.tightBudget)
  private var shelves: [OriginalShelf] = []
  private var model: OriginalSoakModel

  init(_ findings: Findings, isForgetful: Bool) throws {
    (self.findings, self.isForgetful) = (findings, isForgetful)
    parent = try TemporaryFolder(prefix: "imagecache-torture")
    let path = parent.url.path
    folders = [OriginalsFolder(path: path + "/one"), OriginalsFolder(path: path + "/two")]
    budget = OriginalBudget(byteCount: OriginalCatalogue.tightBudget)
    model = OriginalSoakModel(byteCount: OriginalCatalogue.tightBudget)
    shelves = folders.map(open)
  }

  var countsAtCalls: Bool {
    get { watched.withLock { $0 } }
    nonmutating set { watched.withLock { $0 = newValue } }
  }

  mutating func step(using random: inout SplitMix64) async throws {
    clock.withLock { $0 += 1000 }
    let store = Int.random(in: 0...1, using: &random)
    let number = Int.random(in: OriginalCatalogue.numbers, using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<45:
      try await keep(
        number, .random(in: OriginalCatalogue.versions, using: &random), in: store)
    case 45..<75: try await read(number, in: store)
    case 75..<83: try await remove(number, in: store, using: &random)
    case 83..<88: try copy(number, in: store)
    case 88..<93: try await confirm(number, in: store)
    case 93..<96: try await damage(number, in: store, using: &random)
    case 96..<98: setBudget(using: &random)
    default: try await reopen(store)
    }
  }

  // MARK: Steps

  mutating func keep(_ number: Int, _ version: Int, in store: Int) async throws {
    let key = OriginalCatalogue.key(number)
    let facts = OriginalCatalogue.facts(number, version, stored: 0)
    await shelves[store].keep(number, version)
    model.keep(
      number, version, in: store,
      fileByteCount: try OriginalFolder.fileByteCount(
        content: OriginalCatalogue.byteCount(number, version), key, facts))
    findings.count("keeps")
  }

  private mutating func read(_ number: Int, in store: Int) async throws {
    let kept = try shelves[store].read(OriginalCatalogue.key(number))
    check(kept, number, in: store)
    if !isForgetful { model.use(number, in: store) }
  }

  private func check(_ kept: KeptContent?, _ number: Int, in store: Int) {
    guard let kept else { return }
    findings.count("originals compared")
    let version = OriginalCatalogue.version(of: kept, number)
    if version == nil || version != model.stores[store][number]?.version {
      findings.report(.wrongPicture, "original \(number) of store \(store)")
    }
  }

  private mutating func remove(
    _ number: Int, in store: Int, using random: inout SplitMix64
  ) async throws {
    let shelf = shelves[store]
    switch Int.random(in: 0..<8, using: &random) {
    case 0:
      let entity = OriginalCatalogue.entity(of: number)
      try await shelf.perform { shelf throws(TableError) in try shelf.removeAll(of: entity) }
      model.remove(in: store) { OriginalCatalogue.entity(of: $0) == entity }
    case 1:
      try await shelf.perform { shelf throws(TableError) in
        try shelf.removeAll(forAudience: "alice")
      }
      model.remove(in: store) { $0.isMultiple(of: 3) }
    default:
      try await shelf.perform { shelf throws(TableError) in
        try shelf.remove(OriginalCatalogue.key(number))
      }
      model.remove(in: store) { $0 == number }
    }
    findings.count("removals")
  }

  private mutating func copy(_ number: Int, in store: Int) throws {
    let target = parent.url.appendingPathComponent("copy")
    let isThere = try shelves[store].copyFile(
      of: OriginalCatalogue.key(number), to: target.path)
    guard isThere, let version = model.stores[store][number]?.version else {
      if isThere { findings.report(.undead, "a copy of original \(number)") }
      return
    }
    if try Data(contentsOf: target) != OriginalCatalogue.content(number, version) {
      findings.report(.wrongPicture, "the copy of original \(number)")
    }
    if !isForgetful { model.use(number, in: store) }
    findings.count("copies")
  }

  /// The right hash confirms, and a wrong one neither confirms nor drops.
  private mutating func confirm(_ number: Int, in store: Int) async throws {
    let (shelf, key) = (shelves[store], OriginalCatalogue.key(number))
    guard let kept = try shelf.read(key) else { return }
    check(kept, number, in: store)
    if !isForgetful { model.use(number, in: store) }
    let second = UInt32(clamping: shelf.now / 1_000_000)
    let own = RecordedFreshness(answered: second, freshFor: 60)
    await shelf.budget.run {
      shelf.confirm(key, of: kept.contentHash, own)
      shelf.confirm(key, of: kept.contentHash &+ 1, RecordedFreshness())
    }
    try await shelf.perform { shelf throws(TableError) in
      try shelf.drop(key, of: kept.contentHash &+ 1)
    }
    if shelf.look(key)?.freshness != own {
      findings.report(.other, "original \(number) is not as fresh as it was called")
    }
  }

  /// Another hand cuts or changes a file, or puts another's in its place: a miss, and it is deleted.
  private mutating func damage(
    _ number: Int, in store: Int, using random: inout SplitMix64
  ) async throws {
    let key = OriginalCatalogue.key(number)
    let path = folders[store].path + "/" + key.digest.fileName
    guard var bytes = FileManager.default.contents(atPath: path) else { return }
    let place = Int.random(in: bytes.indices, using: &random)
    switch Int.random(in: 0..<3, using: &random) {
    case 0: bytes = bytes.prefix(place)
    case 1: bytes[place] ^= 1 << UInt8(place % 8)
    default:
      let other = OriginalCatalogue.key((number + 1) % OriginalCatalogue.numbers.count)
      let otherPath = folders[store].path + "/" + other.digest.fileName
      bytes = FileManager.default.contents(atPath: otherPath) ?? Data()
    }
    // No file takes more than the one before: the budget is not the attacker's.
    guard bytes.count <= model.stores[store][number]?.byteCount ?? 0,
      FileManager.default.createFile(
        atPath: path, contents: bytes, attributes: [.posixPermissions: 0o600])
    else { return }
    if try shelves[store].read(key) != nil {
      findings.report(.wrongPicture, "damaged original \(number)")
    }
    await budget.run {}
    model.remove(in: store) { $0 == number }
    findings.count("files damaged")
  }

  private mutating func setBudget(using random: inout SplitMix64) {
    let byteCount = Self.budgets[Int.random(in: 0..<3, using: &random)]
    limit.withLock { $0 = max($0, byteCount) }
    budget.setByteCount(byteCount)
    limit.withLock { $0 = byteCount }
    model.setByteCount(byteCount)
    findings.count("budgets set")
  }

  private mutating func reopen(_ store: Int) async throws {
    // Its jobs end first: each retains it.
    await budget.run {}
    let other = shelves[1 - store]
    shelves = []
    let opened = open(folders[store])
    await budget.run { try? opened.open() }
    shelves = store == 0 ? [opened, other] : [other, opened]
    // Lowered by less than a page: the store owns its folder again, and its index counts.
    budget.setByteCount(model.byteCount - 1)
    budget.setByteCount(model.byteCount)
    findings.count("openings")
  }

  private func open(_ folder: OriginalsFolder) -> OriginalShelf {
    folder.shelf(budget) { settings in
      settings.now = { [clock] in clock.withLock { $0 } }
      settings.system = SystemCalls { [watched, folders, limit, findings] _ throws(SystemError) in
        guard watched.withLock({ $0 }) else { return }
        let used = folders.reduce(0) { $0 + $1.byteCount }
        if used > limit.withLock({ $0 }) {
          findings.report(.other, "\(used) bytes during a call")
        }
        findings.count("calls with a count")
      }
    }
  }

  // MARK: The model

  func compare(_ context: String) throws {
    for store in 0...1 {
      let found = OriginalCatalogue.numbers.filter {
        shelves[store].look(OriginalCatalogue.key($0)) != nil
      }
      let expected = model.stores[store].keys.sorted()
      if found != expected {
        findings.report(.other, "store \(store) has \(found) and not \(expected), \(context)")
      }
    }
    let used = folders.reduce(0) { $0 + $1.byteCount }
    if used > budget.byteCount || used != budget.usedByteCount || used != model.usedByteCount {
      findings.report(
        .other,
        "\(used) bytes, counted as \(budget.usedByteCount), not \(model.usedByteCount), of "
          + "\(budget.byteCount), \(context)")
    }
  }
}
