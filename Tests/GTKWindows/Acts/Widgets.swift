#if GTK && canImport(CGTK)
  import CGTK
  import FastImageCache
  import FastImageCacheGTK
  import FastImageCacheTesting
  import Pixels

  extension Act {
    static let widgets = Act(
      name: "widgets", summary: "single images: entities, texts, lives of owner and widget"
    ) { _, findings in
      // GTK keeps small images in an atlas.
      for format in [ImageFormat.cell, .large] {
        let images = (0..<4).map { NumberedImage(number: 1000 + $0) }
        let cache = try ImageCache.filled(with: images, formats: [format]) {
          try $0.makeBitmap(format.size)
        }
        let window = PlainWindow()
        var owner: CachedImageWidget? = CachedImageWidget<NumberedImage>(
          format: format, from: cache)
        if let owner { checkMoments(of: owner, in: window, cache, images, findings) }
        checkLives(of: &owner, in: window, findings)
        let left = Loop.statistics(of: cache) { $0.leasedCount == 0 }.leasedCount
        findings.expect(left == 0, "\(left) leases after the widget has gone")
      }
      try checkWideColors(findings)
    }

    static let scales = Act(
      name: "scales", summary: "a format for each scale factor; GDK_SCALE=2 is another"
    ) { _, findings in
      try checkScales(findings)
    }

    @MainActor private static func checkMoments(
      of image: CachedImageWidget<NumberedImage>, in window: PlainWindow, _ cache: ImageCache,
      _ images: [NumberedImage], _ findings: Findings
    ) {
      let format = cache.formats[0]
      window.show(image.widget)

      @MainActor func check(_ wanted: NumberedImage?, _ leases: Int, _ moment: String) {
        window.draw()
        let screen = window.screen(of: image.widget)
        if let wanted {
          let isRight = screen?.sight(of: wanted, format.size) == .right
          findings.expect(isRight && screen?.size == format.size, "wrong image \(moment)")
        } else {
          findings.expect(screen == nil, "something is drawn \(moment)")
        }
        let held = Loop.statistics(of: cache) { $0.leasedCount == leases }.leasedCount
        findings.expect(held == leases, "\(held) leases \(moment)")
        findings.count("moments")
      }

      check(nil, 0, "without an entity")
      image.entity = images[0]
      check(images[0], 1, "of an entity that was set")
      image.entity = images[1]
      check(images[1], 1, "of another entity")
      findings.expect(image.entity == images[1], "the widget forgot its entity")
      let widget = UnsafeMutablePointer<GtkWidget>(image.widget)
      gtk_widget_set_visible(widget, 0)
      let hidden = Loop.statistics(of: cache) { $0.leasedCount == 0 }.leasedCount
      findings.expect(hidden == 0, "\(hidden) leases while the widget is hidden")
      image.entity = images[2]
      gtk_widget_set_visible(widget, 1)
      check(images[2], 1, "of an entity that was set while the widget was hidden")
      image.entity = nil
      check(nil, 0, "after the entity was taken away")

      image.entity = images[3]
      check(images[3], 1, "before another image was stored")
      store(NumberedImage(number: 7), for: images[3], in: cache, findings)
      cache.reloadViews(of: images[3])
      window.draw()
      let screen = window.screen(of: image.widget)
      findings.expect(
        screen?.sight(of: NumberedImage(number: 7), format.size) == .right,
        "the image that was stored is not shown")

      checkLabel(image, findings)
    }

    @MainActor private static func store(
      _ shown: NumberedImage, for entity: NumberedImage, in cache: ImageCache,
      _ findings: Findings
    ) {
      let isStored = Loop.wait {
        do {
          _ = try await cache.store(
            shown.makeBitmap(cache.formats[0].size), for: entity, format: cache.formats[0])
          return true
        } catch { return false }
      }
      findings.expect(isStored, "an image could not be stored")
    }

    @MainActor private static func checkLabel(
      _ image: CachedImageWidget<NumberedImage>, _ findings: Findings
    ) {
      @MainActor func hasLabel() -> Bool {
        gtk_test_accessible_has_property(image.widget, GTK_ACCESSIBLE_PROPERTY_LABEL) != 0
      }
      let widget = UnsafeMutablePointer<GtkWidget>(image.widget)
      @MainActor func isLeftOut() -> Bool { fic_gtk_is_left_out(widget) != 0 }
      findings.expect(!hasLabel() && isLeftOut(), "decoration is read out")
      image.alternativeText = "A lake"
      findings.expect(hasLabel() && image.alternativeText == "A lake", "the label is missing")
      findings.expect(!isLeftOut(), "an image with a text is left out")
      image.alternativeText = nil
      findings.expect(!hasLabel(), "the label stays")
      gtk_widget_set_visible(widget, 0)
      gtk_widget_set_visible(widget, 1)
      Loop.settle()
      findings.expect(isLeftOut(), "decoration is read out after it was hidden")
      image.alternativeText = "A lake"
    }

    /// The widget goes on without its owner, and the owner may be released on any thread.
    @MainActor private static func checkLives(
      of owner: inout CachedImageWidget<NumberedImage>?, in window: PlainWindow,
      _ findings: Findings
    ) {
      guard let widget = owner?.widget else { return }
      let left = WidgetCount()
      left.add(UnsafeMutablePointer(widget))
      let released = Handover(owner)
      owner = nil
      Loop.wait { await released.drop() }
      Loop.settle()
      window.draw()
      findings.expect(left.count == 1, "the widget went with its owner")
      findings.expect(window.screen(of: widget) != nil, "the widget went blank with its owner")
      window.close()
      Loop.settle()
      findings.expect(left.count == 0, "the widget stays after its window")
    }

    /// Of two formats the one for the window's scale factor.
    @MainActor private static func checkScales(_ findings: Findings) throws {
      let formats = [2, 1].map { scale in
        ImageFormat(
          name: "scale \(scale)", size: .exact(PixelSize(width: 40 * scale, height: 30 * scale)),
          scale: Double(scale), pixelFormat: .bgrx32)
      }
      let entity = NumberedImage(number: 99)
      // Each format's table has an image of its own.
      let cache = try ImageCache.filled(with: [entity], formats: formats) { _ in
        try entity.makeBitmap(PixelSize(width: 80, height: 60))
      }
      let window = PlainWindow()
      let image = CachedImageWidget<NumberedImage>(formats: formats, from: cache)
      image.entity = entity
      window.show(image.widget)
      window.draw()
      let scale = Int(gtk_widget_get_scale_factor(UnsafeMutablePointer(image.widget)))
      findings.count("pixels in a point", scale)
      let shown = Loop.wait { await cache.statistics() }
      let leased = shown.tables.filter { $0.leasedCount > 0 }.map(\.format)
      findings.expect(leased == ["scale \(min(scale, 2))"], "the window shows \(leased)")
      if scale == 2 {
        let size = PixelSize(width: 80, height: 60)
        let screen = window.screen(of: image.widget)
        findings.expect(screen?.sight(of: entity, size) == .right, "wrong at a scale of 2")
      }
      window.close()
    }
  }

  extension Screen {
    /// The image in the middle.
    fileprivate func sight(of image: NumberedImage, _ imageSize: PixelSize) -> Sight? {
      sight(
        of: image, imageSize, x: (size.width - imageSize.width) / 2,
        y: (size.height - imageSize.height) / 2)
    }
  }

  /// Lets a task on another thread release the last reference of an object.
  private actor Handover<Object: AnyObject & Sendable> {
    private var object: Object?

    init(_ object: Object?) { self.object = object }

    func drop() { object = nil }
  }
#endif
