#if GTK && canImport(CGTK)
  import CGTK
  import FastImageCache
  import FastImageCacheGTK
  import Pixels

  /// A window with a grid of images, that counts its frames and can be looked at after each.
  @MainActor final class ImageWindow {
    static let columnCount = 6

    let grid: UnsafeMutablePointer<GtkWidget>
    let window: UnsafeMutablePointer<GtkWindow>
    /// Whose image stands at each position.
    var images: [NumberedImage] {
      get { content.images }
      set { content.images = newValue }
    }
    private let content: Content
    private(set) var frameCount = 0
    private(set) var isClosed = false
    /// Called after each frame was drawn.
    var afterFrame: () -> Void = {}
    private let scroller: UnsafeMutablePointer<GtkWidget>
    private let model: OpaquePointer
    private let format: ImageFormat
    private var clock: OpaquePointer?
    private var tickID: guint = 0

    /// Opens a window and waits for its first frame.
    ///
    /// - Parameter bound: Changes what a position is said to show, for planted faults.
    init(
      _ images: [NumberedImage], format: ImageFormat, from cache: ImageCache,
      bound: @escaping (NumberedImage) -> NumberedImage? = { $0 }
    ) {
      let content = Content(images)
      self.content = content
      self.format = format
      window = UnsafeMutablePointer<GtkWindow>(OpaquePointer(gtk_window_new().unsafelyUnwrapped))
      scroller = gtk_scrolled_window_new().unsafelyUnwrapped
      model = gtk_string_list_new(nil).unsafelyUnwrapped
      for _ in images { gtk_string_list_append(model, "") }
      let factory = makeImageFactory(
        format: format, from: cache,
        entity: { position -> NumberedImage? in
          content.images.indices.contains(position) ? bound(content.images[position]) : nil
        },
        alternativeText: { (image: NumberedImage) in "image \(image.number)" })
      grid =
        gtk_grid_view_new(
          gtk_no_selection_new(OpaquePointer(g_object_ref(UnsafeMutableRawPointer(model)))),
          factory
        ).unsafelyUnwrapped
      gtk_grid_view_set_min_columns(OpaquePointer(grid), guint(Self.columnCount))
      gtk_grid_view_set_max_columns(OpaquePointer(grid), guint(Self.columnCount))
      gtk_scrolled_window_set_child(OpaquePointer(scroller), grid)
      gtk_window_set_child(window, scroller)
      gtk_window_set_default_size(window, 560, 420)
      open()
    }

    /// Shared with the factory, which asks before the window is there and after it has gone.
    private final class Content {
      var images: [NumberedImage]
      init(_ images: [NumberedImage]) { self.images = images }
    }

    private func open() {
      gtk_window_present(window)
      let data = Unmanaged.passUnretained(self).toOpaque()
      clock = gtk_widget_get_frame_clock(UnsafeMutablePointer(OpaquePointer(window)))
      let drawn: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Void = { _, data in
        guard let data else { return }
        let window = Unmanaged<ImageWindow>.fromOpaque(data).takeUnretainedValue()
        MainActor.assumeIsolated { window.drew() }
      }
      g_signal_connect_data(
        UnsafeMutableRawPointer(clock), "after-paint", unsafeBitCast(drawn, to: GCallback.self),
        data,
        nil, GConnectFlags(0))
      // Keeps the clock running, so that frames are drawn whether something changes or not.
      tickID = gtk_widget_add_tick_callback(grid, { _, _, _ in 1 }, nil, nil)
      Loop.turn { mappedImages.count > Self.columnCount && frameCount > 2 }
      makeFirstMove()
    }

    /// GTK 4.8's lists map no item after a first move that is a far one, until they move again: any list,
    /// without this library too.
    private func makeFirstMove() {
      position = 1
      position = 0
      draw()
    }

    private func drew() {
      frameCount += 1
      if !isClosed { afterFrame() }
    }

    /// Waits for more frames.
    func draw(frames count: Int = 1) {
      let end = frameCount + count
      Loop.turn { frameCount >= end }
    }

    var adjustment: UnsafeMutablePointer<GtkAdjustment>? {
      gtk_scrolled_window_get_vadjustment(OpaquePointer(scroller))
    }

    var position: Double {
      get { gtk_adjustment_get_value(adjustment) }
      set { gtk_adjustment_set_value(adjustment, newValue.rounded()) }
    }

    var lastPosition: Double {
      gtk_adjustment_get_upper(adjustment) - gtk_adjustment_get_page_size(adjustment)
    }

    /// Has the list bind some positions again.
    func rebind(from position: Int, count: Int) {
      let count = min(count, images.count - position)
      "".withCString { text in
        // Ended by null.
        var texts = [UnsafePointer<CChar>?](repeating: text, count: count) + [nil]
        gtk_string_list_splice(model, guint(position), guint(count), &texts)
      }
    }

    func close() {
      guard !isClosed else { return }
      isClosed = true
      gtk_widget_remove_tick_callback(grid, tickID)
      let data = Unmanaged.passUnretained(self).toOpaque()
      if let clock {
        g_signal_handlers_disconnect_matched(
          UnsafeMutableRawPointer(clock), G_SIGNAL_MATCH_DATA, 0, 0, nil, nil, data)
      }
      gtk_window_destroy(window)
      g_object_unref(UnsafeMutableRawPointer(model))
    }
  }

  extension ImageWindow {
    struct Cell {
      let image: NumberedImage
      let widget: UnsafeMutablePointer<GtkWidget>
      /// In the grid, in pixels.
      let x: Int
      let y: Int
    }

    /// The cells that can be seen. Which row one is in is told by its place alone.
    var mappedImages: [Cell] {
      var cells: [Cell] = []
      let rowCount = (images.count + Self.columnCount - 1) / Self.columnCount
      let rowHeight = gtk_adjustment_get_upper(adjustment) / Double(rowCount)
      let columnWidth = Double(gtk_widget_get_width(grid)) / Double(Self.columnCount)
      // Before the first layout there is no place.
      guard rowHeight > 0, columnWidth > 0 else { return [] }
      var child = gtk_widget_get_first_child(grid)
      while let item = child {
        child = gtk_widget_get_next_sibling(item)
        guard gtk_widget_get_mapped(item) != 0, let widget = gtk_widget_get_first_child(item),
          let place = bounds(of: item), let inner = bounds(of: widget)
        else { continue }
        let row = ((Double(place.origin.y) + position) / rowHeight).rounded()
        let column = (Double(place.origin.x) / columnWidth).rounded()
        let index = Int(row) * Self.columnCount + Int(column)
        guard images.indices.contains(index) else { continue }
        cells.append(
          Cell(
            image: images[index], widget: widget, x: Int(inner.origin.x.rounded()),
            y: Int(inner.origin.y.rounded())))
      }
      return cells
    }

    /// The widgets of all cells that are bound now.
    var cellWidgets: [UnsafeMutablePointer<GtkWidget>] {
      sequence(first: gtk_widget_get_first_child(grid)) { gtk_widget_get_next_sibling($0) }
        .compactMap { gtk_widget_get_first_child($0) }
    }

    private func bounds(of widget: UnsafeMutablePointer<GtkWidget>) -> graphene_rect_t? {
      var bounds = graphene_rect_t()
      guard gtk_widget_compute_bounds(widget, grid, &bounds) != 0 else { return nil }
      return bounds
    }

    /// Compares all cells that can be seen with their images, of which there is at least a row.
    ///
    /// - Returns: How many are blank.
    func compare(_ findings: Findings) -> Int {
      guard let screen = Screen(of: grid) else {
        findings.expect(false, "frame \(frameCount) cannot be looked at")
        return 0
      }
      var blankCount = 0
      var comparedCount = 0
      for cell in mappedImages {
        guard let sight = screen.sight(of: cell.image, format.size, x: cell.x, y: cell.y) else {
          continue
        }
        comparedCount += 1
        switch sight {
        case .right: break
        case .blank: blankCount += 1
        case .wrong(let fault): findings.expect(false, fault)
        }
      }
      findings.count("cells compared", comparedCount)
      findings.expect(
        comparedCount >= Self.columnCount,
        "\(comparedCount) cells were compared in frame \(frameCount)")
      return blankCount
    }
  }
#endif
