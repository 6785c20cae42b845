import Foundation
import Locking
import OriginalStore
import TestSupport

@testable import FastImageCache

/// A store of originals in memory that keeps the loader's invariants, and counts what it is asked.
final class MemoryOriginals: OriginalKeeping {
  struct Entry {
    var bytes: Data
    var terms: OriginalTerms
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
  let flushed = Counter()
  /// What a locked device does not let read.
  enum Locked { case files, index }

  let locks = Lock<Locked?>(nil)
  /// Thrown by removals and flushes.
  let failure = Lock<ImageCacheError?>(nil)
  private let writeGate: Gate?
  private let state = Lock<[OriginalName: Entry]>([:])

  /// - Parameter writeGate: What each write waits for.
  init(writeGate: Gate? = nil) { self.writeGate = writeGate }

  subscript(id: ImageID, audience: Audience = .everyone) -> Entry? {
    get { state.withLock { $0[OriginalName(id: id, audience: audience)] } }
    set { state.withLock { $0[OriginalName(id: id, audience: audience)] = newValue } }
  }

  var count: Int { state.withLock { $0.count } }

  func open() async throws(OriginalsLocked) {
    if locks.withLock({ $0 }) == .index { throw OriginalsLocked() }
    opened.increment()
  }

  func look(_ name: OriginalName) -> KeptOriginal? {
    if opened.value == 0 || locks.withLock({ $0 }) == .index { return nil }
    return state.withLock { $0[name] }.map {
      KeptOriginal(
        freshness: $0.freshness, isPlaceholder: $0.isPlaceholder,
        entity: OriginalRecord.digest(of: $0.entity.tableID))
    }
  }

  func read(
    _ name: OriginalName, urgency: Urgency
  ) async throws(OriginalsLocked) -> KeptBytes? {
    reads.increment()
    if locks.withLock({ $0 }) != nil { throw OriginalsLocked() }
    return state.withLock { $0[name] }.map {
      KeptBytes(bytes: $0.bytes, terms: $0.terms, contentHash: Self.hash($0.bytes))
    }
  }

  private static func hash(_ bytes: Data) -> UInt64 { UInt64(truncatingIfNeeded: bytes.hashValue) }

  func begin(_ name: OriginalName, of entity: ImageID) -> OriginalLoad { OriginalLoad(0) { _ in } }

  func partial(
    of name: OriginalName, for entity: ImageID, _ load: OriginalLoad, with headers: [String: String]
  ) -> PartialOnDisk? { nil }

  func hold(
    _ original: ArrivedOriginal, as name: OriginalName, for load: OriginalLoad?,
    if mayKeep: () -> Bool
  ) -> Bool {
    state.withLock { entries in
      guard mayKeep() else { return false }
      if original.isPlaceholder, entries[name]?.isPlaceholder == false { return false }
      entries[name] = Entry(
        bytes: original.bytes, terms: original.terms, entity: original.entity,
        isPlaceholder: original.isPlaceholder)
      return true
    }
  }

  func write(_ name: OriginalName) async {
    writes.increment()
    await writeGate?.pass()
    state.withLock { $0[name]?.isWritten = true }
    written.increment()
  }

  func confirm(
    _ name: OriginalName, of contentHash: UInt64, _ terms: OriginalTerms, for load: OriginalLoad?
  ) async {
    state.withLock { entries in
      guard let entry = entries[name], Self.hash(entry.bytes) == contentHash else { return }
      entries[name]?.terms = terms
      entries[name]?.freshness = .fresh
    }
    confirmed.increment()
  }

  func markStale(_ entity: ImageID) async {
    state.withLock { entries in
      for name in entries.filter({ $0.value.entity == entity }).keys {
        entries[name]?.freshness = .mustRevalidate(answersFailures: false)
      }
    }
  }

  func drop(_ name: OriginalName, of contentHash: UInt64) async {
    state.withLock { entries in
      guard let entry = entries[name], Self.hash(entry.bytes) == contentHash else { return }
      entries[name] = nil
    }
    dropped.increment()
  }

  func removeAll(of entity: ImageID) async throws(ImageCacheError) {
    if let failure = failure.withLock({ $0 }) { throw failure }
    state.withLock { entries in entries = entries.filter { $0.value.entity != entity } }
  }

  func flush() async throws(ImageCacheError) {
    flushed.increment()
    if let failure = failure.withLock({ $0 }) { throw failure }
  }

  /// Keeps the encoded picture of a number, as an earlier session would have.
  func put(
    _ number: Int, as id: ImageID, freshness: Freshness = .fresh, entity: ImageID = "a"
  ) throws {
    self[id] = Entry(
      bytes: try solid(number).pngData(), terms: OriginalTerms(received: Date()), entity: entity,
      freshness: freshness, isWritten: true)
    // As if a session had asked before, so that a lookup finds it.
    opened.increment()
  }
}

/// A source of encoded pictures on a network, which remembers what it was asked.
final class EncodedSource: ImageSource {
  typealias Answer =
    @Sendable (ImageSourceRequest, _ call: Int) async throws -> ImageSourceContent

  let started = Counter()
  let served: LoadNeed
  private let answer: Answer
  private let asked = Lock<[ImageSourceRequest]>([])

  /// - Parameter answer: Called with the number of the call, the first being 1.
  init(need: LoadNeed = .network, _ answer: @escaping Answer) {
    (served, self.answer) = (need, answer)
  }

  /// Waits at `gate`, if there is one, and delivers the encoded picture of the number in the URL.
  convenience init(need: LoadNeed = .network, gate: CancellableGate? = nil) {
    self.init(need: need) { request, _ in
      try await gate?.pass()
      return .encoded(try solid(Int(request.url.lastPathComponent) ?? 0).pngData())
    }
  }

  var requests: [ImageSourceRequest] { asked.withLock { $0 } }

  func need(for url: URL) -> LoadNeed { served }

  func load(
    _ request: ImageSourceRequest, progress: @escaping @Sendable (ImageSourceProgress) -> Void
  ) async throws -> ImageSourceContent {
    asked.withLock { $0.append(request) }
    return try await answer(request, started.increment())
  }
}

extension LoadOptions {
  init(
    _ policy: Policy = .normal, reach: Reach = .network, audience: Audience = .everyone,
    avoids: NetworkCosts = [], priority: LoadPriority? = nil
  ) {
    self.init()
    (self.policy, self.reach, self.audience) = (policy, reach, audience)
    (self.avoids, self.priority) = (avoids, priority)
  }
}
