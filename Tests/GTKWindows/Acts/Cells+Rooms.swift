#if GTK && canImport(CGTK)
  import CGTK
  import FastImageCache
  import FastImageCacheGTK
  import FastImageCacheTesting
  import Pixels

  extension Act {
    /// A widget that chooses a format of a family for its room.
    @MainActor static func checkFamily(_ findings: Findings) throws {
      let (small, big) = (family(40, 30), family(160, 120))
      let photo = NumberedImage(number: 700)
      let source = ScriptedImageSource.drawing { try $0.makeBitmap(big.size) }
      // Each format's table has an image of its own.
      let cache = try ImageCache.filled(with: [photo], formats: [big, small], source: source) {
        try $0.makeBitmap(big.size)
      }
      let image = CachedImageWidget<NumberedImage>(family: "family", from: cache)
      var sizes: [PixelSize] = []
      image.onLoaded = { sizes.append($0.size) }
      image.entity = photo
      let window = PlainWindow()
      let fixed = gtk_fixed_new().unsafelyUnwrapped
      let widget = UnsafeMutablePointer<GtkWidget>(image.widget)
      gtk_fixed_put(UnsafeMutablePointer(OpaquePointer(fixed)), widget, 0, 0)
      gtk_widget_set_size_request(widget, 40, 30)
      window.present(OpaquePointer(fixed))
      let first = FirstFrame(of: fixed) {
        window.screen(of: image.widget)?[30, 27] == photo.color(x: 30, y: 27, of: small.size)
      }
      window.draw()
      findings.expect(first.value == true, "the first frame of a family is blank")
      findings.expect(sizes == [small.size], "\(sizes) in a room of 40 x 30")

      let isRemoved = Loop.wait { (try? await cache.removeImage(for: photo, format: big)) != nil }
      findings.expect(isRemoved, "an image could not be removed")
      source.holdLoads()
      gtk_widget_set_size_request(widget, 160, 120)
      _ = Loop.wait { try? await source.hasBegunLoads() }
      window.draw()
      let screen = window.screen(of: image.widget)
      findings.expect(
        screen?.size == big.size
          && screen?[120, 110] == photo.color(x: 30, y: 27, of: small.size),
        "the smaller image does not stay until the larger comes")
      source.releaseLoads()
      Loop.turn { sizes.count > 1 }
      window.draw()
      findings.expect(
        window.screen(of: image.widget)?.sight(of: photo, big.size, x: 0, y: 0) == .right,
        "the larger image is not shown")
      gtk_widget_set_size_request(widget, 41, 30)
      window.draw()
      gtk_widget_set_size_request(widget, 40, 30)
      window.draw()
      findings.expect(
        sizes == [small, big, small].map(\.size), "\(sizes) of a widget that shrinks")
      findings.count("rooms", sizes.count)
      window.close()
    }

    private static func family(_ width: Int, _ height: Int) -> ImageFormat {
      ImageFormat(
        name: "family \(width)", family: "family",
        size: .exact(PixelSize(width: width, height: height)), pixelFormat: .bgrx32, capacity: 400)
    }

    /// A list whose cells have names below their images: all in the first frame, and right after a move.
    @MainActor static func checkNames(_ findings: Findings) throws {
      let formats = [family(40, 30), family(160, 120)]
      let photos = (0..<300).map { NumberedImage(number: $0) }
      let cache = try ImageCache.filled(with: photos, formats: formats) {
        try $0.makeBitmap(formats[1].size)
      }
      var cells: [NamedCell] = []
      let names = gtk_string_list_new(nil).unsafelyUnwrapped
      for _ in photos { gtk_string_list_append(names, "") }
      let factory = makeImageFactory(
        formats: formats, from: cache, animated: false, entity: { photos[$0] },
        alternativeText: { (photo: NumberedImage) in "image \(photo.number)" },
        makeCell: { image in
          let cell = NamedCell(image)
          cells.append(cell)
          return (OpaquePointer(cell.box), { [weak cell] in cell?.name($0) })
        })
      let grid = gtk_grid_view_new(gtk_no_selection_new(names), factory).unsafelyUnwrapped
      let scroller = gtk_scrolled_window_new().unsafelyUnwrapped
      gtk_scrolled_window_set_child(OpaquePointer(scroller), grid)
      let window = PlainWindow()
      window.present(OpaquePointer(scroller))
      let first = FirstFrame(of: grid) {
        let seen = cells.filter(\.isSeen)
        return !seen.isEmpty && seen.allSatisfy { $0.shows(formats[1].size, in: window) }
      }
      window.draw()
      findings.expect(first.value == true, "a cell is blank in the first frame")
      findings.expect(cells.allSatisfy { !$0.image.isAnimated }, "a cell is animated")
      let adjustment = gtk_scrolled_window_get_vadjustment(OpaquePointer(scroller))
      for position in [1, 400, 800] {
        gtk_adjustment_set_value(adjustment, Double(position))
        first.reset()
        window.draw()
        findings.expect(first.value == true, "a cell is blank in the first frame at \(position)")
        for cell in cells where cell.isSeen {
          let number = cell.image.entity?.number ?? 0
          let label = String(cString: gtk_label_get_text(OpaquePointer(cell.label)))
          findings.expect(label == "image \(number)", "\"\(label)\" below image \(number)")
          findings.expect(
            cell.shows(formats[1].size, in: window), "image \(number) is wrong above its name")
          findings.count("names")
        }
      }
      let left = WidgetCount()
      for cell in cells { left.add(UnsafeMutablePointer(cell.image.widget)) }
      cells = []
      // The list goes on without these cells.
      gtk_string_list_splice(names, 0, guint(photos.count), nil)
      window.draw()
      Loop.settle()
      findings.expect(left.count == 0, "\(left.count) cells with names stay")
      window.close()
    }
  }

  /// An image of 160 x 120 with a name below it.
  @MainActor private final class NamedCell {
    let image: CachedImageWidget<NumberedImage>
    let box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0).unsafelyUnwrapped
    let label = gtk_label_new(nil).unsafelyUnwrapped

    init(_ image: CachedImageWidget<NumberedImage>) {
      self.image = image
      image.contentFit = .contain
      let widget = UnsafeMutablePointer<GtkWidget>(image.widget)
      gtk_widget_set_size_request(widget, 160, 120)
      gtk_widget_set_halign(widget, GTK_ALIGN_CENTER)
      for part in [widget, label] { gtk_box_append(UnsafeMutablePointer(OpaquePointer(box)), part) }
    }

    var isSeen: Bool { gtk_widget_get_mapped(UnsafeMutablePointer(image.widget)) != 0 }

    func shows(_ size: PixelSize, in window: PlainWindow) -> Bool {
      guard let photo = image.entity else { return false }
      return window.screen(of: image.widget)?.sight(of: photo, size, x: 0, y: 0) == .right
    }

    func name(_ photo: NumberedImage?) {
      gtk_label_set_text(OpaquePointer(label), "image \(photo?.number ?? -1)")
    }
  }

  /// What is true at the end of the first frame in which a widget has a size.
  @MainActor private final class FirstFrame {
    private(set) var value: Bool?
    private let widget: UnsafeMutablePointer<GtkWidget>
    private let condition: () -> Bool

    /// - Parameter widget: In a window that was presented, and not drawn yet.
    init(of widget: UnsafeMutablePointer<GtkWidget>, _ condition: @escaping () -> Bool) {
      (self.widget, self.condition) = (widget, condition)
      let painted: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Void = { _, data in
        guard let data else { return }
        let frame = Unmanaged<FirstFrame>.fromOpaque(data).takeUnretainedValue()
        MainActor.assumeIsolated { frame.painted() }
      }
      // The handler keeps this object.
      g_signal_connect_data(
        UnsafeMutableRawPointer(gtk_widget_get_frame_clock(widget)), "after-paint",
        unsafeBitCast(painted, to: GCallback.self), Unmanaged.passRetained(self).toOpaque(),
        { data, _ in if let data { Unmanaged<FirstFrame>.fromOpaque(data).release() } },
        GConnectFlags(0))
    }

    /// The next frame is the first one.
    func reset() { value = nil }

    private func painted() {
      guard value == nil, gtk_widget_get_width(widget) > 0 else { return }
      value = condition()
    }
  }
#endif
