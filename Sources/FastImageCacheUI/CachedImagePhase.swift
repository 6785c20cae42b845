#if canImport(SwiftUI)
  public import FastImageCache
  public import SwiftUI

  /// How far the image of a ``CachedImageView`` is.
  public enum CachedImagePhase {
    /// The image is on its way, or the environment has no cache.
    case empty
    /// A stand-in, where the view's options ask for previews.
    case preview(Image)
    /// The image.
    case success(Image)
    /// The load failed; nothing else stands in for the image.
    case failure(ImageCacheError)

    /// The image or its preview.
    public var image: Image? {
      switch self {
      case .preview(let image), .success(let image): image
      case .empty, .failure: nil
      }
    }
  }
#endif
