#if canImport(SwiftUI)
  public import FastImageCache
  public import SwiftUI

  private struct ImageCacheKey: EnvironmentKey {
    static let defaultValue: ImageCache? = nil
  }

  extension EnvironmentValues {
    /// The cache in which each ``CachedImageView`` looks; without one, the views show placeholders.
    public var imageCache: ImageCache? {
      get { self[ImageCacheKey.self] }
      set { self[ImageCacheKey.self] = newValue }
    }
  }

  extension View {
    /// Gives the views inside a cache to look in.
    ///
    /// - Parameter cache: `nil` has them show placeholders.
    public func imageCache(_ cache: ImageCache?) -> some View {
      environment(\.imageCache, cache)
    }
  }
#endif
