#if canImport(SwiftUI)
  import CoreGraphics
  public import FastImageCache
  import ImageViewing
  public import SwiftUI

  /// Shows the image of an entity: in the first frame if the table has it, and otherwise a
  /// placeholder until it is loaded.
  ///
  /// ```swift
  /// import FastImageCacheUI
  /// import SwiftUI
  ///
  /// struct Row: View {
  ///   let photo: Photo
  ///
  ///   var body: some View {
  ///     CachedImageView(photo, format: .row, label: Text("Photograph")) { Color.secondary }
  ///   }
  /// }
  /// ```
  ///
  /// The cache comes from the environment (``SwiftUI/View/imageCache(_:)``). The view takes the size
  /// of its format, in points, from the start, so that nothing moves when the image comes. A view that
  /// disappears gives up its load and lets its image go.
  ///
  /// An image that moves plays if its format keeps the frames, unless the system asks for less motion; views that show
  /// the same animation show the same frame. ``animated(_:)``, ``paused(_:)`` and ``seek(to:)`` change that.
  ///
  /// Cost: a body with a hit is one lookup, and an `Image` over the mapped pixels. The body of a view
  /// whose image is shown already looks nothing up.
  public struct CachedImageView<Entity: ImageEntity, Content: View>: View {
    private let entity: Entity
    private let format: ImageFormat
    private let label: Text?
    private let animation: Animation?
    private let options: LoadOptions?
    private let content: (CachedImagePhase) -> Content
    @Environment(\.imageCache) private var cache
    private var motion = ViewedPicture.Motion()
    @Environment(\.accessibilityReduceMotion) private var reducesMotion
    @State private var viewed = ViewedPicture()

    /// Builds what is shown from the phase of the load.
    ///
    /// - Parameters:
    ///   - entity: Whose image. Another id, version, format or cache is another image.
    ///   - format: One of the cache's formats.
    ///   - label: What assistive technologies say, of the placeholder too; `nil` for decoration.
    ///   - animation: How an image comes in that was loaded while the view was seen. Images that are
    ///     there are never animated.
    ///   - options: How a missing image is loaded; with previews, ``CachedImagePhase/preview(_:)``
    ///     shows them.
    ///   - content: The view for each phase.
    public init(
      _ entity: Entity, format: ImageFormat, label: Text?, animation: Animation? = nil,
      options: LoadOptions? = nil, @ViewBuilder content: @escaping (CachedImagePhase) -> Content
    ) {
      self.entity = entity
      self.format = format
      self.label = label
      self.animation = animation
      self.options = options
      self.content = content
    }

    /// The content of the present phase, in the size of the format.
    public var body: some View {
      viewed.motion(isReduced: reducesMotion, motion)
      return playing(viewed.phase(of: request, label: label, animation: animation))
        .frame(
          width: CGFloat(Double(format.size.width) / format.scale),
          height: CGFloat(Double(format.size.height) / format.scale), alignment: .center
        )
        .accessibilityLabel(label ?? Text(verbatim: ""), isEnabled: label != nil)
        .onAppear { viewed.appear() }
        .onDisappear { viewed.disappear() }
    }

    /// Whether an image that moves plays; if not, its first frame is shown.
    public func animated(_ isAnimated: Bool) -> CachedImageView {
      changed { $0.isAnimated = isAnimated }
    }

    /// Whether an image that moves stops at the frame on screen; it goes on from there by a time of its own.
    public func paused(_ isPaused: Bool) -> CachedImageView { changed { $0.isPaused = isPaused } }

    /// Shows the frame at a time since the start of the animation whenever the time is another one than before; a view
    /// that is not paused goes on from there.
    ///
    /// - Parameter time: `nil` changes nothing.
    public func seek(to time: Duration?) -> CachedImageView { changed { $0.time = time } }

    private func changed(_ change: (inout ViewedPicture.Motion) -> Void) -> CachedImageView {
      var view = self
      change(&view.motion)
      return view
    }

    /// A timeline evaluates what is in it for each frame of the screen, so only views that can play have one.
    @ViewBuilder private func playing(_ phase: CachedImagePhase) -> some View {
      if format.animation == .firstFrame {
        content(phase)
      } else {
        TimelineView(.animation(minimumInterval: 1.0 / 60, paused: !viewed.isTicking)) { context in
          content(viewed.phase(at: context.date))
        }
      }
    }

    private var request: PicturePlace.Request? {
      cache.map { PicturePlace.Request(entity, format: format, cache: $0, options: options) }
    }
  }

  extension CachedImageView {
    /// Shows the image or its preview as it is, and a placeholder before and after a failure.
    ///
    /// - Parameters:
    ///   - entity: Whose image. Another id, version, format or cache is another image.
    ///   - format: One of the cache's formats.
    ///   - label: What assistive technologies say, of the placeholder too; `nil` for decoration.
    ///   - animation: How an image comes in that was loaded while the view was seen.
    ///   - options: How a missing image is loaded.
    ///   - placeholder: The view until there is an image.
    public init<Placeholder: View>(
      _ entity: Entity, format: ImageFormat, label: Text?, animation: Animation? = nil,
      options: LoadOptions? = nil, @ViewBuilder placeholder: @escaping () -> Placeholder
    ) where Content == _ConditionalContent<Image, Placeholder> {
      self.init(entity, format: format, label: label, animation: animation, options: options) {
        phase in
        if let image = phase.image { image } else { placeholder() }
      }
    }
  }
#endif
