#if canImport(SwiftUI)
  import CoreGraphics
  public import FastImageCache
  public import SwiftUI

  extension Image {
    /// Makes an image over the mapped pixels, without copying them; it holds the lease.
    ///
    /// - Parameters:
    ///   - cached: The image.
    ///   - label: What assistive technologies say; `nil` for decoration.
    /// - Returns: `nil` if CoreGraphics makes no image.
    public init?(_ cached: CachedImage, label: Text?) {
      self.init(cached, label: label, scale: nil)
    }

    /// - Parameter scale: Pixels in a point; `nil` for the format's.
    init?(_ cached: CachedImage, label: Text?, scale: CGFloat?) {
      guard let image = cached.makeCGImage() else { return nil }
      let scale = scale ?? CGFloat(cached.scale)
      if let label {
        self.init(image, scale: scale, orientation: .up, label: label)
      } else {
        self.init(decorative: image, scale: scale, orientation: .up)
      }
    }
  }
#endif
