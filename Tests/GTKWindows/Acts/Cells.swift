#if GTK && canImport(CGTK)
  import CGTK
  import FastImageCache
  import FastImageCacheGTK
  import FastImageCacheTesting
  import Foundation
  import Pixels

  extension Act {
    static let cells = Act(
      name: "cells",
      summary: "placeholders, failures, options and fits of single images; cells with names"
    ) { _, findings in
      try checkStates(findings)
      try checkFits(findings)
      try checkFamily(findings)
      try checkNames(findings)
    }

    // MARK: States

    private static let blue: UInt32 = 0xFF33_66CC
    private static let red: UInt32 = 0xFFCC_0000

    @MainActor private static func checkStates(_ findings: Findings) throws {
      let size = ImageFormat.large.size
      let source = ScriptedImageSource.drawing { try $0.makeBitmap(size) }
      var configuration = ImageCache.Configuration()
      configuration.source = source
      let cache = try ImageCache.inMemory(formats: [.large], configuration: configuration)
      let photos = (0..<4).map { NumberedImage(number: 500 + $0) }
      func url(_ number: Int) -> URL? { photos[number].sourceURL(for: .large) }
      let window = PlainWindow()
      let image = CachedImageWidget<NumberedImage>(format: .large, from: cache)
      var loadedCount = 0
      var errors: [ImageCacheError] = []
      image.onLoaded = { _ in loadedCount += 1 }
      image.onFailed = { errors.append($0) }
      Paint.lend(blue, 20) { image.placeholder = $0 }

      func expect(_ color: UInt32, _ moment: String) {
        window.draw()
        let screen = window.screen(of: image.widget)
        findings.expect(
          screen?[size.width / 2, size.height / 2] == color, "not the right stand-in \(moment)")
        findings.expect(screen?[size.width / 2 - 12, 2] == 0, "a stand-in is scaled \(moment)")
        findings.count("moments")
      }
      func expect(_ number: Int, loaded: Int, _ moment: String) {
        window.draw()
        let sight = window.screen(of: image.widget)?.sight(of: photos[number], size, x: 0, y: 0)
        findings.expect(sight == .right, "a wrong image \(moment)")
        findings.expect(loadedCount == loaded, "\(loadedCount) were loaded \(moment)")
        findings.count("moments")
      }

      window.show(image.widget)
      expect(blue, "without an entity")
      source.holdLoads()
      image.entity = photos[0]
      expect(blue, "of a load")
      source.releaseLoads()
      Loop.turn { loadedCount > 0 }
      expect(0, loaded: 1, "after a load")

      if let url = url(1) {
        source.holdLoads(of: url)
        source.setFailure(ScriptedSourceError.noImage(url), for: url)
      }
      image.entity = photos[1]
      expect(blue, "of a cell that is used again")
      source.releaseLoads(of: url(1))
      Loop.turn { !errors.isEmpty }
      expect(blue, "of a failure without an image")
      Paint.lend(red, 20) { image.failureImage = $0 }
      expect(red, "of a failure")
      findings.expect(errors.count == 1 && loadedCount == 1, "\(errors.count) failures were told")

      image.entity = photos[0]
      findings.expect(loadedCount == 2, "a hit is not told before the setter returns")
      expect(0, loaded: 2, "of a hit")
      // What is told may make the widget show something else.
      image.onFailed = { [weak image] _ in image?.entity = photos[0] }
      image.entity = photos[1]
      Loop.turn { loadedCount > 2 }
      expect(0, loaded: 3, "after a failure that was answered")

      checkOptions(image, source, photos[2], url(2), findings)
      expect(red, "of an image that is not in the cache")
      image.options = nil
      Loop.turn { loadedCount > 3 }
      expect(2, loaded: 4, "without options")
      image.entity = nil
      expect(blue, "after the entity was taken away")
      image.placeholder = nil
      window.draw()
      findings.expect(window.screen(of: image.widget) == nil, "a placeholder stays")
      window.close()
    }

    @MainActor private static func checkOptions(
      _ image: CachedImageWidget<NumberedImage>, _ source: ScriptedImageSource,
      _ photo: NumberedImage, _ url: URL?, _ findings: Findings
    ) {
      var options = LoadOptions()
      options.scope = .cache
      image.entity = nil
      image.options = options
      var error: ImageCacheError?
      image.onFailed = { error = $0 }
      image.entity = photo
      Loop.turn { error != nil }
      let isNotCached = if case .notCached = error { true } else { false }
      findings.expect(isNotCached, "options bring another error")
      findings.expect(source.loadCount(of: url) == 0, "the source was asked in spite of options")
    }

    // MARK: Fits

    /// An image of 60 x 48 points in a room of 200 x 150.
    @MainActor private static func checkFits(_ findings: Findings) throws {
      let photo = NumberedImage(number: 600)
      let cache = try ImageCache.filled(with: [photo], formats: [.cell]) {
        try $0.makeBitmap(ImageFormat.cell.size)
      }
      let window = PlainWindow()
      let image = CachedImageWidget<NumberedImage>(format: .cell, from: cache)
      image.entity = photo
      let widget = UnsafeMutablePointer<GtkWidget>(image.widget)
      // Gives each widget the least room that it asks for.
      let fixed = gtk_fixed_new().unsafelyUnwrapped
      gtk_fixed_put(UnsafeMutablePointer(OpaquePointer(fixed)), widget, 20, 0)
      window.show(OpaquePointer(fixed))
      let fits: [(fit: ContentFit, x: Double, y: Double, width: Double, height: Double)] = [
        (.contain, 6, 0, 187.5, 150), (.cover, 0, -5, 200, 160), (.stretch, 0, 0, 200, 150),
        (.scaleDown, 70, 51, 60, 48), (.unscaled, 0, 0, 60, 48),
      ]
      for (fit, x, y, width, height) in fits {
        image.contentFit = fit
        gtk_widget_set_size_request(
          widget, fit == .unscaled ? -1 : 200, fit == .unscaled ? -1 : 150)
        window.draw()
        window.draw()
        guard let screen = window.screen(of: image.widget) else {
          findings.expect(false, "nothing is drawn by \(fit)")
          continue
        }
        let room = fit == .unscaled ? (60, 48) : (200, 150)
        guard (screen.size.width, screen.size.height) == room else {
          findings.expect(false, "\(screen.size) of room by \(fit)")
          continue
        }
        // In the quarters, away from their edges.
        for (column, row) in [(0.25, 0.2), (0.75, 0.2), (0.25, 0.85), (0.75, 0.85)] {
          let wanted = photo.color(
            x: Int(60 * column), y: Int(48 * row), of: ImageFormat.cell.size)
          let shown = screen[Int(x + width * column), Int(y + height * row)]
          findings.expect(
            shown == wanted, "\(String(shown, radix: 16)) at (\(column), \(row)) by \(fit)")
        }
        if x > 2 { findings.expect(screen[Int(x) - 2, 75] == 0, "\(fit) begins too far left") }
        if y > 2 { findings.expect(screen[100, Int(y) - 2] == 0, "\(fit) begins too high") }
        findings.count("fits")
      }
      // What does not fit is not drawn over a neighbour.
      image.contentFit = .cover
      gtk_widget_set_size_request(widget, 60, 100)
      window.draw()
      // GSK's OpenGL draws no texture into the first image that it makes off screen.
      _ = window.screen(of: OpaquePointer(fixed))
      window.draw()
      let screen = window.screen(of: OpaquePointer(fixed))
      findings.expect(
        screen?[22, 20] ?? 0 != 0 && screen?[78, 20] ?? 0 != 0, "a cut image leaves room empty")
      findings.expect(
        screen?[18, 20] == 0 && screen?[82, 20] == 0, "an image is drawn over its neighbours")
      window.close()
    }
  }

  /// Images of one colour.
  @MainActor private enum Paint {
    /// Lends a square `GdkTexture *`.
    static func lend(_ color: UInt32, _ side: Int, _ body: (OpaquePointer) -> Void) {
      let pixels = [UInt32](repeating: color.littleEndian, count: side * side)
      let bytes = g_bytes_new(pixels, gsize(4 * side * side))
      let texture = gdk_memory_texture_new(
        Int32(side), Int32(side), GDK_MEMORY_B8G8R8A8_PREMULTIPLIED, bytes, gsize(4 * side)
      ).unsafelyUnwrapped
      g_bytes_unref(bytes)
      body(texture)
      g_object_unref(UnsafeMutableRawPointer(texture))
    }
  }
#endif
