#if canImport(UIKit)
  import CoreGraphics
  public import FastImageCache
  public import UIKit

  extension UIImage {
    /// Makes an image over the mapped pixels, without copying them; it holds the lease.
    ///
    /// - Parameter cached: The image, whose scale becomes the image's.
    /// - Returns: `nil` if CoreGraphics makes no image.
    public convenience init?(_ cached: CachedImage) {
      guard let image = cached.makeCGImage() else { return nil }
      self.init(cgImage: image, scale: CGFloat(cached.scale), orientation: .up)
    }
  }
#endif
