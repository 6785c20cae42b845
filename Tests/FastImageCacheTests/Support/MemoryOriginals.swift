import Foundation
import Locking
import OriginalDatabase
import Pixels
import TableStore
import TestSupport

@testable import FastImageCache

/// A store of originals in memory that keeps the loader's invariants, and counts what it is asked.
final class MemoryOriginals: OriginalKeeping {
  struct Entry {
    var bytes: Data
    var terms: ResponseMetadata
    var entity: ImageID
    /// `nil` for the default one.
    var version: ImageID?
    var freshness = Freshness.fresh
    var isPlaceholder = false
    var isWritten = false
  }

  let opened = Counter()
  let reads = Counter()
  let writes = Counter()
  let written = Counter()
  let confirmed = Counter()
  let dropped = Counter()
  /// Loads that asked where to put what arrives.
  let downloads = Counter()
  let flushed = Counter()
  /// What a locked device does not let read.
  enum Locked { case files, index }

  let locks = Lock<Locked?>(nil)
  /// Thrown by removals and flushes.
  let failure = Lock<ImageCacheError?>(nil)
  private let writeGate: Gate?
  private let state = Lock<[Key: Entry]>([:])

  /// Here the address tells no originals apart.
  private struct Key: Hashable {
    let id: ImageID
    let account: ImageID

    init(_ name: OriginalName) { (id, account) = (name.id, name.account) }

    init(_ id: ImageID, _ account: AccountID?) {
      (self.id, self.account) = (id, OriginalName.account(account))
    }
  }

  /// - Parameter writeGate: What each write waits for.
  init(writeGate: Gate? = nil) { self.writeGate = writeGate }

  subscript(id: ImageID, account: AccountID? = nil) -> Entry? {
    get { state.withLock { $0[Key(id, account)] } }
    set { state.withLock { $0[Key(id, account)] = newValue } }
  }

  var count: Int { state.withLock { $0.count } }

  func prepare() async throws(OriginalsLocked) {
    if locks.withLock({ $0 }) == .index { throw OriginalsLocked() }
    opened.increment()
  }

  func look(_ query: OriginalQuery) -> KeptOriginal? {
    if opened.value == 0 || locks.withLock({ $0 }) == .index { return nil }
    return state.withLock { $0[Key(query.name)] }.map {
      KeptOriginal(
        freshness: Self.accepts($0, query)
          ? $0.freshness : .mustRevalidate(answersFailures: false),
        isPlaceholder: $0.isPlaceholder)
    }
  }

  private static func accepts(_ entry: Entry, _ query: OriginalQuery) -> Bool {
    query.accepts(entry.version ?? query.name.address)
  }

  func read(
    _ query: OriginalQuery, urgency: Urgency
  ) async throws(OriginalsLocked) -> KeptBytes? {
    reads.increment()
    if locks.withLock({ $0 }) != nil { throw OriginalsLocked() }
    return state.withLock { $0[Key(query.name)] }.map {
      KeptBytes(
        bytes: $0.bytes, terms: $0.terms, body: Self.body($0.bytes),
        isOfVersion: Self.accepts($0, query))
    }
  }

  private static func body(_ bytes: Data) -> UInt64 { UInt64(truncatingIfNeeded: bytes.hashValue) }

  func begin(
    _ name: OriginalName, of owner: OriginalOwner, after former: OriginalLoad?, isByHand: Bool
  ) -> OriginalLoad {
    OriginalLoad(0) { _ in }
  }

  func download(_ original: OriginalRecord, _ load: OriginalLoad) -> OriginalDownload? {
    downloads.increment()
    return nil
  }

  func hold(
    _ original: OriginalRecord, _ bytes: Data?, for load: OriginalLoad?,
    from download: OriginalDownload?, if mayKeep: () -> Bool
  ) -> UInt64? {
    state.withLock { entries in
      guard mayKeep() else { return nil }
      let key = Key(original.name)
      if original.isPlaceholder, entries[key]?.isPlaceholder == false { return nil }
      guard let bytes, original.terms.mayBeKept else {
        entries[key] = nil
        return nil
      }
      entries[key] = Entry(
        bytes: bytes, terms: original.terms, entity: original.owner.entity,
        version: original.query.explicitVersion, isPlaceholder: original.isPlaceholder)
      return Self.body(bytes)
    }
  }

  func write(_ name: OriginalName) async {
    writes.increment()
    await writeGate?.pass()
    state.withLock { $0[Key(name)]?.isWritten = true }
    written.increment()
  }

