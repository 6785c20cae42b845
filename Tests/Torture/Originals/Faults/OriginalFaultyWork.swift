import Foundation
import Locking
import OriginalStore
import TableStore

/// The work of a program on a store of originals while calls fail.
struct OriginalFaultyWork {
  private typealias Fault = OriginalFaultsMethod.Fault

  private static let formerTarget = Data("The file before the copy.".utf8)

  /// The calls, and which of them fail.
  private final class Calls: Sendable {
    private let state = Lock((count: 0, failed: 0, fault: Fault?.none))
    private let watch: @Sendable () -> Void
    private let evict: Lock<(@Sendable () -> Void)?> = Lock(nil)

    init(watch: @escaping @Sendable () -> Void) { self.watch = watch }

    var count: Int { state.withLock { $0.count } }
    var failed: Int { state.withLock { $0.failed } }

    func fail(_ fault: Fault?) { state.withLock { $0.fault = fault } }

    /// Does something just before the next write.
    func beforeWrite(_ job: @escaping @Sendable () -> Void) { evict.withLock { $0 = job } }

    var system: SystemCalls {
      SystemCalls { [self] call throws(SystemError) in
        watch()
        if call.kind == .write, let job = evict.withLock({ $0.take() }) { job() }
        let code = state.withLock { state -> Int32? in
          defer { state.count += 1 }
          guard let fault = state.fault, state.count >= fault.first,
            state.count - fault.first < fault.count
          else { return nil }
          state.failed += 1
          return fault.code
        }
        if let code { throw SystemError(call: call.kind, code: code) }
      }
    }
  }

  private let folder: OriginalsFolder
  private let target: String
  private let fault: Fault?
  private let plant: OriginalFaultsMethod.Plant
  private let findings: Findings
  private let context: String
  private let byteCount: Int
  private let calls: Calls
  private let stored = Lock<[TableID]>([])
  /// What must be there where nothing is evicted, and what may be there.
  private var certain: [Int: Int] = [:]
  private var possible: [Int: Set<Int>] = [:]

  init(
    _ fault: OriginalFaultsMethod.Fault?, isTight: Bool, _ plant: OriginalFaultsMethod.Plant,
    _ findings: Findings
  ) throws {
    (self.fault, self.plant, self.findings) = (fault, plant, findings)
    let folder = try OriginalsFolder()
    self.folder = folder
    target = folder.path + ".copies/target"
    byteCount = isTight ? OriginalCatalogue.tightBudget : LargeOriginal.budget
    let times = fault?.count == .max ? "on" : "\(fault?.count ?? 0) times"
    context = "\(fault?.name ?? "no fault") from call \(fault?.first ?? 0) \(times)"
    calls = Calls { [byteCount, context] in
      guard isTight, folder.byteCount > byteCount else { return }
      findings.report(.other, "\(folder.byteCount) bytes during a call, \(context)")
    }
  }

  private var isTight: Bool { byteCount == OriginalCatalogue.tightBudget }

  /// Works with the fault, then without; returns how many calls there were.
  mutating func run() async throws -> Int {
    try await prepare()
    calls.fail(fault)
    var shelf: OriginalShelf? = open()
    if let shelf { await work(on: shelf) }
    let count = calls.count
    calls.fail(nil)
    findings.count("failed calls", calls.failed)
    if let shelf {
      check(shelf, "still failing")
      await keep(9, 2, on: shelf)
      if certain[9] != 2 { findings.report(.other, "nothing can be kept any more, \(context)") }
      let (counted, there) = (shelf.budget.usedByteCount, folder.byteCount)
      if counted != there {
        findings.report(.other, "\(counted) bytes count of \(there), \(context)")
      }
      await copy(9, from: shelf, whileEvicting: true)
    }
    shelf = nil
    let next = open()
    await next.budget.run { try? next.open() }
    await keep(8, 1, on: next)
    check(next, "in the next session")
    return count
  }

  // MARK: While calls fail

