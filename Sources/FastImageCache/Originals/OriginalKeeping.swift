import Foundation

/// What a store knows of an original without reading its bytes.
struct KeptOriginal: Hashable, Sendable {
  /// By the store's clock and lifetime, at the moment of the question.
  var freshness: Freshness

  /// A placeholder never answers a request for the real picture (``LoadOptions/isPlaceholder``).
  var isPlaceholder = false

  /// For whom it was kept; `nil` where that is the request's entity. Of several that share an original, one
  /// has it.
  var owner: OriginalOwner?
}

/// An original as a store reads it.
struct KeptBytes: Sendable {
  let bytes: Data
  let terms: OriginalTerms
  /// Tells these bytes from others that are kept under the name before or afterwards; `nil` where they are
  /// of another address, so that its server is not asked about them.
  let body: UInt64?
}

/// The device is locked, and with it the files of a store.
struct OriginalsLocked: Error, Hashable {}

extension ImageCacheError {
  /// For requests that reach no further than a locked store.
  static let originalsLocked = Self.storageUnavailable(
    "the originals cannot be read while the device is locked")
}

/// The loader's view of a store of originals.
///
/// Invariants that a store keeps:
/// 1. From the return of ``hold(_:_:for:from:if:)`` on, lookups know the original, before a byte is written.
/// 2. An original that was removed does not come back: a held one is not written afterwards, and a load
///    that began before the removal holds nothing.
/// 3. No fault but the lock of a device reaches the loader: an original that cannot be kept or read is not
///    there.
protocol OriginalKeeping: Sendable {
  /// Opens the store; later calls return at once. Before the first one nothing is found.
  ///
  /// - Throws: Nothing is known of what is kept then.
  func prepare() async throws(OriginalsLocked)

  /// What is kept, at once; `nil` also for originals that are expired or may not be used.
  func look(_ query: OriginalQuery) -> KeptOriginal?

  /// The whole original, its checksum compared; `nil` where there is none.
  ///
  /// - Throws: The original is there then, or may be.
  func read(_ query: OriginalQuery, urgency: Urgency) async throws(OriginalsLocked) -> KeptBytes?

  /// Notes a load that may keep its original, before it asks for a byte; the load ends with the answer's
  /// last reference.
  func begin(_ name: OriginalName, of owner: OriginalOwner) -> OriginalLoad

  /// A load's part in what the store has, or will have, of an original that is coming; `nil` if it has none.
  func download(_ original: OriginalRecord, _ load: OriginalLoad) -> OriginalDownload?

  /// Counts an original as kept from now on, in place of an older one; writes nothing yet.
  ///
  /// One that may not be kept, by its terms or its size, is not; the older one goes all the same.
  ///
  /// - Parameters:
  ///   - load: The load that fetched it; `nil` for one that was stored by hand.
  ///   - download: What has arrived of it.
  ///   - mayKeep: Asked under the store's lock, so it must neither wait nor call the store.
  /// - Returns: What tells its bytes from others, until ``write(_:)``; `nil` if it is not held, also where it was
  ///   removed since the load began.
  func hold(
    _ original: OriginalRecord, _ bytes: Data, for load: OriginalLoad?,
    from download: OriginalDownload?, if mayKeep: () -> Bool
  ) -> UInt64?

  /// Writes the original that is held under a name, if there is one; returns when it is written or
  /// given up, whether or not the calling task is cancelled.
  func write(_ name: OriginalName) async

  /// Notes that a server called an original unchanged: fresh by the newer terms; or, without terms, that it
  /// refused an account, so that the original answers once the server allows it.
  ///
  /// - Parameters:
  ///   - body: Of the bytes that it was asked about. Others that are kept under the name by now stay.
  ///   - load: The load that asked; one from before a mark confirms nothing.
  func note(
    _ terms: OriginalTerms?, of name: OriginalName, body: UInt64, for load: OriginalLoad?) async

  /// Has the originals of an entity, of every audience, answer only once their servers were asked. Loads under
  /// way, of whichever cache, keep none.
  func markStale(_ owner: OriginalOwner) async

  /// Forgets an original that is none, or not the present one; a load under way may keep another.
  func drop(_ name: OriginalName, body: UInt64) async

  /// Removes originals.
  func remove(_ removal: OriginalRemoval) async throws(ImageCacheError)

  /// Brings removals to the device.
  func flush() async throws(ImageCacheError)
}
