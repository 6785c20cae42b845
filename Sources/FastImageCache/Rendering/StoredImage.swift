public import Foundation
public import ImageSources
public import Pixels

/// An image between its decode and its drawing: ``ImageCache/Configuration/willStore`` looks at it, and may
/// change it.
public struct StoredImage: Sendable {
  /// The way on which an image came to the cache.
  public enum Origin: Hashable, Sendable {
    /// A request missed, and the source or the entity supplied the image.
    case load

    /// One of the `store` methods was called.
    case storedByHand
  }

  /// What becomes of the image.
  public enum Storage: Hashable, Sendable {
    /// It is drawn, stored and delivered.
    case store

    /// It is drawn and delivered in private memory, and no table keeps it.
    case doNotStore
  }

  /// The way on which the image came.
  public let origin: Origin

  /// The address that the source loaded; `nil` for images that an entity supplied or that were stored by hand.
  public let url: URL?

  /// The formats that will be drawn from ``bitmap``: those asked for, and the rest of their family.
  public let formats: [ImageFormat]

  /// The entity's id; `nil` for an image stored by hand without an entity, until the hook gives one.
  ///
  /// An id that is there already stays: exchanging it is a programming mistake and traps.
  public var imageID: ImageID? {
    didSet {
      precondition(
        versions.isEmpty || imageID == oldValue, "An image that has an id is stored under it.")
    }
  }

  /// The whole image, upright, large enough for ``formats``, and for other requests that share its load.
  ///
  /// It is in sRGB, or in Display P3 where one of the formats is: see ``Bitmap/colorSpace``.
  ///
  /// A bitmap in its place may have any size and proportions; it is drawn as if the source had them.
  public var bitmap: Bitmap { didSet { isChanged = true } }

  /// What is stored beside the pixels of each format; none if `nil`.
  public var metadata: Data?

  /// What becomes of the image; it is stored unless the hook says otherwise.
  public var storage = Storage.store

  /// Whether the bitmap is no longer the decode.
  private(set) var isChanged = false

  /// By format; empty for an image without an entity.
  private let versions: [String: ImageID]

  /// The version of the entity's image; `nil` for a format that is not among ``formats``, and for an image
  /// without an entity.
  public func versionID(for format: ImageFormat) -> ImageID? { versions[format.name] }

  /// - Parameters:
  ///   - bitmap: The decode, its colours converted.
  ///   - requests: Of one entity, for different formats.
  ///   - isNamed: Whether that entity is the user's.
  init(_ bitmap: Bitmap, of image: SourceImage, for requests: [ImageRequest], isNamed: Bool) {
    (self.bitmap, origin, url) = (bitmap, image.way, image.url)
    formats = requests.map(\.format)
    metadata = image.metadata.isEmpty ? nil : image.metadata
    imageID = isNamed ? requests.first?.key.entity : nil
    let named = isNamed ? requests : []
    versions = Dictionary(
      named.map { ($0.key.format, $0.realKey.version) }, uniquingKeysWith: { first, _ in first })
  }
}

/// What the hook has made of one decode for one entity.
struct HookAnswer: Sendable {
  /// `nil` where the hook left the decode as it is: that has edges and colours which its copy lacks.
  let bitmap: Bitmap?
  let metadata: Data
  let isStored: Bool

  init(_ image: StoredImage, of decoded: Bitmap) {
    var bitmap = image.isChanged ? image.bitmap : nil
    // What the hook makes of a part is no more than a part.
    if decoded.isDamaged { bitmap?.isDamaged = true }
    self.bitmap = bitmap
    metadata = image.metadata ?? Data()
    isStored = image.storage == .store
  }
}

/// The program's code between decode and drawing: ``ImageCache/Configuration/willStore``.
typealias ImageHook = @Sendable (_ image: inout StoredImage) throws -> Void
