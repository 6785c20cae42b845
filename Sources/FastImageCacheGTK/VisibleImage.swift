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
  @MainActor final class VisibleImage {
    private static let attached = AttachedObject<VisibleImage>(key: "fast-image-cache-image")

    let widget: OpaquePointer
    private let formats: [ImageFormat]
    private let cache: ImageCache
    private let paintable: CachedImagePaintable
    private(set) lazy var place = ImagePlace(
      deliver: { IdleDelivery.shared.run($0) }, show: { [weak self] in self?.show($0) })
    /// Of the window in which the place plays.
    private weak var clock: WindowClock?
    /// There while the widget is mapped and its room decides on the format.
    private var layouts: LayoutWatch?
    /// The widget's size in points, for which the format was chosen.
    private var room = (width: 0, height: 0)

    /// Whose image is shown.
    var entity: (any ImageEntity)? { didSet { want() } }

    /// How a missing image is loaded.
    var options: LoadOptions? { didSet { want() } }

    private(set) var isShowing = false
    private var hasFailed = false
    /// Of the entity's hash.
    private var hashed = HashedImage<PaintableContent.StandIn>()

    /// Drawn while there is no image.
    var placeholder: GObjectReference? { didSet { showStandIn() } }

    /// Drawn after a failure; `nil` for the placeholder.
    var failureImage: GObjectReference? { didSet { showStandIn() } }

    var contentFit: ContentFit {
      get { paintable.contentFit }
      set {
        if newValue == paintable.contentFit { return }
        paintable.contentFit = newValue
        takeRoom()
        watchLayouts()
        want()
      }
    }

    /// What a screen reader says.
    var alternativeText: String? {
      didSet {
        if alternativeText != oldValue { setLabel() }
      }
    }

    /// Makes a widget that shows nothing yet.
    ///
    /// - Returns: With the widget's floating reference, as GTK's own functions return it.
    static func make(_ formats: [ImageFormat], _ cache: ImageCache) -> VisibleImage {
      // GLib ends the process where it has no memory for a widget.
      let widget = OpaquePointer(gtk_picture_new().unsafelyUnwrapped)
      let visible = VisibleImage(widget, formats, cache)
      attached.attach(visible, to: widget)
      return visible
    }

    private init(_ widget: OpaquePointer, _ formats: [ImageFormat], _ cache: ImageCache) {
      precondition(!formats.isEmpty, "An image needs a format.")
      (self.widget, self.formats, self.cache) = (widget, formats, cache)
      paintable = CachedImagePaintable(format: formats[0])
      ImagePlace.didFail = {
        NetworkWatch.begin()
        TraitLog.note($0)
      }
      if formats.contains(where: { $0.animation != .firstFrame }) {
        MotionWatch.begin()
        place.setTicking = { [weak self] in self?.setTicking($0) }
      }
      takeRequest()
      // The size is there before the image.
      gtk_picture_set_paintable(widget, paintable.paintable)
      takeRoom()
      setLabel()
      connectSignals()
    }

    private func connectSignals() {
      let data = Unmanaged.passUnretained(self).toOpaque()
      connect(widget, "map", to: data) { _, data in
        VisibleImage.withImage(data) { visible in
          // Outside a window a widget has the scale factor of no window.
          if visible.formats.count > 1 { visible.want() }
          visible.place.appear()
          visible.watchLayouts()
        }
      }
      connect(widget, "unmap", to: data) { _, data in
        VisibleImage.withImage(data) { visible in
          visible.place.disappear()
          visible.watchLayouts()
        }
      }
      connect(widget, "notify::scale-factor", to: data) { _, _, data in
        VisibleImage.withImage(data) { $0.want() }
      }
      for side in ["width", "height"] {
        connect(widget, "notify::\(side)-request", to: data) { _, _, data in
          VisibleImage.withImage(data) { $0.takeRequest() }
        }
      }
      connect(widget, "notify::visible", to: data) { _, _, data in
        VisibleImage.withImage(data) { $0.setLabelSoon() }
      }
    }

    /// Runs a handler's body; GTK calls handlers on the main thread.
    private nonisolated static func withImage(
      _ data: UnsafeMutableRawPointer?, _ body: @MainActor (VisibleImage) -> Void
    ) {
      guard let data else { return }
      // By invariant 2.
      let visible = Unmanaged<VisibleImage>.fromOpaque(data).takeUnretainedValue()
      MainActor.assumeIsolated { body(visible) }
    }

    /// GTK tells screen readers of a widget that is shown again after it has told this object.
    private func setLabelSoon() {
      IdleDelivery.shared.run { [weak self] in self?.setLabel() }
    }

    private func setLabel() { fic_gtk_set_label(UnsafeMutablePointer(widget), alternativeText) }

    private func want() {
      if let entity, let format {
        place.want(ImagePlace.Request(entity, format: format, cache: cache, options: options))
      } else {
        place.want(nil)
      }
      // Another entity may have another hash.
      if !isShowing { showStandIn() }
    }

    // MARK: Room

    /// Whether a larger widget takes another format.
    private var choosesByRoom: Bool { formats.count > 1 && contentFit != .unscaled }

    /// The format for the widget as it is; `nil` before the layout that gives it a size.
    private var format: ImageFormat? {
      let scaleFactor = Int(gtk_widget_get_scale_factor(UnsafeMutablePointer(widget)))
      guard choosesByRoom else { return formats.fitting(scaleFactor: scaleFactor) }
      room = size
      return FormatChoice(covers: contentFit != .contain).format(
        among: formats, width: Double(room.width), height: Double(room.height),
        scale: Double(scaleFactor))
    }

    private var size: (width: Int, height: Int) {
      let widget = UnsafeMutablePointer<GtkWidget>(widget)
      return (Int(gtk_widget_get_width(widget)), Int(gtk_widget_get_height(widget)))
    }

    /// Has GTK give the widget the size of its format, or all the room that there is.
    private func takeRoom() {
      let isFitted = contentFit != .unscaled
      gtk_picture_set_can_shrink(widget, isFitted.asBoolean)
      // The paintable fits its image into the whole widget by itself, so that no image changes the layout.
      gtk_picture_set_content_fit(widget, isFitted ? GTK_CONTENT_FIT_FILL : GTK_CONTENT_FIT_CONTAIN)
      gtk_widget_set_overflow(
        UnsafeMutablePointer(widget),
        contentFit == .cover ? GTK_OVERFLOW_HIDDEN : GTK_OVERFLOW_VISIBLE)
      let alignment = isFitted ? GTK_ALIGN_FILL : GTK_ALIGN_CENTER
      gtk_widget_set_halign(UnsafeMutablePointer(widget), alignment)
      gtk_widget_set_valign(UnsafeMutablePointer(widget), alignment)
      gdk_paintable_invalidate_size(paintable.paintable)
    }

    /// Before the layout that GTK has queued for the change.
    private func takeRequest() {
      var request: (width: Int32, height: Int32) = (-1, -1)
      gtk_widget_get_size_request(
        UnsafeMutablePointer(widget), &request.width, &request.height)
      paintable.content.request = request
      gdk_paintable_invalidate_size(paintable.paintable)
    }

    private func watchLayouts() {
      let widget = UnsafeMutablePointer<GtkWidget>(widget)
      guard choosesByRoom, gtk_widget_get_mapped(widget) != 0 else {
        layouts = nil
        return
      }
      guard layouts == nil else { return }
      // Unmapped before it goes, the widget ends the watch.
      layouts = LayoutWatch(widget, data: Unmanaged.passUnretained(self).toOpaque()) { _, data in
        VisibleImage.withImage(data) { if $0.size != $0.room { $0.want() } }
      }
    }

    // MARK: Sights

    /// The place plays while the widget is mapped only, so that the widget has a window.
    private func setTicking(_ isTicking: Bool) {
      if !isTicking { return clock?.players.remove(place) ?? () }
      let now = WindowClock.of(widget)
      if now !== clock { clock?.players.remove(place) }
      clock = now
      now?.players.insert(place)
    }

    private func show(_ sight: ImagePlace.Sight) {
      let image: CachedImage? =
        switch sight {
        case .image(let image, _), .preview(let image): image
        case .nothing, .placeholder, .failure: nil
        }
      isShowing = image != nil
      hasFailed = if case .failure = sight { true } else { false }
      let window = gtk_widget_get_native(UnsafeMutablePointer(widget))
      paintable.show(image, drawnBy: window.flatMap(gtk_native_get_renderer))
      showStandIn()
    }

    private func showStandIn() {
      if hasFailed, let failureImage {
        paintable.standIn = PaintableContent.StandIn(paintable: failureImage)
        return
      }
      let drawn = hashed.native(for: place.request) { $0.makeStandIn() }
      paintable.standIn = drawn ?? placeholder.map { PaintableContent.StandIn(paintable: $0) }
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
