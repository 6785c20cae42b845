#if GTK && canImport(CGTK)
  import CGTK
  public import FastImageCache

  /// A `GtkPicture *` that shows the image of an entity while it can be seen.
  ///
  /// When the widget is mapped the table is asked, and an image that is there is in that very frame. A
  /// missing one is loaded at high priority, and shown as soon as it has come; the ``placeholder`` is shown until
  /// then. When the widget is unmapped the load is given up, and the lease ends with the next frame that its
  /// window draws; a window that is hidden draws none, and keeps what its last frame showed. A failed image is loaded
  /// again when the network is back, the widget is mapped anew, another entity is set, or
  /// ``FastImageCache/ImageCache/retryFailedImages()`` is called; the ``failureImage`` is shown until then.
  ///
  /// The widget has the size of the format in points from the start, and shows images pixel for pixel, in
  /// the middle of the room that it is given. With another ``contentFit`` it takes the room, and may be smaller. All
  /// properties may be set at any time, also while an image is shown.
  ///
  /// An image that moves plays if its format keeps the frames
  /// (``FastImageCache/ImageFormat/animation-swift.property``), by the frame clock of its window, which runs only while
  /// something in it plays. Widgets that show the same animation show the same frame. It begins with the first of them
  /// that is mapped. Without the setting `gtk-enable-animations` the first frame stays.
  ///
  /// Invariants:
  /// 1. This object holds a reference of the widget, which goes with it. A container that the widget was
  ///    put into holds another: there the widget goes on without this object.
  /// 2. All properties are the widget's.
  @MainActor public final class CachedImageWidget<Entity: ImageEntity> {
    // Before the reference, so that it is let go first: it must not outlive the widget.
    private let image: VisibleImage
    private let reference: GObjectReference

    /// Makes a widget that shows nothing yet.
    ///
    /// - Parameters:
    ///   - format: One of the cache's formats.
    ///   - cache: Where images are looked up and loaded.
    public convenience init(format: ImageFormat, from cache: ImageCache) {
      self.init(formats: [format], from: cache)
    }

    /// Makes a widget that chooses among formats by the window's scale factor, again when that changes.
    ///
    /// With a ``contentFit`` other than ``ContentFit/unscaled``, it chooses by its size, too, as
    /// ``init(family:from:)`` does.
    ///
    /// - Parameters:
    ///   - formats: Of one size in points and different scales; at least one. The coarsest that has as many
    ///     pixels in a point as the window is shown, or else the finest.
    ///   - cache: Where images are looked up and loaded.
    public init(formats: [ImageFormat], from cache: ImageCache) {
      image = VisibleImage.make(formats, cache)
      g_object_ref_sink(UnsafeMutableRawPointer(image.widget))
      reference = GObjectReference(owning: image.widget)
    }

    /// Makes a widget that takes the room that it is given, and shows the whole image in it.
    ///
    /// It shows the smallest format of a family whose size has as many pixels as the widget, or the largest; another
    /// one when the widget's size or the window's scale factor changes, until whose image has come the present one
    /// stays. The widget has no least size. Its natural one is what `gtk_widget_set_size_request` asks for, or else
    /// that of the smallest format; its container may give it any other. Where one side is given, the other follows the
    /// proportions of a request of both sides, or else the format's.
    ///
    /// - Parameters:
    ///   - family: Of formats of the cache, ``FastImageCache/ImageFormat/family``.
    ///   - cache: Where images are looked up and loaded.
    public convenience init(family: String, from cache: ImageCache) {
      let formats = cache.formats.filter { $0.family == family }
        .sorted { $0.size.width * $0.size.height < $1.size.width * $1.size.height }
      precondition(!formats.isEmpty, "The cache has no format of the family \"\(family)\".")
      self.init(formats: formats, from: cache)
      contentFit = .contain
    }

    /// The `GtkPicture *`, of which this object holds one reference.
    public var widget: OpaquePointer { reference.pointer }

    /// Whose image is shown; `nil` for none.
    ///
    /// An entity with another ``ImageEntity/versionID(for:)`` is another image; the one on screen stays
    /// until that has come.
    public var entity: Entity? {
      get { image.entity as? Entity }
      set { image.entity = newValue }
    }

    /// How a missing image is loaded, previews first where the options ask for them; `nil` for the usual way.
    public var options: LoadOptions? {
      get { image.options }
      set { image.options = newValue }
    }

    /// How an image is drawn into the room of the widget; ``ContentFit/unscaled`` by default, where the widget has the
    /// size of its format.
    ///
    /// Sets the alignment of the widget: in the middle where images are not scaled, and else filling its room.
    public var contentFit: ContentFit {
      get { image.contentFit }
      set { image.contentFit = newValue }
    }

    /// A `GdkPaintable *` that is drawn while there is no image, also without an entity; `nil` for nothing. An entity's
    /// ``FastImageCache/ImageEntity/placeholderHash`` takes its place.
    ///
    /// The widget takes a reference of its own. A paintable that changes by itself is not watched.
    public var placeholder: OpaquePointer? {
      get { image.placeholder?.pointer }
      set { image.placeholder = newValue.map(GObjectReference.init(sharing:)) }
    }

    /// A `GdkPaintable *` that is drawn after a failure; `nil` for the ``placeholder``.
    public var failureImage: OpaquePointer? {
      get { image.failureImage?.pointer }
      set { image.failureImage = newValue.map(GObjectReference.init(sharing:)) }
    }

    /// Called on the main thread after an image has come on screen: at once for a hit, inside the call that sets the
    /// entity or maps the widget. Not called for the frames of an animation after the first, nor for previews.
    ///
    /// A closure that holds this object keeps the widget for ever: capture it `weak`.
    public var onLoaded: @MainActor (CachedImage) -> Void {
      get { image.place.onLoaded }
      set { image.place.onLoaded = newValue }
    }

    /// Called on the main thread after a load has failed, also where a preview stays on screen. Loads that are given
    /// up do not fail.
    public var onFailed: @MainActor (ImageCacheError) -> Void {
      get { image.place.onFailed }
      set { image.place.onFailed = newValue }
    }

    /// Whether an image is on screen now, or will be in the next frame.
    public var isShowingImage: Bool { image.isShowing }

    /// Whether an image that moves plays; if not, its first frame is shown.
    public var isAnimated: Bool {
      get { image.place.isAnimated }
      set { image.place.isAnimated = newValue }
    }

    /// Stops at the frame on screen until ``resume()``, and other images at their first frame.
    public func pause() { image.place.pause() }

    /// Goes on from the frame at which ``pause()`` stopped, by a time of this widget's own.
    public func resume() { image.place.resume() }

    /// Shows the frame at a time since the start of the animation, or the nearest earlier one until it is ready.
    ///
    /// The widget goes on from there by a time of its own, unless it is paused. Nothing happens while the frames are
    /// not there or not shown.
    public func seek(to time: Duration) { image.place.seek(to: time) }

    /// What a screen reader says; `nil` for decoration.
    public var alternativeText: String? {
      get { image.alternativeText }
      set { image.alternativeText = newValue }
    }
  }
#endif
