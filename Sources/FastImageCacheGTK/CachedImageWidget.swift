#if GTK && canImport(CGTK)
  import CGTK
  public import FastImageCache

  /// A `GtkPicture *` that shows the image of an entity while it can be seen.
  ///
  /// When the widget is mapped the table is asked, and an image that is there is in that very frame. A
  /// missing one is loaded at high priority, and shown as soon as it has come; the place is empty until
  /// then. When the widget is unmapped the load is given up, and the lease ends with the next frame that its
  /// window draws; a window that is hidden draws none, and keeps what its last frame showed. A failure stays
  /// empty until the network is back, the widget is mapped anew, another entity is set, or
  /// ``FastImageCache/ImageCache/retryFailedImages()`` is called.
  ///
  /// The widget has the size of the format in points from the start, and shows images pixel for pixel, in
  /// the middle of the room that it is given.
  ///
  /// An image that moves plays if its format keeps the frames (``FastImageCache/ImageFormat/animation-swift.property``),
  /// by the frame clock of its window, which runs only while something in it plays. Widgets that show the same animation
  /// show the same frame. It begins with the first of them that is mapped. Without the setting
  /// `gtk-enable-animations` the first frame stays.
  ///
  /// Invariants:
  /// 1. This object holds a reference of the widget, which goes with it. A container that the widget was
  ///    put into holds another: there the widget goes on without this object.
  /// 2. The entity and the text are the widget's.
  @MainActor public final class CachedImageWidget<Entity: ImageEntity> {
    // Before the reference, so that it is let go first: it must not outlive the widget.
    private let picture: VisiblePicture?
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
    /// - Parameters:
    ///   - formats: Of one size in points and different scales; at least one. The coarsest that has as many
    ///     pixels in a point as the window is shown, or else the finest.
    ///   - cache: Where images are looked up and loaded.
    public init(formats: [ImageFormat], from cache: ImageCache) {
      let widget = VisiblePicture.makeWidget(formats, cache)
      g_object_ref_sink(UnsafeMutableRawPointer(widget))
      reference = GObjectReference(owning: widget)
      picture = VisiblePicture.of(widget)
    }

    /// The `GtkPicture *`, of which this object holds one reference.
    public var widget: OpaquePointer { reference.pointer }

    /// Whose image is shown; `nil` for none.
    ///
    /// An entity with another ``ImageEntity/versionID(for:)`` is another image; the one on screen stays
    /// until that has come.
    public var entity: Entity? {
      get { picture?.entity as? Entity }
      set { picture?.entity = newValue }
    }

    /// Whether an image is on screen now, or will be in the next frame.
    public var isShowingImage: Bool { picture?.isShowing ?? false }

    /// Whether an image that moves plays; if not, its first frame is shown.
    public var isAnimated: Bool {
      get { picture?.place?.isAnimated ?? true }
      set { picture?.place?.isAnimated = newValue }
    }

    /// Stops at the frame on screen until ``resume()``, and other images at their first frame.
    public func pause() { picture?.place?.pause() }

    /// Goes on from the frame at which ``pause()`` stopped, by a time of this widget's own.
    public func resume() { picture?.place?.resume() }

    /// Shows the frame at a time since the start of the animation, or the nearest earlier one until it is ready.
    ///
    /// The widget goes on from there by a time of its own, unless it is paused. Nothing happens while the frames are not
    /// there or not shown.
    public func seek(to time: Duration) { picture?.place?.seek(to: time) }

    /// What a screen reader says; `nil` for decoration.
    public var alternativeText: String? {
      get { picture?.alternativeText }
      set { picture?.alternativeText = newValue }
    }
  }
#endif
