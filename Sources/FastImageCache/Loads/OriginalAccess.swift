import Foundation
import ImageSources
import LoadQueue
import Locking

/// One load's part in the store of originals: it reads the kept one, and has the store hold the fetched one, once.
///
/// Workers, or a call that stores by hand, call ``keep(_:of:from:isPlaceholder:for:if:)``, one at a time, and the load's
/// task everything else.
final class OriginalAccess: Sendable {
  private struct State {
    var isLocked: Bool
    var isDecided = false
    var body: UInt64?
    var stored: Int64?
    var write: Task<Void, Never>?
  }

  let query: OriginalQuery
  private let store: any OriginalKeeping
  /// A removal of the original, from any cache, forbids through this to keep it.
  let load: OriginalLoad
  private let state: Lock<State>

  /// The entity that named the original; requests of others share the load.
  var owner: OriginalOwner { query.owner }
  var name: OriginalName { query.name }

  /// Whether the device is locked, and the store's files with it. Nothing is kept then, and what is
  /// superseded drops.
  var isLocked: Bool { state.withLock { $0.isLocked } }

  /// Writes the original, and removes it if a request refuses it later; `nil` while the store holds nothing.
  var write: Task<Void, Never>? { state.withLock { $0.write } }

  /// Opens the store, and notes that a load may keep its original: before the load asks for a byte.
  static func begin(
    _ query: OriginalQuery, in store: any OriginalKeeping, after former: OriginalLoad?,
    isByHand: Bool
  ) async -> OriginalAccess {
    var isLocked = false
    do throws(OriginalsLocked) { try await store.prepare() } catch { isLocked = true }
    let load = store.begin(query.name, of: query.owner, after: former, isByHand: isByHand)
    return OriginalAccess(query, in: store, load, isLocked: isLocked)
  }

  private init(
    _ query: OriginalQuery, in store: any OriginalKeeping, _ load: OriginalLoad, isLocked: Bool
  ) {
    (self.query, self.store, self.load) = (query, store, load)
    state = Lock(State(isLocked: isLocked))
  }

  // MARK: The kept original

  func read(urgency: Urgency) async -> KnownOriginal? {
    do throws(OriginalsLocked) {
      guard let kept = try await store.read(query, urgency: urgency) else { return nil }
      var known = KnownOriginal(terms: kept.terms, bytes: kept.bytes, isWhole: true)
      (known.body, known.isOfVersion) = (kept.body, kept.isOfVersion)
      state.withLock { $0.stored = kept.stored }
      return known
    } catch {
      state.withLock { $0.isLocked = true }
      return nil
    }
  }

  /// Whether the kept original came after the image that stands in the request's table: that was drawn from a former one,
  /// which another entity's load has replaced since, and is as old as that.
  func isYounger(than request: ImageRequest) -> Bool {
    // A placeholder's request is content with the real image, which the placeholder's original may follow.
    guard !request.isPlaceholder, let stored = state.withLock({ $0.stored }),
      let image = request.dateStored
    else { return false }
    return image < stored
  }

  /// The image of kept bytes; `nil`, and the bytes are dropped, if they are none.
  ///
  /// - Throws: An error that does not blame the bytes, which are as good as before.
  func image(
    of kept: KnownOriginal, _ decoding: ImageDecoding, url: URL
  ) async throws(ImageCacheError) -> SourceImage? {
    do { return try decoding.image(from: .encoded(kept.bytes), url: url, isEarlier: true) } catch {
      guard error.blamesBytes else { throw error }
      if let body = kept.body { await drop(body) }
      return nil
    }
  }

  /// Whether the source is asked about kept bytes: not where it could only call them unchanged in vain.
  func mayBeConfirmed(
    _ kept: KnownOriginal, _ decoding: ImageDecoding, url: URL, headers: [String: String]
  ) async -> Bool {
    guard kept.body != nil, kept.terms.mayBeConfirmed(to: headers) else { return false }
    return (try? await image(of: kept, decoding, url: url)) != nil
  }

