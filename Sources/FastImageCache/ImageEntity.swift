public import Foundation
public import ImageDrawing

/// Something that has a picture: a photo, a person, an album.
///
/// Only ``imageID`` and ``sourceURL(for:)`` must be written. The other members have defaults that
/// suit a picture whose URL changes whenever the picture does.
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
  /// Who: constant for the entity's life, and the same in every run of the program.
  var imageID: ImageID { get }

  /// Which picture: changes when the picture does, so that the old one is not shown any more.
  ///
  /// The default is the URL, or ``imageID`` where there is none.
  func versionID(for format: ImageFormat) -> ImageID

  /// Where the encoded picture is; requests with equal URLs share one load. `nil` for an entity
  /// that supplies every picture itself.
  func sourceURL(for format: ImageFormat) -> URL?

  /// How the picture is laid into the slot; aspect fill by default.
  func drawing(for format: ImageFormat) -> Drawing

  /// A picture that the entity has already, asked for before the source; `nil` by default.
  ///
  /// Called from no actor in particular, once for all who wait for this picture at a time, and again
  /// for those who come later if the table could not keep it. Not called for a format that is drawn
  /// along with another one of its family, from that one's source.
  ///
  /// It may ask the cache for other pictures, of the same URL too. Asking it for the very picture that
  /// is wanted here, be it through other entities, throws
  /// ``ImageCacheError/sourceFailed(_:underlying:)``.
  /// That is noticed of what the calling task and those that it begins ask of the same cache; detached
  /// tasks, and rings through another cache, would wait for ever.
  func picture(for format: ImageFormat) async throws -> ImageSourceContent?

  /// Whether the other formats of a family shall be drawn too when one of them is loaded from the same
  /// URL or stored by hand; yes by default.
  func wantsAllFormats(inFamily family: String) -> Bool
}

extension ImageEntity {
  /// The URL, or ``imageID`` where there is none.
  public func versionID(for format: ImageFormat) -> ImageID {
    sourceURL(for: format).map { ImageID($0) } ?? imageID
  }

  /// Aspect fill.
  public func drawing(for format: ImageFormat) -> Drawing { .aspectFill }

  /// None.
  public func picture(for format: ImageFormat) async throws -> ImageSourceContent? { nil }

  /// Yes.
  public func wantsAllFormats(inFamily family: String) -> Bool { true }
}
