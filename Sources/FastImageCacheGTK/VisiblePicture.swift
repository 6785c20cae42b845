#if GTK && canImport(CGTK)
  import CGTK
  import FastImageCache
  import ImageViewing

  /// Shows in a `GtkPicture *` what its place decides.
  ///
  /// Invariants:
  /// 1. The widget's data holds this object until the widget's finalisation, and this object holds no
  ///    reference of the widget. Who else holds this object holds the widget too. So `widget` is there
  ///    whenever a method runs.
  /// 2. Signals' handlers get this object unretained: they are disconnected when the widget is disposed of,
  ///    before its data goes.
  /// 3. The place has appeared exactly while the widget is mapped, which in a list is exactly while it can
  ///    be seen.
  @MainActor final class VisiblePicture {
    private static let attached = AttachedObject<VisiblePicture>(key: "fast-image-cache-picture")

    private let widget: OpaquePointer
    private let formats: [ImageFormat]
    private let cache: ImageCache
    private let paintable: CachedImagePaintable
    private(set) var place: PicturePlace?
    /// Of the window in which the place plays.
    private weak var clock: WindowClock?

    /// Whose image is shown.
    var entity: (any ImageEntity)? { didSet { want() } }

    private(set) var isShowing = false

    /// What a screen reader says.
    var alternativeText: String? {
      didSet {
        if alternativeText != oldValue { setLabel() }
      }
    }

    /// Makes a widget that shows nothing yet.
    ///
    /// - Returns: A floating reference, as GTK's own functions do.
    static func makeWidget(_ formats: [ImageFormat], _ cache: ImageCache) -> OpaquePointer {
      // GLib ends the process where it has no memory for a widget.
      let widget = OpaquePointer(gtk_picture_new().unsafelyUnwrapped)
      attached.attach(VisiblePicture(widget, formats, cache), to: widget)
      return widget
    }

    /// The image of a widget that `makeWidget` has made.
    static func of(_ widget: OpaquePointer) -> VisiblePicture? { attached.object(of: widget) }

    private init(_ widget: OpaquePointer, _ formats: [ImageFormat], _ cache: ImageCache) {
      precondition(!formats.isEmpty, "A picture needs a format.")
      (self.widget, self.formats, self.cache) = (widget, formats, cache)
      paintable = CachedImagePaintable(format: formats[0])
      PicturePlace.didFail = { NetworkWatch.begin() }
      place = PicturePlace(
        deliver: { IdleDelivery.shared.run($0) }, show: { [weak self] in self?.show($0) })
      if formats.contains(where: { $0.animation != .firstFrame }) {
        MotionWatch.begin()
        place?.setTicking = { [weak self] in self?.setTicking($0) }
      }
      // The size is there before the image, and an image is drawn pixel for pixel: scaling it would
      // cost three times as much in each frame.
      gtk_picture_set_paintable(widget, paintable.paintable)
      gtk_picture_set_can_shrink(widget, false.asBoolean)
      gtk_widget_set_halign(UnsafeMutablePointer(widget), GTK_ALIGN_CENTER)
      gtk_widget_set_valign(UnsafeMutablePointer(widget), GTK_ALIGN_CENTER)
      setLabel()
      connectSignals()
    }

    private func connectSignals() {
      let data = Unmanaged.passUnretained(self).toOpaque()
      connect(widget, "map", to: data) { _, data in
        VisiblePicture.withPicture(data) { picture in
          // Outside a window a widget has the scale factor of no window.
          if picture.formats.count > 1 { picture.want() }
          picture.place?.appear()
        }
      }
      connect(widget, "unmap", to: data) { _, data in
        VisiblePicture.withPicture(data) { $0.place?.disappear() }
      }
      connect(widget, "notify::scale-factor", to: data) { _, _, data in
        VisiblePicture.withPicture(data) { $0.want() }
      }
      connect(widget, "notify::visible", to: data) { _, _, data in
        VisiblePicture.withPicture(data) { $0.setLabelSoon() }
      }
    }

    /// Runs a handler's body; GTK calls handlers on the main thread.
    private nonisolated static func withPicture(
      _ data: UnsafeMutableRawPointer?, _ body: @MainActor (VisiblePicture) -> Void
    ) {
      guard let data else { return }
      // By invariant 2.
      let picture = Unmanaged<VisiblePicture>.fromOpaque(data).takeUnretainedValue()
      MainActor.assumeIsolated { body(picture) }
    }

    /// GTK tells screen readers of a widget that is shown again after it has told this object.
    private func setLabelSoon() {
      IdleDelivery.shared.run { [weak self] in self?.setLabel() }
    }

    private func setLabel() { fic_gtk_set_label(UnsafeMutablePointer(widget), alternativeText) }

    private func want() {
      let scaleFactor = Int(gtk_widget_get_scale_factor(UnsafeMutablePointer(widget)))
      let format = formats.fitting(scaleFactor: scaleFactor)
      place?.want(entity.map { PicturePlace.Request($0, format: format, cache: cache) })
    }

    /// The place plays while the widget is mapped only, so that the widget has a window.
    private func setTicking(_ isTicking: Bool) {
      guard let place else { return }
      if !isTicking { return clock?.players.remove(place) ?? () }
      let now = WindowClock.of(widget)
      if now !== clock { clock?.players.remove(place) }
      clock = now
      now?.players.insert(place)
    }

    private func show(_ sight: PicturePlace.Sight) {
      let image: CachedImage? =
        switch sight {
        case .picture(let image, _), .preview(let image): image
        case .nothing, .placeholder, .failure: nil
        }
      isShowing = image != nil
      let window = gtk_widget_get_native(UnsafeMutablePointer(widget))
      paintable.show(image, drawnBy: window.flatMap(gtk_native_get_renderer))
    }
  }

  extension [ImageFormat] {
    /// The format for a window with so many pixels in a point: the coarsest that is fine enough, or else
    /// the finest.
    func fitting(scaleFactor: Int) -> ImageFormat {
      let wanted = Double(scaleFactor)
      let enough = filter { $0.scale >= wanted }.min { $0.scale < $1.scale }
      return enough ?? self.max { $0.scale < $1.scale } ?? self[0]
    }
  }
#endif
