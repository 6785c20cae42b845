// Names that the snippets of the documents use without declaring them. They are only type-checked,
// so none of them does anything.

public import FastImageCache
public import Foundation

public struct Photo: ImageEntity {
  public let id: UUID
  public let url: URL

  public init(id: UUID, url: URL) {
    self.id = id
    self.url = url
  }

  public var imageID: ImageID { ImageID(id) }
  public func sourceURL(for format: ImageFormat) -> URL? { url }
}

extension ImageFormat {
  public static let row = ImageFormat(
    name: "row", family: "photos", size: .exact(PixelSize(width: 200, height: 200)),
    pixelFormat: .bgrx32,
    capacity: 500)
  public static let page = ImageFormat(
    name: "page", family: "photos", size: .fitting(PixelSize(width: 1200, height: 1200)),
    capacity: 40)
}

public var cache: ImageCache { preconditionFailure("Snippets are compiled, not run.") }
public var photo: Photo { photos[0] }
public var photos: [Photo] { [] }
public func show(_ image: CachedImage) {}
