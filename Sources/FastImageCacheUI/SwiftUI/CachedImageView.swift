#if canImport(SwiftUI)
  import CoreGraphics
  public import FastImageCache
  public import ImageViewing
  public import SwiftUI

  /// Shows the image of an entity: in the first frame if the table has it, and otherwise the entity's
  /// ``ImageEntity/placeholderHash`` or a placeholder until it is loaded.
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
  /// The cache comes from the environment (``SwiftUI/View/imageCache(_:)``). A view with a format takes its size, in
  /// points, from the start, so that nothing moves when the image comes. A view with a family takes the size that is
  /// proposed to it, and chooses the format by that. A view that disappears gives up its load, unless
  /// ``onDisappear(_:)`` says otherwise, and lets its image go.
  ///
  /// An image that moves plays if its format keeps the frames, unless the system asks for less motion; views that show
  /// the same animation show the same frame. ``animated(_:)``, ``paused(_:)`` and ``seek(to:)`` change that.
  ///
  /// Cost: a body with a hit is one lookup, and an `Image` over the mapped pixels. The body of a view
  /// whose image is shown already looks nothing up.
  public struct CachedImageView<Entity: ImageEntity, Content: View>: View {
    enum Size {
      case format(ImageFormat)
      case proposed(FormatChoice)
    }

    let entity: Entity?
    let size: Size
    var look: ViewedImage.Look
    let options: LoadOptions?
    var tellsFraction = true
    let content: (CachedImagePhase) -> Content
    @Environment(\.imageCache) private var cache
    @Environment(\.displayScale) private var displayScale
    private var motion = ViewedImage.Motion()

    init(
      _ entity: Entity?, _ size: Size, _ look: ViewedImage.Look, _ options: LoadOptions?,
      tellsFraction: Bool, _ content: @escaping (CachedImagePhase) -> Content
    ) {
      (self.entity, self.size, self.look, self.options) = (entity, size, look, options)
      (self.tellsFraction, self.content) = (tellsFraction, content)
    }

    /// The content of the present phase, in the size of the format or in the proposed size.
    public var body: some View {
      switch size {
      case .format(let format):
        loaded(format).frame(
          width: CGFloat(Double(format.size.width) / format.scale),
          height: CGFloat(Double(format.size.height) / format.scale), alignment: .center)
      case .proposed(let choice):
        GeometryReader { proxy in
          loaded(
            choice.format(
              among: cache?.formats ?? [], width: Double(proxy.size.width),
              height: Double(proxy.size.height), scale: Double(displayScale))
          )
          .frame(width: proxy.size.width, height: proxy.size.height, alignment: .center)
          .clipped()
          // The part that is cut off takes no touches either.
          .contentShape(Rectangle())
        }
      }
    }

    private func loaded(_ format: ImageFormat?) -> LoadedImageView<Content> {
      var request: ImagePlace.Request?
      if let entity, let format, let cache {
        request = ImagePlace.Request(entity, format: format, cache: cache, options: options)
      }
      request?.tellsFraction = tellsFraction
      return LoadedImageView(request: request, look: look, motion: motion, content: content)
    }

    /// Whether an image that moves plays; if not, its first frame is shown.
    public func animated(_ isAnimated: Bool) -> CachedImageView {
      changed { $0.motion.isAnimated = isAnimated }
    }

    /// Whether an image that moves stops at the frame on screen; it goes on from there by a time of its own.
    public func paused(_ isPaused: Bool) -> CachedImageView {
      changed { $0.motion.isPaused = isPaused }
    }

    /// Shows the frame at a time since the start of the animation whenever the time is another one than before; a view
    /// that is not paused goes on from there.
    ///
    /// - Parameter time: `nil` changes nothing.
    public func seek(to time: Duration?) -> CachedImageView { changed { $0.motion.time = time } }

    /// Says what becomes of a load when the view disappears: it is given up by default.
    public func onDisappear(_ behavior: DisappearBehavior) -> CachedImageView {
      changed { $0.look.whenLeaving = behavior }
    }

    private func changed(_ change: (inout CachedImageView) -> Void) -> CachedImageView {
      var view = self
      change(&view)
      return view
    }
  }
#endif
