public import Foundation
public import Pixels

/// An original in a store, as ``SourceStore/inspect()`` lists it.
public struct StoredOriginal: Hashable, Sendable {
  /// The id under which it is kept: ``ImageEntity/originalID(for:)``.
  public let id: ImageID

  /// The entity that it was loaded for; after ``ImageCache/changeImageID(from:to:)`` still the old
  /// one.
  public let entity: ImageID

  /// Whether its audience is ``Audience/everyone``. Stores know of other audiences only a hash.
  public let isForEveryone: Bool

  /// The bytes of the encoded picture, without what stands beside it in the file.
  public let byteCount: Int

  /// The size of the picture in pixels, where it is known.
  public let size: PixelSize?

  /// Whether it stands in for the real original, and never takes its place.
  public let isPlaceholder: Bool

  /// Whether it answers without its server being asked.
  public let isFresh: Bool

  /// The moment at which it was stored.
  public let stored: Date

  /// The moment of the last use.
  public let lastUse: Date
}
