import Foundation
import Locking
import TestSupport

@testable import FastImageCache

/// A store of originals in memory that keeps the loader's invariants, and counts what it is asked.
final class MemoryOriginals: OriginalKeeping {
  struct Entry {
    var bytes: Data
    var terms: ResponseMetadata
    var entity: ImageID
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
        freshness: $0.freshness, isPlaceholder: $0.isPlaceholder,
        isOthers: OriginalOwner(namespace: "test", entity: $0.entity) != query.owner)
    }
  }

  func read(
    _ query: OriginalQuery, urgency: Urgency
  ) async throws(OriginalsLocked) -> KeptBytes? {
    reads.increment()
    if locks.withLock({ $0 }) != nil { throw OriginalsLocked() }
    return state.withLock { $0[Key(query.name)] }.map {
      KeptBytes(bytes: $0.bytes, terms: $0.terms, body: Self.body($0.bytes))
    }
  }

  private static func body(_ bytes: Data) -> UInt64 { UInt64(truncatingIfNeeded: bytes.hashValue) }

  func begin(_ name: OriginalName, of owner: OriginalOwner) -> OriginalLoad {
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
        isPlaceholder: original.isPlaceholder)
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
    _ terms: ResponseMetadata?, of name: OriginalName, body: UInt64, for load: OriginalLoad?
  ) async {
    state.withLock { entries in
      let key = Key(name)
      guard let entry = entries[key], Self.body(entry.bytes) == body else { return }
      if let terms { entries[key]?.terms = terms }
      entries[key]?.freshness = terms == nil ? .mustRevalidate(answersFailures: false) : .fresh
    }
    confirmed.increment()
  }

  func markStale(_ owner: OriginalOwner) async {
    state.withLock { entries in
      for key in entries.filter({ $0.value.entity == owner.entity }).keys {
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
    avoids: NetworkCosts = [], priority: RequestPriority? = nil
  ) {
    self.init()
    (cachePolicy, self.scope, self.account) = (policy, scope, account)
    (self.avoids, self.priority) = (avoids, priority)
  }
}
