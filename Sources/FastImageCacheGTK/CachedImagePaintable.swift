#if GTK && canImport(CGTK)
  import CGTK
  public import FastImageCache

  /// A `GdkPaintable *` of constant size whose image may change without a new layout.
  ///
  /// For widgets of your own, drag icons and `GtkImage`; ``CachedImageWidget`` is the widget that looks up and
  /// loads as well. Showing an image copies no pixel, but for `bgr16` and `gray8`, and without GSK's Cairo
  /// renderer for images whose sides have at most 128 pixels.
  ///
  /// Invariants:
  /// 1. The GObject holds `content`, and so does this object: either may outlive the other.
  /// 2. The lease on the image lasts until another one, or none, is shown, or both are gone, and as long
  ///    as GTK keeps a drawing of it.
  @MainActor public final class CachedImagePaintable {
    let content: PaintableContent
    private let reference: GObjectReference

    /// Makes a paintable that shows nothing yet.
    ///
    /// - Parameter format: Gives the size: its largest image's pixels, divided by its scale. A smaller
    ///   image is shown in the middle.
    public init(format: ImageFormat) {
      content = PaintableContent(of: format)
      reference = GObjectReference(owning: PaintableClass.makeInstance(of: content))
    }

    /// The `GdkPaintable *`, of which this object holds one reference.
    public var paintable: OpaquePointer { reference.pointer }

    /// Shows an image, in the form that is cheapest for the renderer, from the next frame on.
    ///
    /// - Parameters:
    ///   - image: `nil` shows nothing, and lets go of the lease.
    ///   - renderer: The window's `GskRenderer *`, as `gtk_native_get_renderer` returns it; any other
    ///     renderer draws the image too, at a higher cost. `nil` if it is not known.
    public func show(_ image: CachedImage?, drawnBy renderer: OpaquePointer?) {
      if image == content.drawn?.image, content.drawn?.fits(renderer) ?? true { return }
      content.drawn = image.flatMap { DrawnImage($0, for: renderer) }
      gdk_paintable_invalidate_contents(paintable)
    }

    /// What is drawn while no image is shown, a `GdkPaintable *`; `nil` for nothing.
    var standIn: PaintableContent.StandIn? {
      get { content.standIn }
      set {
        if newValue?.paintable === content.standIn?.paintable { return }
        content.standIn = newValue
        gdk_paintable_invalidate_contents(paintable)
      }
    }

    /// By default, a smaller image than the format's stands in the middle, and a stretched paintable stretches it.
    var contentFit: ContentFit {
      get { content.fit }
      set {
        content.fit = newValue
        gdk_paintable_invalidate_contents(paintable)
      }
    }
  }
#endif
