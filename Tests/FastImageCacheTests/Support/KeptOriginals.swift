import Foundation
import Locking
import OriginalDatabase
import Pixels
import TableStore
import TestSupport

@testable import FastImageCache

/// The clock of a store under test, in seconds since 1970.
let originalTime: Int64 = 1_700_000_000

extension OriginalStore {
  /// A store in a folder, whose clock stands.
  convenience init(
    in directory: TemporaryDirectory, byteLimit: Int = 1 << 24, lifetime: Lifetime = Lifetime(),
    system: SystemCalls = .live, now: Int64 = originalTime
  ) {
    self.init(directory.url, byteLimit, lifetime, .none, system: system) { now * 1_000_000 }
  }

  /// Keeps an original as a load does, and waits until it is written or given up.
  @discardableResult
  func keep(
    _ number: Int, _ bytes: Data? = nil, fields: [String: String] = [:],
    change: (inout OriginalRecord) -> Void = { _ in }
  ) async -> Bool {
    try? await prepare()
    let original = OriginalRecord(number, bytes ?? Self.bytes(number), fields, change)
    let load = begin(original.name, of: original.owner)
    let body = hold(original, bytes ?? Self.bytes(number), for: load, from: nil) { true }
    await write(original.name)
    return body != nil
  }

  static func bytes(_ number: Int, count: Int = 1000) -> Data {
    var numbers = SplitMix64(state: UInt64(number))
    return Data((0..<count).map { _ in UInt8(truncatingIfNeeded: numbers.next()) })
  }

  func kept(_ number: Int, _ account: AccountID? = nil) async throws -> Data? {
    try await bytes(of: ImageID("test:/\(number)"), for: account)
  }

  /// The bytes that the folder takes now.
  func folderByteCount() throws -> Int {
    let files = FileManager.default.enumerator(atPath: directory.path)
    return (files?.allObjects as? [String] ?? []).reduce(0) { sum, name in
      var status = stat()
      // Deleted meanwhile.
      guard lstat(directory.path + "/" + name, &status) == 0, status.st_mode & S_IFMT == S_IFREG
      else { return sum }
      return sum + Room.rounded(Int(status.st_size))
    }
  }

  /// Waits until the jobs that were given to the queue are done.
  func queueIsDone() async { _ = try? await run { () throws(DatabaseError) in } }
}

extension OriginalRecord {
  init(
    _ number: Int, _ bytes: Data, _ fields: [String: String] = [:],
    _ change: (inout OriginalRecord) -> Void = { _ in }
  ) {
    let id = ImageID("test:/\(number)")
    self.init(
      OriginalName(id: id, address: id), version: id,
      owner: OriginalOwner(namespace: "test", entity: ImageID(number)), byteCount: bytes.count,
      terms: ResponseMetadata(
        fields: fields, received: Date(timeIntervalSince1970: Double(originalTime))))
    self.size = PixelSize(width: 100 + number, height: 100)
    change(&self)
    row.number = name.row
  }
}

/// A disk on which each unlink takes a time, by the clock of its store, and perhaps each look at the clock, as if
/// all between two looks did.
final class SlowUnlinks: Sendable {
  private let microseconds: Int64
  private let lookTime: Int64
  private let time = Lock(originalTime * 1_000_000)
  private let unlinks = Counter()
  private let state = Lock<(store: OriginalStore?, count: Int?)>((nil, nil))

  init(_ microseconds: Int64, look lookTime: Int64 = 0) {
    (self.microseconds, self.lookTime) = (microseconds, lookTime)
  }

  /// The unlinks before a job ran that came with the first of them.
  var firstCount: Int? { state.withLock { $0.count } }

  func store(in directory: TemporaryDirectory, byteLimit: Int = 1 << 24) -> OriginalStore {
    let system = SystemCalls(observer: { [self] call throws(SystemError) in
      guard call.kind == .unlink else { return }
      time.withLock { $0 += microseconds }
      guard unlinks.increment() == 1 else { return }
      state.withLock { $0.store }?.enqueue { [self] () throws(DatabaseError) in
        state.withLock { $0 = (nil, unlinks.value) }
      }
    })
    let store = OriginalStore(directory.url, byteLimit, .init(), .none, system: system) { [self] in
      time.withLock { time in
        time += lookTime
        return time
      }
    }
    state.withLock { $0.store = store }
    return store
  }
}
