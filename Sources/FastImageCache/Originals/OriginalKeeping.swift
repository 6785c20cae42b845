import Foundation
import ImageSources
import LoadQueue
import Pixels

/// What a store knows of an original without reading its bytes.
struct KeptOriginal: Hashable, Sendable {
  /// By the store's clock and lifetime, at the moment of the question.
  var freshness: Freshness
  /// A placeholder never answers a request for the real image (``LoadOptions/isPlaceholder``).
  var isPlaceholder = false
  /// The size of the upright image, if the store knows it.
  var size: PixelSize?
}

/// An original as a store reads it.
struct KeptBytes: Sendable {
  let bytes: Data
  let terms: ResponseMetadata
  /// Tells these bytes from others that are kept under the name before or afterwards; `nil` where they are
  /// of another address, so that its server is not asked about them.
  let body: UInt64?
  /// Whether they are of the question's version, or that is the default one.
  var isOfVersion = true
  /// When they were kept, by the store's clock, in seconds since 1970; 0 where that is in the future.
  var stored: Int64 = 0
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
/// 1. From the return of `hold` on, lookups know the original, before a byte of it is written.
/// 2. An original that was removed does not come back: a held one is not written afterwards, and a load
///    that began before the removal holds nothing.
/// 3. No fault but the lock of a device reaches the loader: what cannot be kept or read is not there.
protocol OriginalKeeping: Sendable {
  /// Opens the store; later calls return at once. Before the first one nothing is found.
  func prepare() async throws(OriginalsLocked)

  /// What is kept, at once.
  func look(_ query: OriginalQuery) -> KeptOriginal?

  /// The whole original, its checksum compared; where it throws, it is or may be there.
  func read(_ query: OriginalQuery, urgency: Urgency) async throws(OriginalsLocked) -> KeptBytes?

  /// Notes a load that may keep its original, before it asks for a byte.
  ///
  /// - Parameter former: The load whose answer has caused this one, if one has: a removal since then reaches both, and
  ///   a change of the owner.
  /// - Parameter isByHand: Whether a call stores it: what servers answer during the call is older.
  func begin(
    _ name: OriginalName, of owner: OriginalOwner, after former: OriginalLoad?, isByHand: Bool
  ) -> OriginalLoad

  /// A load's part in what the store has, or will have, of an original that is coming.
  func download(_ original: OriginalRecord, _ load: OriginalLoad) -> OriginalDownload?

  /// Counts an original as kept from now on, in place of an older one; writes nothing yet. One that may not or
  /// cannot be kept drops the older one, unless it was removed or is older itself.
  ///
  /// - Parameters:
  ///   - bytes: `nil` for a damaged file, which may not be kept.
  ///   - load: The load that fetched it, or the call that stored it by hand.
  ///   - download: What has arrived of it.
  ///   - mayKeep: Asked under the store's lock, so it must neither wait nor call the store.
  /// - Returns: What tells its bytes from others until `write`; `nil` if it is not held.
  func hold(
    _ original: OriginalRecord, _ bytes: Data?, for load: OriginalLoad?,
    from download: OriginalDownload?, if mayKeep: () -> Bool
  ) -> UInt64?

  /// Writes what is held under a name; returns when it is written or given up.
  func write(_ name: OriginalName) async

  /// Notes that a server called certain bytes unchanged, which are of the question's version then, if that is explicit;
  /// or, without terms, that it refused an account, so that they answer once it allows that. A load from before a
  /// mark confirms nothing.
  func note(
    _ terms: ResponseMetadata?, of query: OriginalQuery, body: UInt64, for load: OriginalLoad?)
    async

  /// Has the originals of an entity, and those of certain ids and addresses, whoever has loaded them, answer only once
  /// their servers were asked. Loads under way keep none of them.
  func markStale(_ owner: OriginalOwner, _ names: Set<ImageID>) async

  /// Forgets bytes that are no image, or not the present ones; a load under way may keep others.
  func drop(_ name: OriginalName, body: UInt64) async

  func remove(_ removal: OriginalRemoval) async throws(ImageCacheError)

  /// Brings removals to the device.
  func flush() async throws(ImageCacheError)
}
