#if GTK && canImport(CGTK)
  import CGTK
  import FastImageCache
  import FastImageCacheTesting
  import TestSupport

  extension Act {
    static let fling = Act(
      name: "fling", summary: "scrolls wildly over images that are there: none blank, none wrong"
    ) { script, findings in
      var numbers = SplitMix64(state: script.seed)
      let images = (0..<2000).map { NumberedImage(number: $0) }.shuffled(using: &numbers)
      let cache = try ImageCache.filled(with: images, formats: [.cell]) {
        try $0.makeBitmap(ImageFormat.cell.size)
      }
      var binds = 0
      let window = ImageWindow(images, format: .cell, from: cache) { image in
        binds += 1
        let isDue = binds > 200 && binds % 40 == 0
        if script.plant == .blankCell, isDue { return nil }
        return script.plant == .wrongImage && isDue ? images[(binds * 7) % 2000] : image
      }
      window.afterFrame = {
        let blank = window.compare(findings)
        findings.expect(blank == 0, "\(blank) blank cells in frame \(window.frameCount)")
      }
      scroll(window, script.frameCount, &numbers)
      window.draw(frames: 3)
      if let file = script.imageFile { save(window, file) }
      let kept = script.plant == .keptLease ? unseen(in: window, cache) : nil
      checkLeases(of: window, cache, findings)
      withExtendedLifetime(kept) {}
      close(window, cache, findings)
    }

    static let misses = Act(
      name: "misses", summary: "scrolls wildly over images that have to be loaded: none wrong"
    ) { script, findings in
      var numbers = SplitMix64(state: script.seed &+ 1)
      let images = (0..<2000).map { NumberedImage(number: $0) }.shuffled(using: &numbers)
      let cache = try ImageCache.inMemory(
        formats: [.scarceCell], configuration: .loading { try $0.makeBitmap(ImageFormat.cell.size) }
      )
      let window = ImageWindow(images, format: .scarceCell, from: cache)
      window.afterFrame = {
        findings.count("blank cells", window.compare(findings))
      }
      scroll(window, script.frameCount, &numbers)
      window.afterFrame = {}
      waitUntilRight(window, findings)
      checkLeases(of: window, cache, findings)
      close(window, cache, findings)
    }

    static let resizing = Act(
      name: "resizing", summary: "makes a window larger and smaller: none wrong, none blank"
    ) { script, findings in
      var numbers = SplitMix64(state: script.seed &+ 2)
      let images = (0..<600).map { NumberedImage(number: $0) }
      let cache = try ImageCache.filled(with: images, formats: [.cell]) {
        try $0.makeBitmap(ImageFormat.cell.size)
      }
      let window = ImageWindow(images, format: .cell, from: cache)
      var sizes: Set<Int32> = []
      for _ in 0..<max(script.frameCount / 12, 8) {
        gtk_window_set_default_size(
          window.window, .random(in: 480...900, using: &numbers),
          .random(in: 200...800, using: &numbers))
        window.position = .random(in: 0...window.lastPosition, using: &numbers)
        window.draw(frames: 4)
        sizes.insert(gtk_widget_get_width(window.grid))
        let blank = window.compare(findings)
        findings.expect(blank == 0, "\(blank) blank cells")
      }
      findings.expect(sizes.count > 4, "the window took \(sizes.count) widths only")
      checkLeases(of: window, cache, findings)
      close(window, cache, findings)
    }

    /// Scrolls at speeds that change by chance, with jumps in between, a frame at a time.
    @MainActor private static func scroll(
      _ window: ImageWindow, _ frameCount: Int, _ numbers: inout SplitMix64
    ) {
      var speed = 40.0
      for _ in 0..<frameCount {
        switch Int.random(in: 0..<40, using: &numbers) {
        case 0: speed = .random(in: -800...800, using: &numbers)
        case 1: speed = .random(in: -60...60, using: &numbers)
        case 2: window.position = .random(in: 0...window.lastPosition, using: &numbers)
        default: window.position += speed
        }
        if window.position <= 0 || window.position >= window.lastPosition { speed = -speed }
        window.draw()
      }
    }

    /// An image that the table has and no cell shows.
    @MainActor private static func unseen(
      in window: ImageWindow, _ cache: ImageCache
    ) -> CachedImage? {
      let seen = Set(window.mappedImages.map(\.image.number))
      return window.images.first { !seen.contains($0.number) }
        .flatMap { cache.cachedImage(for: $0, format: .cell) }
    }

    @MainActor private static func save(_ window: ImageWindow, _ file: String) {
      guard let texture = Screen.makeTexture(of: UnsafeMutablePointer(OpaquePointer(window.window)))
      else { return }
      gdk_texture_save_to_png(texture, file)
      g_object_unref(UnsafeMutableRawPointer(texture))
    }
  }
#endif
