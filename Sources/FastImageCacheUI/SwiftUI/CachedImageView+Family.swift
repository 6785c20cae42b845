#if canImport(SwiftUI)
  public import FastImageCache
  import ImageViewing
  public import SwiftUI

  extension CachedImageView {
    /// Shows the image in the size that is proposed to the view, from the smallest format of a family that fills it.
    ///
    /// ```swift
    /// import FastImageCacheUI
    /// import SwiftUI
    ///
    /// struct Cover: View {
    ///   let photo: Photo?
    ///
    ///   var body: some View {
    ///     CachedImageView(photo, family: "photos", contentMode: .fill) { Color.gray }
    ///       .frame(width: 120, height: 90)
    ///   }
    /// }
    /// ```
    ///
    /// The view takes all the size that is proposed to it, as a `Color` does: give it a frame, or an aspect ratio,
    /// where its container proposes none, such as along a scroll view. The size in points times the display's scale
    /// decides. When the size changes so much that another format of the family is right, the image stays until the
    /// other one is there. If no format fills the view, the largest one is shown.
    ///
    /// - Parameters:
    ///   - entity: Whose image, a `URL` for example; `nil` for none.
    ///   - family: The formats to choose among; `nil` for all formats of the cache. Name the family where a cache has
    ///     several, such as round avatars beside photographs.
    ///   - contentMode: Whether the image fits into the view, or covers it and is cut.
    ///   - label: What assistive technologies say, of the placeholder too; `nil` for decoration.
    ///   - animation: How an image comes in that was loaded while the view was seen.
    ///   - options: How a missing image is loaded.
    public init(
      _ entity: Entity?, family: String? = nil, contentMode: ContentMode = .fit,
      label: Text? = nil, animation: Animation? = nil, options: LoadOptions? = nil
    ) where Content == CachedImageContent<Color, EmptyView> {
      self.init(
        entity, family: family, contentMode: contentMode, label: label, animation: animation,
        options: options, placeholder: { Color.clear })
    }

    /// The same with a placeholder.
    ///
    /// - Parameter placeholder: The view until there is an image, and after a failure.
    public init<Placeholder: View>(
      _ entity: Entity?, family: String? = nil, contentMode: ContentMode = .fit,
      label: Text? = nil, animation: Animation? = nil, options: LoadOptions? = nil,
      @ViewBuilder placeholder: @escaping () -> Placeholder
    ) where Content == CachedImageContent<Placeholder, EmptyView> {
      self.init(
        entity, family: family, contentMode: contentMode, label: label, animation: animation,
        options: options, placeholder: placeholder, failure: { EmptyView() })
    }

    /// The same with a placeholder and a view for failures.
    ///
    /// - Parameters:
    ///   - placeholder: The view until there is an image.
    ///   - failure: Lies over the placeholder after a failure.
    public init<Placeholder: View, Failure: View>(
      _ entity: Entity?, family: String? = nil, contentMode: ContentMode = .fit,
      label: Text? = nil, animation: Animation? = nil, options: LoadOptions? = nil,
      @ViewBuilder placeholder: @escaping () -> Placeholder,
      @ViewBuilder failure: @escaping () -> Failure
    ) where Content == CachedImageContent<Placeholder, Failure> {
      self.init(
        entity, .proposed(FormatChoice(family: family, covers: contentMode == .fill)),
        ViewedImage.Look(label, animation), options, tellsFraction: false
      ) { phase in
        CachedImageContent(
          phase: phase, contentMode: contentMode, placeholder: placeholder, failure: failure)
      }
    }

    /// Builds what is shown, in the size that is proposed to the view, from the phase of the load.
    ///
    /// - Parameters:
    ///   - entity: Whose image; `nil` is ``CachedImagePhase/empty``.
    ///   - family: The formats to choose among; `nil` for all formats of the cache.
    ///   - contentMode: How the content lays the image into the view, which decides how many pixels it takes.
    ///   - label: What assistive technologies say, of the placeholder too; `nil` for decoration.
    ///   - animation: How an image comes in that was loaded while the view was seen, and by which the content's
    ///     transitions run.
    ///   - options: How a missing image is loaded.
    ///   - content: The view for each phase, which makes the image `resizable()`.
    public init(
      _ entity: Entity?, family: String? = nil, contentMode: ContentMode = .fit,
      label: Text? = nil, animation: Animation? = nil, options: LoadOptions? = nil,
      @ViewBuilder content: @escaping (CachedImagePhase) -> Content
    ) {
      self.init(
        entity, .proposed(FormatChoice(family: family, covers: contentMode == .fill)),
        ViewedImage.Look(label, animation), options, tellsFraction: true, content)
    }
  }
#endif