  private mutating func prepare() async throws {
    for path in [folder.path, folder.path + ".copies"] {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    try Self.formerTarget.write(to: URL(fileURLWithPath: target))
    let shelf = folder.shelf(OriginalBudget(byteCount: byteCount)) { settings in
      settings.report = { [stored] event in
        if case .stored(let id) = event { stored.withLock { $0.append(id) } }
      }
    }
    for number in 1...3 { await keep(number, 1, on: shelf) }
    if !isTight { await shelf.leave(LargeOriginal(0, 1, arrived: 1, on: shelf)) }
  }

  private func open() -> OriginalShelf {
    let limit = plant == .largeBudget ? 4 * byteCount : byteCount
    return folder.shelf(OriginalBudget(byteCount: limit)) { settings in
      settings.system = calls.system
      settings.report = { [stored] event in
        if case .stored(let id) = event { stored.withLock { $0.append(id) } }
      }
    }
  }

  private mutating func work(on shelf: OriginalShelf) async {
    await shelf.budget.run { try? shelf.open() }
    check(shelf, "at first")
    // More than the small budget has room for.
    for (number, version) in [(1, 2), (4, 2), (5, 4), (6, 4), (10, 1), (11, 3)] {
      await keep(number, version, on: shelf)
    }
    await remove([2], on: shelf) { shelf throws(TableError) in
      try shelf.remove(OriginalCatalogue.key(2))
    }
    if !isTight { await finishLarge(on: shelf) }
    await copy(1, from: shelf)
    check(shelf, "after a copy")
    _ = try? await shelf.perform { shelf throws(TableError) in try shelf.flush() }
    let user = OriginalUser(of: shelf)
    await user.suspend()
    check(shelf, "while suspended")
    await user.resume()
    let ofEntity = OriginalCatalogue.numbers.filter {
      OriginalCatalogue.entity(of: $0) == OriginalCatalogue.entity(of: 3)
    }
    await remove(ofEntity, on: shelf) { shelf throws(TableError) in
      try shelf.removeAll(of: OriginalCatalogue.entity(of: 3))
    }
    await keep(0, 3, on: shelf)
    check(shelf, "at last")
  }

  private mutating func keep(_ number: Int, _ version: Int, on shelf: OriginalShelf) async {
    stored.withLock { $0 = [] }
    await shelf.keep(number, version)
    let isStored = stored.withLock { $0.contains(OriginalCatalogue.key(number).id) }
    guard isStored || plant == .ignoredRefusals else { return findings.count("keeps refused") }
    findings.count("originals kept")
    (certain[number], possible[number]) = (version, [version])
  }

  private mutating func remove(
    _ numbers: [Int], on shelf: OriginalShelf,
    _ removal: @escaping @Sendable (OriginalShelf) throws(TableError) -> Void
  ) async {
    let isDone = (try? await shelf.perform(removal)) != nil
    if !isDone { findings.count("typed errors") }
    for number in numbers {
      certain[number] = nil
      // Where a call failed it may be there or not.
      if isDone { possible[number] = nil }
    }
  }

  /// A download whose first block an earlier session left.
  private func finishLarge(on shelf: OriginalShelf) async {
    let source = LargeOriginal(0, 1, on: shelf)
    let load = shelf.load(source)
    let found = await shelf.budget.run { shelf.takePartial(source.key, for: load) }
    if let found, !LargeOriginal.version(of: found.bytes, found.facts, 0).isRight {
      findings.report(.wrongPicture, "the first blocks, \(context)")
    }
    await shelf.write(source, for: load)
    await shelf.finish(source, for: load)
  }

  private mutating func copy(
    _ number: Int, from shelf: OriginalShelf, whileEvicting: Bool = false
  ) async {
    if whileEvicting {
      let budget = shelf.budget
      let former = budget.byteCount
      calls.beforeWrite {
        budget.setByteCount(0)
        budget.setByteCount(former)
      }
      certain = [:]
    }
    let leftOvers = copies.count
    let isDone = (try? shelf.copyFile(of: OriginalCatalogue.key(number), to: target)) == true
    let bytes = FileManager.default.contents(atPath: target)
    let versions = possible[number] ?? []
    let isWhole = versions.contains { OriginalCatalogue.content(number, $0) == bytes }
    if isDone { findings.count("copies") }
    if isDone ? !isWhole : bytes != Self.formerTarget && !isWhole {
      findings.report(.wrongPicture, "the copy of \(number), \(context)")
    }
    if whileEvicting, !isDone || shelf.look(OriginalCatalogue.key(number)) != nil {
      findings.report(.other, "no copy of an original that is evicted, \(context)")
    }
    // A copy that was begun stays only where it could not be deleted.
    if isDone, copies.count != leftOvers {
      findings.report(.other, "\(copies) after a copy, \(context)")
    }
  }

  private var copies: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder.path + ".copies")) ?? []
  }

  // MARK: What is there

  private func check(_ shelf: OriginalShelf, _ moment: String) {
    for number in OriginalCatalogue.numbers {
      let kept: KeptContent?
      do throws(TableError) {
        kept = try shelf.read(OriginalCatalogue.key(number))
      } catch {
        findings.count("typed errors")
        continue
      }
      if let kept {
        findings.count("originals compared")
        let version = OriginalCatalogue.version(of: kept, number)
        if version == nil {
          findings.report(.wrongPicture, "original \(number) \(moment), \(context)")
        } else if possible[number]?.contains(version ?? 0) != true {
          findings.report(.undead, "original \(number) \(moment), \(context)")
        }
      } else if !isTight, certain[number] != nil {
        findings.report(.lostEntry, "original \(number) \(moment), \(context)")
      }
    }
    if let kept = try? shelf.read(LargeOriginal.key(0)),
      kept.bytes != LargeOriginal.content(0, 1)
    {
      findings.report(.wrongPicture, "the large original \(moment), \(context)")
    }
  }
}
