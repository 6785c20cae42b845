public import Foundation
public import ImageSources

/// What a cache holds and does at one moment, or what the folder of a namespace holds.
///
/// It is a description for people and reports: nothing in it is leased or kept from changing.
public struct CacheInspection: Sendable {
  /// A format's table.
  public struct Table: Sendable {
    /// The format; of a namespace that no cache has open, as far as the file tells it: name, size, pixel
    /// format, revision, decoding, whether proportions are kept, and how many images fit.
    public let format: ImageFormat
    /// Images that fit; 0 for a format that is not stored on this kind of device.
    public let slotCount: Int
    /// The stored images, the one used last first.
    public let entries: [CacheEntry]
    /// Bytes that the file occupies on disk, which may be fewer than its length.
    public let diskByteCount: Int
    /// Bytes of address space that the file's mapping takes; 0 where no cache has it open.
    public let mappedByteCount: Int
    /// Bytes of the file that are in memory, `nil` where the system does not tell. The system takes them
    /// back when it needs memory, and reads them again.
    public let residentByteCount: Int?
    /// Of the resident bytes those that the system has not brought to the disk yet; `nil` where it does
    /// not tell, as Linux before 6.5.
    public let dirtyByteCount: Int?
  }

  /// A load under way, which all its requests share.
  public struct Load: Sendable {
    /// An image that somebody waits for.
    public struct Image: Hashable, Sendable {
      /// The entity's id.
      public let imageID: ImageID
      /// The format's name.
      public let format: String
    }

    /// The source's address; `nil` where the entities themselves have the images.
    public let url: URL?
    /// The images that are waited for; empty while a load only stores what it has delivered.
    public let images: [Image]
    /// Callers and streams that wait.
    public let requestCount: Int
    /// The highest priority of the requests.
    public let priority: TaskPriority
  }

  /// The namespace's name; empty for a cache in memory.
  public let namespace: String
  /// One for each format, in the order of the cache's formats; of a namespace that is not open, in the
  /// order of names.
  public let tables: [Table]
  /// The originals of the cache's ``ImageCache/Configuration/originals``; empty without a store, and for
  /// a namespace that is not open, since no file tells which store it used.
  public let originals: [Original]
  /// The loads under way, in the order in which they began; empty for a namespace that is not open.
  public let loads: [Load]
}

extension CacheInspection.Load {
  init(_ load: LoadRecord<ImageRequest, InFlightRegistry.Handle>) {
    self.init(
      url: load.loadKey.url,
      images: load.outputs.filter(\.isWanted).map {
        Image(imageID: $0.key.entity, format: $0.key.format)
      },
      requestCount: load.outputs.reduce(0) { $0 + $1.waitingCount },
      priority: load.priority.task)
  }
}
