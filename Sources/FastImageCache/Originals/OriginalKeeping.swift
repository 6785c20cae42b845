import Foundation
import OriginalStore
import Pixels

/// Names one original: the entity's id for it, and the accounts that may see it.
struct OriginalName: Hashable, Sendable {
  let id: ImageID
  let audience: Audience
}

/// What a store knows of an original without reading its file.
struct KeptOriginal: Hashable, Sendable {
  /// By the store's clock and lifetime, at the moment of the question.
  var freshness: Freshness

  /// A placeholder never answers a request for the real picture (``LoadOptions/isPlaceholder``).
  var isPlaceholder = false

  /// The start of the SHA-256 of the entity for which it was kept; `nil` where that is the request's.
  var entity: UInt64?

  /// Whether it was kept for an entity; of several that share an original, one has it.
  func isOf(_ entity: ImageID) -> Bool {
    self.entity.map { $0 == OriginalRecord.digest(of: entity.tableID) } ?? true
  }
}

/// An original as a store reads it.
struct KeptBytes: Sendable {
  let bytes: Data
  let terms: OriginalTerms
  /// Tells these bytes from others that are kept under the name before or afterwards.
  let contentHash: UInt64
}

/// A whole original as its source delivered it, with what a store writes beside it.
struct ArrivedOriginal: Sendable {
  let bytes: Data
  let terms: OriginalTerms
  /// The entity whose picture it is; that of the first request where several share a load.
  let entity: ImageID
  /// The size of the upright, complete picture in pixels.
  let size: PixelSize
  /// Whether no request of its load was for a real picture.
  var isPlaceholder = false
  /// The arrival whose bytes they are, if its first blocks may be on disk.
  var partial: PartialUse?
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
/// 1. From the return of ``hold(_:as:if:)`` on, ``look(_:)`` and ``read(_:urgency:)`` know the original,
///    before a byte of it is written. So nothing that arrived is fetched again meanwhile.
/// 2. An original that was removed does not come back: a held one is not written afterwards, and a load
///    that began before the removal holds nothing. `mayKeep` is asked in the order of holds and removals.
/// 3. No fault of the disk but the lock of a device reaches the loader: an original that cannot be kept or
///    read is not there.
protocol OriginalKeeping: Sendable {
  /// Opens the folder; later calls return at once. Before the first one nothing is found.
  ///
  /// - Throws: Nothing is known of what is kept then.
  func open() async throws(OriginalsLocked)

  /// What is kept under a name, at once and without a system call; `nil` also for originals that are
  /// expired or may not be used.
  func look(_ name: OriginalName) -> KeptOriginal?

  /// The whole original, proven; `nil` where it is not there or does not prove itself.
  ///
  /// - Throws: The original is there then, or may be.
  func read(
    _ name: OriginalName, urgency: Urgency
  ) async throws(OriginalsLocked) -> KeptBytes?

  /// Notes a load that may keep its original, before it asks for a byte; the load ends with the answer's
  /// last reference.
  func begin(_ name: OriginalName, of entity: ImageID) -> OriginalLoad

  /// A load's part in what the store has, or will have, of an original that is still coming; `nil` where
  /// it keeps none.
  ///
  /// - Parameter headers: The fields that the load asks for.
  func partial(
    of name: OriginalName, for entity: ImageID, _ load: OriginalLoad, with headers: [String: String]
  ) -> PartialOnDisk?

  /// Counts an original as kept from now on, in place of an older one; writes nothing yet.
  ///
  /// - Parameters:
  ///   - load: The load that fetched it; `nil` for one that was stored by hand.
  ///   - mayKeep: Asked under the store's lock, so it must neither wait nor call the store.
  /// - Returns: Whether the original is held; `false` too where it may not be kept by its terms, or by
  ///   its size, and where it was removed since the load began.
  func hold(
    _ original: ArrivedOriginal, as name: OriginalName, for load: OriginalLoad?,
    if mayKeep: () -> Bool
  ) -> Bool

  /// Writes the original that is held under a name, if there is one; returns when it is written or
  /// given up, whether or not the calling task is cancelled.
  func write(_ name: OriginalName) async

  /// Notes that a server called an original unchanged: fresh by the newer terms.
  ///
  /// - Parameters:
  ///   - contentHash: Of the bytes that it was asked about. Other bytes that are kept under the
  ///     name by now stay as they are, and so it is below.
  ///   - load: The load that asked; one from before a mark confirms nothing.
  func confirm(
    _ name: OriginalName, of contentHash: UInt64, _ terms: OriginalTerms, for load: OriginalLoad?
  ) async

  /// Notes that the originals of an entity, of every audience, are not believed before their servers are
  /// asked; at once and for those in memory too. Loads under way, of whichever cache, keep none.
  func markStale(_ entity: ImageID) async

  /// Forgets an original that turned out to be wrong; the load that found out may keep another.
  func drop(_ name: OriginalName, of contentHash: UInt64) async

  /// Removes the originals of an entity, of every audience.
  ///
  /// - Throws: ``ImageCacheError/storageUnavailable(_:)`` and the like, where one of them stays.
  func removeAll(of entity: ImageID) async throws(ImageCacheError)

  /// Brings removals to the device.
  ///
  /// - Throws: ``ImageCacheError/storageUnavailable(_:)`` and the like.
  func flush() async throws(ImageCacheError)
}
