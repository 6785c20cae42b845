#if canImport(SwiftUI)
  public import CoreGraphics
  public import FastImageCache
  public import Foundation
  import ImageViewing
  public import SwiftUI

  /// Shows the image behind a URL as SwiftUI's `AsyncImage` does, from the cache of the environment.
  ///
  /// ```swift
  /// import FastImageCacheUI
  /// import SwiftUI
  ///
  /// struct Icon: View {
  ///   let url: URL?
  ///
  ///   var body: some View {
  ///     CachedAsyncImage(url: url) { image in
  ///       image.resizable()
  ///     } placeholder: {
  ///       Color.gray
  ///     }
  ///     .frame(width: 60, height: 60)
  ///   }
  /// }
  /// ```
  ///
  /// As with `AsyncImage`, the view has the size of its content. So it cannot choose a format by its size: it shows the
  /// format that it is given, or else the one of the cache with the most pixels. For cells give the small one, or use
  /// ``CachedImageView``, which chooses. An image that the cache has is in the first frame, and is not animated.
  public struct CachedAsyncImage<Content: View>: View {
    private let url: URL?
    private let format: ImageFormat?
    private let look: ViewedImage.Look
    private let content: (CachedImagePhase) -> Content
    @Environment(\.imageCache) private var cache

    private init(
      _ url: URL?, _ scale: CGFloat?, _ format: ImageFormat?, _ transaction: Transaction,
      _ content: @escaping (CachedImagePhase) -> Content
    ) {
      look = ViewedImage.Look(transaction: transaction, scale: scale)
      (self.url, self.format, self.content) = (url, format, content)
    }

    /// Shows the image as it is, and gray until it is there.
    ///
    /// - Parameters:
    ///   - url: Where the image is; `nil` shows gray.
    ///   - scale: Pixels in a point; `nil` for the format's.
    ///   - format: One of the cache's formats; `nil` for that of the most pixels.
    public init(url: URL?, scale: CGFloat? = nil, format: ImageFormat? = nil)
    where Content == CachedImageContent<Color, EmptyView> {
      self.init(url, scale, format, Transaction()) { phase in
        CachedImageContent(
          phase: phase, contentMode: nil, placeholder: { Color.gray }, failure: { EmptyView() })
      }
    }

    /// Shows what is made of the image, and a placeholder until it is there.
    ///
    /// - Parameters:
    ///   - url: Where the image is; `nil` shows the placeholder.
    ///   - scale: Pixels in a point; `nil` for the format's.
    ///   - format: One of the cache's formats; `nil` for that of the most pixels.
    ///   - content: Makes a view of the image.
    ///   - placeholder: The view until there is an image, and after a failure.
    public init<I: View, P: View>(
      url: URL?, scale: CGFloat? = nil, format: ImageFormat? = nil,
      @ViewBuilder content: @escaping (Image) -> I, @ViewBuilder placeholder: @escaping () -> P
    ) where Content == _ConditionalContent<I, P> {
      self.init(url: url, scale: scale, format: format) { phase in
        if let image = phase.image { content(image) } else { placeholder() }
      }
    }

    /// Builds what is shown from the phase of the load.
    ///
    /// - Parameters:
    ///   - url: Where the image is; `nil` is the phase `empty`.
    ///   - scale: Pixels in a point; `nil` for the format's.
    ///   - format: One of the cache's formats; `nil` for that of the most pixels.
    ///   - transaction: Of the change to an image that was loaded while the view was seen.
    ///   - content: The view for each phase. A failure is an ``ImageCacheError``.
    public init(
      url: URL?, scale: CGFloat? = nil, format: ImageFormat? = nil,
      transaction: Transaction = Transaction(),
      @ViewBuilder content: @escaping (AsyncImagePhase) -> Content
    ) {
      self.init(url, scale, format, transaction) { content(AsyncImagePhase($0)) }
    }

    /// The content of the present phase, in its own size.
    public var body: some View {
      LoadedImageView(
        request: request, look: look, motion: ViewedImage.Motion(), content: content)
    }

    private var request: ImagePlace.Request? {
      guard let url, let cache, let format = format ?? FormatChoice.largest(of: cache.formats)
      else { return nil }
      return ImagePlace.Request(url, format: format, cache: cache)
    }
  }

  extension AsyncImagePhase {
    fileprivate init(_ phase: CachedImagePhase) {
      switch phase {
      case .empty, .loading: self = .empty
      case .preview(let image), .success(let image): self = .success(image)
      case .failure(let error): self = .failure(error)
      }
    }
  }
#endif
