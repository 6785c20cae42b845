#if canImport(SwiftUI)
  public import FastImageCache
  public import SwiftUI

  extension CachedImageView {
    /// Builds what is shown, in the size of a format, from the phase of the load.
    ///
    /// - Parameters:
    ///   - entity: Whose image. Another id, version, format or cache is another image; `nil` is
    ///     ``CachedImagePhase/empty``.
    ///   - format: One of the cache's formats.
    ///   - label: What assistive technologies say, of the placeholder too; `nil` for decoration.
    ///   - animation: How an image comes in that was loaded while the view was seen, and by which the content's
    ///     transitions run. Images that are there are never animated.
    ///   - options: How a missing image is loaded; with previews, ``CachedImagePhase/preview(_:)``
    ///     shows them.
    ///   - content: The view for each phase.
    public init(
      _ entity: Entity?, format: ImageFormat, label: Text?, animation: Animation? = nil,
      options: LoadOptions? = nil, @ViewBuilder content: @escaping (CachedImagePhase) -> Content
    ) {
      self.init(
        entity, .format(format), ViewedImage.Look(label, animation), options,
        tellsFraction: true, content)
    }

    /// Shows the image or its preview as it is, and a placeholder before and after a failure.
    ///
    /// - Parameters:
    ///   - entity: Whose image. Another id, version, format or cache is another image; `nil` shows the placeholder.
    ///   - format: One of the cache's formats.
    ///   - label: What assistive technologies say, of the placeholder too; `nil` for decoration.
    ///   - animation: How an image comes in that was loaded while the view was seen.
    ///   - options: How a missing image is loaded.
    ///   - placeholder: The view until there is an image.
    public init<Placeholder: View>(
      _ entity: Entity?, format: ImageFormat, label: Text?, animation: Animation? = nil,
      options: LoadOptions? = nil, @ViewBuilder placeholder: @escaping () -> Placeholder
    ) where Content == CachedImageContent<Placeholder, EmptyView> {
      self.init(
        entity, format: format, label: label, animation: animation, options: options,
        placeholder: placeholder, failure: { EmptyView() })
    }

    /// The same with a view for failures.
    ///
    /// - Parameter failure: Lies over the placeholder after a failure.
    public init<Placeholder: View, Failure: View>(
      _ entity: Entity?, format: ImageFormat, label: Text?, animation: Animation? = nil,
      options: LoadOptions? = nil, @ViewBuilder placeholder: @escaping () -> Placeholder,
      @ViewBuilder failure: @escaping () -> Failure
    ) where Content == CachedImageContent<Placeholder, Failure> {
      self.init(
        entity, .format(format), ViewedImage.Look(label, animation), options,
        tellsFraction: false
      ) { phase in
        CachedImageContent(
          phase: phase, contentMode: nil, placeholder: placeholder, failure: failure)
      }
    }
  }
#endif
