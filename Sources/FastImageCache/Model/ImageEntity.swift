public import Foundation
public import ImageDrawing
public import ImageSources

/// Something that has an image: a photo, a person, an album.
///
/// Only ``imageID`` and ``sourceURL(for:)`` are required. The other members have defaults for an
/// image whose URL changes whenever the image does.
///
/// ```swift
/// struct Photo: ImageEntity {
///   let id: UUID
///   let url: URL
///   var imageID: ImageID { ImageID(id) }
///   func sourceURL(for format: ImageFormat) -> URL? { url }
/// }
/// ```
///
/// `FICEntity` of the original library.
public protocol ImageEntity: Sendable {
  /// Names the entity: constant for its life, and the same in every run of the program.
  var imageID: ImageID { get }

  /// Names the version of the image: changes when the image does, so that the old one is a miss.
  ///
  /// A version that differs from ``defaultVersionID(for:)`` is explicit: its request shares only a load that began for the
  /// same version, since an older load may bring the old image.
  ///
  /// Asked on the caller's thread: once for a hit, so it should not work for its answer. A miss asks
  /// once more, once for each other format of the cache, and again for each other one of the family.
  ///
  /// The default is ``defaultVersionID(for:)``: the URL, or ``imageID`` where there is none.
  func versionID(for format: ImageFormat) -> ImageID

  /// The address of the encoded image; requests with equal URLs share one load, as far as their versions allow, with ``URLImageSource`` those that
  /// differ in the fragment only, and those of one ``originalID(for:)``. `nil` for an entity that supplies every image
  /// itself.
  func sourceURL(for format: ImageFormat) -> URL?

  /// The address of a smaller encoded image, which a view asks for while the user saves data (Low Data Mode on Apple
  /// platforms) and the image of ``sourceURL(for:)`` takes a network; `nil` by default.
  ///
  /// The image of the smaller address is stored as a placeholder (``LoadOptions/isPlaceholder``): requests for the real
  /// image miss it, and the real one takes its place. A view shows it as its image, and loads the real one when the
  /// user no longer saves data. Requests of the program ask for what they name: with
  /// ``LoadOptions/allowsConstrainedNetworkAccess`` they refuse such networks.
  func lowDataURL(for format: ImageFormat) -> URL?

  /// Names the original in a store that keeps it: the same as long as its image is.
  ///
  /// Originals with equal ids and equal ``versionID(for:)`` are variants of one image, with the same crop and perhaps
  /// of other sizes. The original of the same URL answers its version and the default one; for another version its server
  /// is asked first. That of another URL answers only if its pixels cover the slot after the drawing.
  ///
  /// The default is the URL, or ``imageID`` where there is none. An entity whose URLs are signed, expire or name a
  /// size gives the image an id instead. Asked on each miss.
  ///
  /// A request with an id of its own also joins a load of another URL that leads to the same original, under the same
  /// conditions, if that URL was named for a format at least as large. Where the server refuses that URL, with status
  /// 401 or 403, or its image has too few pixels, the request's own URL is asked next.
  func originalID(for format: ImageFormat) -> ImageID

  /// How the image is laid into the slot; aspect fill by default.
  func drawing(for format: ImageFormat) -> Drawing

  /// An image that the entity has already; a load asks for it before it asks the source. `nil` by
  /// default.
  ///
  /// The call comes from no particular actor, once for all requests that wait for this image, and
  /// again for later ones if the table could not keep it. A format that is drawn along with its
  /// family is drawn from the other format's source, without this call.
  ///
  /// The method may ask the cache for other images, of the same URL too. Asking for the very image
  /// that it is to supply, even through other entities, throws
  /// ``ImageCacheError/sourceFailed(_:underlying:)``. The cache detects this for the calling task and
  /// the tasks that it begins; a detached task, or a ring through another cache, would wait for ever.
  func providedImage(for format: ImageFormat) async throws -> ImageSourceResponse?

  /// A description of the image in a few bytes, for a view to draw until the image is there; `nil` by default.
  ///
  /// Asked only for an image that is not in its table, on the main actor: it should not work for its answer.
  var placeholderHash: PlaceholderHash? { get }

  /// Whether the other formats of a family are drawn too when one of them is loaded from the same URL
  /// or stored by hand; yes by default.
  func prerendersFamily(_ family: String) -> Bool
}

extension ImageEntity {
  /// The URL, or ``imageID`` where there is none.
  public func versionID(for format: ImageFormat) -> ImageID { defaultVersionID(for: format) }

  /// The URL, or ``imageID`` where there is none: the version of an entity that does not say otherwise.
  ///
  /// For an entity that names the version of some formats only, or adds to the URL:
  ///
  /// ```swift
  /// struct Portrait: ImageEntity {
  ///   let name: String
  ///   let url: URL
  ///   let watermark: Int
  ///
  ///   var imageID: ImageID { ImageID(name) }
  ///   func sourceURL(for format: ImageFormat) -> URL? { url }
  ///   func versionID(for format: ImageFormat) -> ImageID {
  ///     let version = defaultVersionID(for: format)
  ///     return format == .page ? ImageID("\(version) watermark \(watermark)") : version
  ///   }
  /// }
  /// ```
  // Inlined, so that the default version of a hit costs no call more.
  @inline(__always)
  public func defaultVersionID(for format: ImageFormat) -> ImageID {
    sourceURL(for: format).map { ImageID($0) } ?? imageID
  }

  /// The URL, or ``imageID`` where there is none.
  public func originalID(for format: ImageFormat) -> ImageID {
    sourceURL(for: format).map { ImageID($0) } ?? imageID
  }

  /// None.
  public func lowDataURL(for format: ImageFormat) -> URL? { nil }

  /// Aspect fill.
  public func drawing(for format: ImageFormat) -> Drawing { .aspectFill }

  /// None.
  public func providedImage(for format: ImageFormat) async throws -> ImageSourceResponse? { nil }

  /// None.
  public var placeholderHash: PlaceholderHash? { nil }

  /// Yes.
  public func prerendersFamily(_ family: String) -> Bool { true }
}

/// A URL is an entity whose image is the one behind it.
///
/// ```swift
/// let url = URL(fileURLWithPath: "/images/1.jpg")
/// let image = try await cache.image(for: url, format: .row)
/// ```
///
/// The whole URL is the id, so that images are found again by the same URL only; each hit makes the id
/// and the version of its text anew, while an entity can keep them. Where URLs are
/// signed, expire or contain an app's folder, write an entity with an ``ImageEntity/imageID`` of its own.
extension URL: ImageEntity {
  /// The URL's text.
  public var imageID: ImageID { ImageID(self) }

  /// The URL itself.
  public func sourceURL(for format: ImageFormat) -> URL? { self }
}
