import Foundation
import Locking
import TableStore
import TestSupport

@testable import OriginalStore

/// A folder of originals whose bytes are a function of their number and version, so that a wrong one
/// cannot look right.
final class ShelfFixture: Sendable {
  let url: URL
  private let temporary: TemporaryDirectory
  private let clock = Lock<Int64>(1_700_000_000_000_000)
  private let reported = Lock<[OriginalEvent]>([])
  /// Asked before each call of the shelves; throws its error.
  private let observer = Lock<SystemCalls.Observer?>(nil)

  init() throws {
    temporary = try TemporaryDirectory(inMemory: true)
    url = temporary.url
  }

  func shelf(
    _ name: String = "one", _ budget: OriginalBudget = OriginalBudget(byteCount: 1 << 30),
    hasFileProtection: Bool? = nil, _ change: (inout OriginalShelf.Settings) -> Void = { _ in }
  ) -> OriginalShelf {
    var settings = OriginalShelf.Settings(path: url.path + "/" + name)
    settings.now = { [clock] in clock.withLock { $0 } }
    settings.report = { [reported] event in reported.withLock { $0.append(event) } }
    settings.freeByteCount = { _ in nil }
    settings.system = SystemCalls(
      observer: { [observer] call throws(SystemError) in
        guard let observe = observer.withLock({ $0 }) else { return }
        try observe(call)
      }, hasFileProtection: hasFileProtection)
    change(&settings)
    return OriginalShelf(settings, budget: budget)
  }

  func observe(_ observe: SystemCalls.Observer?) { observer.withLock { $0 = observe } }

  /// Lets the call of a number, and so many after it, fail.
  func fail(_ number: Int, count: Int = 1, code: Int32, only kind: SystemCall.Kind? = nil) {
    let calls = Lock(0)
    observe { call throws(SystemError) in
      guard kind == nil || call.kind == kind else { return }
      let own = calls.withLock { calls in
        calls += 1
        return calls - 1
      }
      if own >= number, own - number < count { throw SystemError(call: call.kind, code: code) }
    }
  }

  func advance(seconds: Int64) { clock.withLock { $0 += seconds * 1_000_000 } }

  /// The events since the last call.
  func events() -> [OriginalEvent] {
    reported.withLock { events in
      defer { events = [] }
      return events
    }
  }

  /// What the files of some folders take, rounded up as a budget counts them.
  func diskByteCount(_ names: String...) -> Int {
    names.reduce(0) { sum, name in
      let folder = url.appendingPathComponent(name)
      let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
      return files.reduce(sum) { sum, file in
        var status = stat()
        guard lstat(folder.path + "/" + file, &status) == 0 else { return sum }
        return sum + RoomPlan.rounded(Int(status.st_size))
      }
    }
  }

  func path(_ key: OriginalKey, _ name: String = "one") -> String {
    url.path + "/" + name + "/" + key.digest.fileName
  }
}

func key(_ number: Int, audience: String = "") -> OriginalKey {
  OriginalKey(TableID("https://example.com/\(number).jpg"), audience: audience)
}

func content(_ number: Int, version: Int = 1, byteCount: Int = 10_000) -> Data {
  // A block of noise again and again: thousands of originals are made.
  var generator = SplitMix64(state: UInt64(number * 1_000 + version))
  let block = Data((0..<97).map { _ in UInt8.random(in: 0...255, using: &generator) })
  var bytes = Data(capacity: byteCount + block.count)
  while bytes.count < byteCount { bytes.append(block) }
  return bytes.prefix(byteCount)
}

extension OriginalShelf {
  /// Holds and writes; false where it was not even held.
  @discardableResult
  func keep(
    _ number: Int, version: Int = 1, byteCount: Int = 10_000, entity: Int? = nil, width: Int32 = 0,
    audience: String = "", isPlaceholder: Bool = false,
    _ freshness: RecordedFreshness = RecordedFreshness()
  ) async -> Bool {
    let key = OriginalStoreTests.key(number, audience: audience)
    let facts = OriginalFacts(
      entity: TableID(Int64(entity ?? number)), width: width, height: width,
      isPlaceholder: isPlaceholder, stored: settings.now() / 1_000_000)
    let bytes = content(number, version: version, byteCount: byteCount)
    guard hold(bytes, key, facts, freshness, if: { true }) else { return false }
    await budget.run { self.write(key) }
    return true
  }

  func opened() async -> OriginalShelf {
    await budget.run { try? self.open() }
    return self
  }

  /// Runs a removal or the like, and throws its error.
  func onLane(_ job: @escaping @Sendable () throws(TableError) -> Void) async throws {
    try await budget.run { Result { () throws(TableError) in try job() } }.get()
  }

  /// The numbers that are found, each with its own bytes; those with other bytes count as negative.
  func present(_ numbers: ClosedRange<Int>, version: Int = 1, byteCount: Int = 10_000) -> [Int] {
    numbers.compactMap { number in
      guard let read = try? read(key(number)) else { return nil }
      return read.bytes == content(number, version: version, byteCount: byteCount)
        ? number : -number
    }
  }
}