  func note(
    _ terms: ResponseMetadata?, of query: OriginalQuery, body: UInt64, for load: OriginalLoad?
  ) async {
    state.withLock { entries in
      let key = Key(query.name)
      guard let entry = entries[key], Self.body(entry.bytes) == body else { return }
      if let terms { entries[key]?.terms = terms }
      if terms != nil, let version = query.explicitVersion { entries[key]?.version = version }
      entries[key]?.freshness = terms == nil ? .mustRevalidate(answersFailures: false) : .fresh
    }
    confirmed.increment()
  }

  func markStale(_ owner: OriginalOwner, _ names: Set<ImageID>) async {
    state.withLock { entries in
      for key in entries.keys
      where entries[key]?.entity == owner.entity || names.contains(key.id) {
        entries[key]?.freshness = .mustRevalidate(answersFailures: false)
      }
    }
  }

  func drop(_ name: OriginalName, body: UInt64) async {
    state.withLock { entries in
      guard let entry = entries[Key(name)], Self.body(entry.bytes) == body else { return }
      entries[Key(name)] = nil
    }
    dropped.increment()
  }

  func remove(_ removal: OriginalRemoval) async throws(ImageCacheError) {
    if let failure = failure.withLock({ $0 }) { throw failure }
    guard case .entity(let entity, _) = removal else { return }
    state.withLock { entries in entries = entries.filter { $0.value.entity != entity } }
  }

  func flush() async throws(ImageCacheError) {
    flushed.increment()
    if let failure = failure.withLock({ $0 }) { throw failure }
  }

  /// Keeps the encoded image of a number, as an earlier session would have.
  func put(
    _ number: Int, as id: ImageID, freshness: Freshness = .fresh, entity: ImageID = "a"
  ) throws {
    self[id] = Entry(
      bytes: try solid(number).pngData(), terms: ResponseMetadata(received: Date()), entity: entity,
      freshness: freshness, isWritten: true)
    // As if a session had asked before, so that a lookup finds it.
    opened.increment()
  }
}

/// A source of encoded images on a network, which remembers what it was asked.
final class EncodedSource: NeedNamingSource {
  typealias Answer =
    @Sendable (ImageSourceRequest, _ call: Int) async throws -> ImageSourceResponse

  let started = Counter()
  let served: LoadNeed
  private let answer: Answer
  private let asked = Lock<[ImageSourceRequest]>([])

  /// - Parameter answer: Called with the number of the call, the first being 1.
  init(need: LoadNeed = .network, _ answer: @escaping Answer) {
    (served, self.answer) = (need, answer)
  }

  /// Waits at `gate`, if there is one, and delivers the encoded image of the number in the URL.
  convenience init(need: LoadNeed = .network, gate: CancellableGate? = nil) {
    self.init(need: need) { request, _ in
      try await gate?.pass()
      return .encoded(try solid(Int(request.url.lastPathComponent) ?? 0).pngData())
    }
  }

  var requests: [ImageSourceRequest] { asked.withLock { $0 } }

  func need(for url: URL) -> LoadNeed { served }

  func response(to request: ImageSourceRequest) async throws -> ImageSourceResponse {
    asked.withLock { $0.append(request) }
    return try await answer(request, started.increment())
  }
}

extension LoadOptions {
  init(
    _ policy: CachePolicy = .useCache, scope: Scope = .network, account: AccountID? = nil,
    avoids: NetworkCosts = [], priority: RequestPriority? = nil,
    change: (inout LoadOptions) -> Void = { _ in }
  ) {
    self.init()
    (cachePolicy, self.scope, self.account) = (policy, scope, account)
    (self.avoids, self.priority) = (avoids, priority)
    change(&self)
  }

  static let placeholder = LoadOptions { $0.isPlaceholder = true }
}

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

/// Tests of the files in a folder of originals.
protocol OriginalFolderSuite {
  var directory: TemporaryDirectory { get }
}

extension OriginalFolderSuite {
  var bodies: URL { directory.url.appendingPathComponent("bodies") }
  var database: String { directory.url.path + "/originals.sqlite" }

  func store(
    byteLimit: Int = 1 << 24, lifetime: OriginalStore.Lifetime = .init(),
    system: SystemCalls = .live, after seconds: Int64 = 0
  ) -> OriginalStore {
    OriginalStore(
      in: directory, byteLimit: byteLimit, lifetime: lifetime, system: system,
      now: originalTime + seconds)
  }

  func bodyFiles() throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: bodies, includingPropertiesForKeys: nil)
  }

  func execute(_ sql: String) throws {
    try Database(database, makesFile: true, .none).execute(sql)
  }

  func fileMode(of path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o777 : nil
  }
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
