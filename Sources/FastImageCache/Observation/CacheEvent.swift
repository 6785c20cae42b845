public import Foundation
import ImageSources
public import Pixels

/// Something that happened in a cache, for people who look inside.
///
/// Events report; nothing waits for them and nothing depends on their being read.
@nonexhaustive public enum CacheEvent: Sendable {
  /// An image was found decoded.
  case hit(entity: ImageID, format: String)

  /// An image was asked for that no table has.
  case missed(entity: ImageID, format: String)

  /// A request joined a load that was under way.
  case coalesced(entity: ImageID, format: String)

  /// A source delivered; the bytes that came in this load, without those of a download that it continued.
  case fetched(URL?, byteCount: Int, duration: Duration)

  /// An image was decoded; size of the result in pixels.
  case decoded(URL?, size: PixelSize, duration: Duration)

  /// An image was drawn from the part that is there of a damaged file (``DamagedImagePolicy/showPart``).
  case drewDamaged(entity: ImageID, format: String)

  /// An image was stored.
  case stored(entity: ImageID, format: String)

  /// An image is shown but not kept; the reason is a sentence.
  case storeFailed(entity: ImageID, format: String, reason: String)

  /// An image made room for another one.
  case evicted(entity: ImageID?, format: String)

  /// An image in the table turned out not to be the one that was stored, and is not there any more;
  /// the entity is that of the request that found it, `nil` without a request.
  case damaged(entity: ImageID?, format: String)

  /// Images were removed on request.
  case removed(entity: ImageID?, format: String)

  /// A request waited for an image that could not be had, or met a remembered failure
  /// (``ImageCache/Configuration/failureMemory``).
  case failed(entity: ImageID, format: String, ImageCacheError)

  /// A request that was no hit has its image.
  case loaded(entity: ImageID, format: String, LoadReport)

  /// A table has another ``ImageCache/storageState`` than `ready` when it is opened, or a new one later. Events of the
  /// opening reach ``ImageCache/allEvents(bufferSize:)`` only.
  case storageChanged(format: String, StorageState)

  /// Other users may exchange files in a folder that the cache opens; the reason is a sentence. Images that
  /// others put there are not shown, but those of the cache may be lost. Reaches
  /// ``ImageCache/allEvents(bufferSize:)`` only.
  case insecureFolder(URL, reason: String)

  /// Something happened to an original in the cache's ``ImageCache/Configuration/originals``, on behalf of
  /// whichever cache; the id is `nil` where several were removed, for evictions and for the store as a whole.
  case original(ImageID?, OriginalEvent)

  /// The last request of a load left, by a cancellation or its time limit, and the load ended with it: once for each
  /// image that it has not delivered. A request that leaves others waiting sends nothing.
  case cancelled(entity: ImageID, format: String)

  /// This listener was too slow, and missed so many events at this point.
  case eventsDropped(Int)
}
