#if canImport(SwiftUI)
  public import FastImageCache
  public import SwiftUI

  /// How far the image of a ``CachedImageView`` is.
  public enum CachedImagePhase {
    /// The image is on its way, there is no entity, or the environment has no cache.
    case empty
    /// This part of the image's bytes has arrived, from 0 to 1, of a length that its source announced.
    case loading(Double)
    /// A stand-in: the entity's ``ImageEntity/placeholderHash`` from the first frame on, and, where the view's options
    /// ask for previews, these.
    case preview(Image)
    /// The image.
    case success(Image)
    /// The load failed; nothing else stands in for the image.
    case failure(ImageCacheError)

    /// The image or its preview.
    public var image: Image? {
      switch self {
      case .preview(let image), .success(let image): image
      case .empty, .loading, .failure: nil
      }
    }

    /// The reason why there is no image.
    public var error: ImageCacheError? { if case .failure(let error) = self { error } else { nil } }
  }
#endif