  /// Notes that a server called kept bytes unchanged: they are of the load's version from now on.
  func confirm(_ terms: ResponseMetadata, body: UInt64) async {
    await store.note(terms, of: query, body: body, for: load)
  }

  /// Forgets bytes that are no image, or not the present ones.
  func drop(_ body: UInt64) async { await store.drop(name, body: body) }

  /// Takes a server's refusal to say whether the kept original is still the present one: gone, it is dropped; for
  /// another account, it answers once the server allows it.
  ///
  /// - Returns: Whether there is a kept original.
  func refuse(status: Int, known: KnownOriginal?, urgency: Urgency) async -> Bool {
    var body = known?.body
    if body == nil { body = (try? await store.read(query, urgency: urgency))?.body }
    guard let body else { return false }
    if [404, 410].contains(status) {
      await drop(body)
    } else {
      await store.note(nil, of: query, body: body, for: load)
    }
    return true
  }

  // MARK: The fetched original

  /// What the store has, or will have, of an original that is coming.
  func download() -> OriginalDownload? {
    store.download(record(0, ResponseMetadata(received: Date())), load)
  }

  /// Has the store hold a fetched original, and begins its write, unless it was kept or refused before.
  ///
  /// Called after the decode and the hook, before the first requests are answered: no later request fetches the
  /// original again, and a closing store finds it. A damaged file is not kept, nor an original of which the hook
  /// refuses an image, whatever it says of other entities, nor one without bytes; each drops what it supersedes.
  func keep(
    _ original: (bytes: Data?, terms: ResponseMetadata), of image: SourceImage,
    from download: OriginalDownload?, isPlaceholder: Bool,
    for lifetime: SharedOriginalLifetime, if mayKeep: () -> Bool
  ) {
    let (isFirst, isLocked) = state.withLock { state in
      defer { state.isDecided = true }
      return (!state.isDecided, state.isLocked)
    }
    if image.isRefused { keepNothing() }
    guard isFirst else { return }
    var record = record(original.bytes?.count ?? 0, original.terms)
    (record.isPlaceholder, record.size) = (isPlaceholder, image.fullSize)
    record.askedLifetime = lifetime
    let isKept = !isLocked && !image.isRefused && image.decoded?.isDamaged != true
    let bytes = isKept ? original.bytes : nil
    guard let body = store.hold(record, bytes, for: load, from: download, if: mayKeep) else {
      return
    }
    // The load awaits the task before it returns its permit. A cancellation of the load does not reach it.
    let write = Task(name: "original") { [store, name] in await store.write(name) }
    state.withLock { ($0.body, $0.write) = (body, write) }
  }

  /// Keeps nothing from now on, and drops what earlier requests let the load keep.
  func keepNothing() {
    state.withLock { state in
      state.isDecided = true
      guard let body = state.body.take(), let write = state.write else { return }
      state.write = Task(name: "original") { [store, name] in
        await write.value
        await store.drop(name, body: body)
      }
    }
  }

  private func record(_ byteCount: Int, _ terms: ResponseMetadata) -> OriginalRecord {
    OriginalRecord(
      name, version: query.version, owner: owner, byteCount: byteCount, terms: terms)
  }
}

extension LoadPlanner {
  /// A load's part in the store of originals; `nil` where nothing is kept.
  ///
  /// - Parameters:
  ///   - load: The load that asks, if one does.
  ///   - isByHand: Whether a call stores the original.
  func beginOriginal(
    of request: ImageRequest, for load: Load? = nil, isByHand: Bool = false
  ) async -> OriginalAccess? {
    guard let originals else { return nil }
    return await .begin(
      request.originalQuery(in: namespace, load?.version), in: originals, after: request.shownBy,
      isByHand: isByHand)
  }
}
