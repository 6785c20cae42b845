public import Foundation
public import ImageSources
public import Pixels
package import TableStore

/// One stored image, as a listing found it.
///
/// It is a description and no lease: the image may be gone by now, or another one in its place.
public struct CacheEntry: Hashable, Sendable {
  /// The place of an image in the order of use of its format.
  ///
  /// A later use is greater. The order has no dates, since the clock that counts uses stands still while
  /// no program has the table open; ``CacheEntry/dateStored`` has one. Only entries of one format
  /// compare.
  public struct LastUse: Hashable, Comparable, Sendable {
    fileprivate let stamp: UInt64

    /// Whether the first use was before the second.
    public static func < (first: LastUse, second: LastUse) -> Bool { first.stamp < second.stamp }
  }

  package let info: TableEntryInfo

  /// The format in whose table the image is.
  public let format: ImageFormat

  /// The entity's id; `nil` for a string too long for its slot, of which the file keeps a hash only.
  ///
  /// Beside it lie the version and the metadata: together they have a kilobyte where images take 4 KiB
  /// and more, and less beside smaller ones. ``isImage(of:version:)`` recognises every id.
  public var imageID: ImageID? { info.entity.known.map { ImageID($0) } }

  /// The image's version; `nil` for a placeholder, for a part of a damaged file, and for a string too long for its
  /// slot.
  public var versionID: ImageID? {
    isPlaceholder || isDamaged ? nil : info.version.known.map { ImageID($0) }
  }

  /// Whether the image was loaded as a placeholder (``LoadOptions/isPlaceholder``).
  public var isPlaceholder: Bool { info.version.known?.isPlaceholder == true }

  /// Whether the image shows a part of a damaged file (``DamagedImagePolicy/showPart``).
  public var isDamaged: Bool { info.version.known?.isDamaged == true }

  /// The image's own size in pixels, at most the format's.
  public var size: PixelSize { PixelSize(width: info.extent.width, height: info.extent.height) }

  /// The last use, for comparison with other entries of the format.
  ///
  /// A hit is a use, and so are the end of a lease, a store, and a change of metadata or id.
  public var lastUse: LastUse { LastUse(stamp: info.recency) }

  /// The time at which the image was stored, as the clock showed it then.
  ///
  /// A change of its metadata or id stores an image anew.
  public var dateStored: Date {
    Date(timeIntervalSince1970: Double(info.generation) / 1_000_000)
  }

  /// The bytes that were stored beside the pixels; `nil` if there are none.
  public let metadata: Data?

  /// Frames that have slots: 1 for an image that does not move, and for an animation that is decoded while it plays.
  public let frameCount: Int

  /// Bytes of the file that the image's slots take, whatever the image's own size.
  public let byteCount: Int

  /// - Parameter byteCount: That of one slot.
  init(_ info: TableEntryInfo, format: ImageFormat, byteCount: Int) {
    (self.info, self.format) = (info, format)
    let (motion, metadata) =
      format.hasAnimations
      ? SlotMotion.parting(info.metadata) : (SlotMotion.still, info.metadata[...])
    self.metadata = metadata.isEmpty ? nil : Data(metadata)
    frameCount = motion.frameCount
    self.byteCount = byteCount * motion.frameCount
  }

  /// Whether this is the image of an entity, also where the file has only the hash of its id.
  ///
  /// Cost: a comparison, and a SHA-256 of the id where the file has one.
  ///
  /// - Parameters:
  ///   - id: An entity's ``ImageEntity/imageID``.
  ///   - version: The version that counts; `nil` for any.
  public func isImage(of id: ImageID, version: ImageID? = nil) -> Bool {
    guard info.entity.matches(id.tableID) else { return false }
    guard let version = version?.tableID else { return true }
    return info.version.matches(version) || info.version.matches(version.damaged)
  }
}
