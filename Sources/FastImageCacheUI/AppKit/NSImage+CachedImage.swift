// Mac Catalyst has a part of AppKit, and none of its views.
#if canImport(AppKit) && !targetEnvironment(macCatalyst)
  public import AppKit
  import CoreGraphics
  public import FastImageCache

  extension NSImage {
    /// Makes an image over the mapped pixels, without copying them; it holds the lease.
    ///
    /// - Parameter cached: The image; its size in points is the image's.
    /// - Returns: `nil` if CoreGraphics makes no image.
    public convenience init?(_ cached: CachedImage) {
      guard let image = cached.makeCGImage() else { return nil }
      self.init(
        cgImage: image,
        size: NSSize(
          width: CGFloat(Double(cached.size.width) / cached.scale),
          height: CGFloat(Double(cached.size.height) / cached.scale)))
    }
  }
#endif
