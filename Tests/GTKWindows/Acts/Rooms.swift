#if GTK && canImport(CGTK)
  import CGTK
  import FastImageCache
  import FastImageCacheGTK
  import FastImageCacheTesting
  import Pixels

  extension Act {
    static let rooms = Act(
      name: "rooms", summary: "sizes of single images beside others, and as their users ask for"
    ) { _, findings in
      try checkNeighbour(findings)
      try checkRequests(findings)
      try checkProportions(findings)
    }

    private static func square(_ side: Int) -> ImageFormat { format("squares", side, side) }

    private static func format(_ family: String, _ width: Int, _ height: Int) -> ImageFormat {
      ImageFormat(
        name: family, family: family, size: .exact(PixelSize(width: width, height: height)),
        pixelFormat: .bgrx32, capacity: 4)
    }

    private static func cache(
      of format: ImageFormat, _ photo: NumberedImage
    ) throws -> ImageCache {
      try ImageCache.filled(with: [photo], formats: [format]) { try $0.makeBitmap(format.size) }
    }

    /// Beside a taller widget an image has the width of its format, whatever the height of their row.
    @MainActor private static func checkNeighbour(_ findings: Findings) throws {
      let (photo, format) = (NumberedImage(number: 800), square(40))
      let image = CachedImageWidget<NumberedImage>(
        format: format, from: try cache(of: format, photo))
      image.entity = photo
      let (neighbour, rest) = (
        gtk_label_new(nil).unsafelyUnwrapped, gtk_label_new(nil).unsafelyUnwrapped
      )
      gtk_widget_set_size_request(neighbour, 10, 230)
      gtk_widget_set_hexpand(rest, 1)
      let window = PlainWindow(width: 500)
      window.show(row(of: [UnsafeMutablePointer(image.widget), neighbour, rest]))
      window.draw()
      check(image, photo, format, 40, 40, in: window, "beside a taller widget", findings)
      var place = graphene_rect_t()
      let isPlaced =
        gtk_widget_compute_bounds(neighbour, gtk_widget_get_parent(neighbour), &place) != 0
      findings.expect(
        isPlaced && place.origin.x == 40, "the neighbour of 40 points begins at \(place.origin.x)")
      // Larger than its format: pixel for pixel in the middle.
      gtk_widget_set_size_request(UnsafeMutablePointer(image.widget), 100, 70)
      window.draw()
      check(image, photo, format, 100, 70, in: window, "in a larger room", findings)
      window.close()
    }

    private typealias Widget = UnsafeMutablePointer<GtkWidget>

    @MainActor private static func row(of widgets: [Widget]) -> OpaquePointer {
      let box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0).unsafelyUnwrapped
      for widget in widgets { gtk_box_append(UnsafeMutablePointer(OpaquePointer(box)), widget) }
      return OpaquePointer(box)
    }

    /// The image pixel for pixel in the middle of a widget of some size, with nothing around.
    @MainActor private static func check(
      _ image: CachedImageWidget<NumberedImage>, _ photo: NumberedImage, _ format: ImageFormat,
      _ width: Int, _ height: Int, in window: PlainWindow, _ moment: String, _ findings: Findings
    ) {
      let screen = window.screen(of: image.widget)
      let room = PixelSize(width: width, height: height)
      findings.expect(screen?.size == room, "\(screen?.size ?? room) instead of \(room) \(moment)")
      guard let screen, screen.size == room else { return }
      let (x, y) = ((width - format.size.width) / 2, (height - format.size.height) / 2)
      findings.expect(
        screen.sight(of: photo, format.size, x: x, y: y) == .right, "wrong pixels \(moment)")
      if x > 0 { findings.expect(screen[x - 1, y] == 0, "an image begins too far left \(moment)") }
      if y > 0 { findings.expect(screen[x, y - 1] == 0, "an image begins too high \(moment)") }
      findings.count("rooms")
    }

    /// A widget that takes its room has the size that it was given, below that of its smallest format too.
    @MainActor private static func checkRequests(_ findings: Findings) throws {
      let (photo, format) = (NumberedImage(number: 801), square(320))
      let image = CachedImageWidget<NumberedImage>(
        family: "squares", from: try cache(of: format, photo))
      image.entity = photo
      let widget = Widget(image.widget)
      gtk_widget_set_halign(widget, GTK_ALIGN_START)
      gtk_widget_set_valign(widget, GTK_ALIGN_START)
      let window = PlainWindow(width: 400, height: 330)
      window.show(image.widget)
      window.draw()
      check(image, photo, format, 320, 320, in: window, "without a request", findings)
      gtk_widget_set_size_request(widget, 213, 320)
      window.draw()
      window.draw()
      let screen = window.screen(of: image.widget)
      let (size, wanted) = (screen?.size, PixelSize(width: 213, height: 320))
      findings.expect(size == wanted, "\(size ?? wanted) instead of \(wanted) that was asked for")
      guard let screen, size == wanted else { return }
      // The whole image, 213 points wide and high, in the middle.
      for (column, row) in [(0.25, 0.2), (0.75, 0.2), (0.25, 0.85), (0.75, 0.85)] {
        findings.expect(
          screen[Int(213 * column), 53 + Int(213 * row)]
            == photo.color(x: Int(320 * column), y: Int(320 * row), of: format.size),
          "a wrong pixel at (\(column), \(row)) of a narrow room")
      }
      findings.expect(screen[100, 50] == 0 && screen[100, 270] == 0, "an image is too high")
      // Back to the size of its own.
      gtk_widget_set_size_request(widget, -1, -1)
      window.draw()
      window.draw()
      check(image, photo, format, 320, 320, in: window, "after the request", findings)
      window.close()
    }

    /// A widget that takes its room keeps its proportions in a column and in a row, as GTK's own pictures do.
    @MainActor private static func checkProportions(_ findings: Findings) throws {
      let (photo, format) = (NumberedImage(number: 802), format("wide", 40, 20))
      let image = CachedImageWidget<NumberedImage>(
        family: "wide", from: try cache(of: format, photo))
      image.entity = photo
      let widget = Widget(image.widget)
      let box = row(of: [widget])
      gtk_orientable_set_orientation(box, GTK_ORIENTATION_VERTICAL)
      gtk_widget_set_valign(Widget(box), GTK_ALIGN_START)
      gtk_widget_set_hexpand(widget, 1)
      let window = PlainWindow()
      window.show(box)

      func expect(_ width: Int32, _ height: Int32, _ moment: String) {
        window.draw()
        window.draw()
        let (shownWidth, shownHeight) = (
          gtk_widget_get_width(widget), gtk_widget_get_height(widget)
        )
        findings.expect(
          shownWidth == width && shownHeight == height,
          "\(shownWidth) x \(shownHeight) instead of \(width) x \(height) \(moment)")
        findings.count("rooms")
      }

      for fit in [ContentFit.contain, .cover, .stretch, .scaleDown] {
        image.contentFit = fit
        expect(200, 100, "in a column by \(fit)")
      }
      gtk_widget_set_size_request(widget, 1, -1)
      expect(200, 100, "in a column, at least 1 wide")
      gtk_widget_set_size_request(widget, -1, -1)
      image.contentFit = .unscaled
      expect(40, 20, "in a column, unscaled")

      // Another widget that shows the paintable hears that its size follows what is asked for.
      image.contentFit = .contain
      let paintable = gtk_picture_get_paintable(image.widget)
      let other = gtk_picture_new_for_paintable(paintable).unsafelyUnwrapped
      g_object_ref_sink(UnsafeMutableRawPointer(other))
      var natural: Int32 = 0
      for (asked, wanted) in [(-1, 40), (30, 30)] as [(Int32, Int32)] {
        gtk_widget_set_size_request(widget, asked, 60)
        gtk_widget_measure(other, GTK_ORIENTATION_HORIZONTAL, -1, nil, &natural, nil, nil)
        findings.expect(
          natural == wanted, "a second picture is \(natural) wide instead of \(wanted)")
      }
      g_object_unref(UnsafeMutableRawPointer(other))

      gtk_widget_set_hexpand(widget, 0)
      gtk_orientable_set_orientation(box, GTK_ORIENTATION_HORIZONTAL)
      expect(30, 60, "that were asked for, in a row")
      window.close()
    }
  }
#endif
