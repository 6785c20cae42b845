#if GTK && canImport(CGTK)
  import CGTK
  import FastImageCache
  import FastImageCacheGTK
  import FastImageCacheTesting
  import Pixels
  import TestSupport

  extension Act {
    static let stickers = Act(
      name: "stickers",
      summary: "images that move: each shows the frame of its moment, and nothing runs unseen"
    ) { script, findings in
      let cache = try makeCache()
      fill(cache, findings)
      let window = StickerWindow(cache, seed: script.seed)
      checkMoments(of: window, script, findings)
      checkRests(of: window, findings)
      window.close()
      let left = Loop.statistics(of: cache) { $0.leasedCount == 0 }.leasedCount
      findings.expect(left == 0, "\(left) leases after the window closed")
      try checkList(script, findings)
    }

    private static func makeCache() throws -> ImageCache {
      var configuration = ImageCache.Configuration()
      configuration.source = ScriptedImageSource { url in
        let number = NumberedImage(url)?.number ?? 0
        return .encoded(FramesDecoder.bytes(number, milliseconds: milliseconds(of: number)))
      }
      configuration.decoders = [
        FramesDecoder(size: ImageFormat.sticker.size) { number, index in
          try NumberedImage(number: number, version: index).makeBitmap(ImageFormat.sticker.size)
        }
      ]
      return try ImageCache.inMemory(formats: [.sticker], configuration: configuration)
    }

    /// How long each frame of an animation is shown.
    static func milliseconds(of number: Int) -> [Int] {
      (0..<number % 5 + 2).map { 40 + (number * 7 + $0 * 50) % 160 }
    }

    @MainActor private static func fill(_ cache: ImageCache, _ findings: Findings) {
      let isFilled = Loop.wait {
        do {
          for number in 0..<StickerWindow.animationCount {
            _ = try await cache.animation(for: NumberedImage(number: number), format: .sticker)
          }
          return true
        } catch { return false }
      }
      findings.expect(isFilled, "an animation could not be loaded")
    }

    /// Compares each cell with the frame that a plain walk over the ticks so far leads to.
    @MainActor private static func checkMoments(
      of window: StickerWindow, _ script: Script, _ findings: Findings
    ) {
      window.open()
      for (moment, milliseconds) in [300, 1100, 1900].enumerated() {
        window.compareFirstFrame(after: .milliseconds(milliseconds), findings)
        if script.plant == .outOfStep {
          for sticker in window.stickers.dropFirst(24) { sticker.seek(to: .milliseconds(90)) }
        }
        if let file = script.imageFile { window.save(to: "\(file)-\(moment + 1).png") }
      }
      findings.expect(window.movedCount > 100, "\(window.movedCount) frames were shown")
      findings.count("frames shown", window.movedCount)
    }

    /// A window in which nothing plays draws nothing.
    @MainActor private static func checkRests(of window: StickerWindow, _ findings: Findings) {
      window.ignoresTicks = true
      func expectRest(_ moment: String) {
        let frames = window.restlessFrames()
        findings.expect(frames < 3, "the window draws \(frames) frames \(moment)")
      }
      window.waitForFrames()
      for sticker in window.stickers { sticker.pause() }
      expectRest("while all stickers are paused")
      for sticker in window.stickers { sticker.seek(to: .zero) }
      window.expectFirstFrames("after a seek", findings)
      expectRest("after a seek")
      for sticker in window.stickers { sticker.resume() }
      window.waitForFrames()
      setAnimations(false)
      window.expectFirstFrames("while motion is reduced", findings)
      expectRest("while motion is reduced")
      setAnimations(true)
      window.waitForFrames()
      for sticker in window.stickers { sticker.isAnimated = false }
      window.expectFirstFrames("where nothing is animated", findings)
      expectRest("where nothing is animated")
      for sticker in window.stickers { sticker.isAnimated = true }
      gtk_widget_set_visible(window.grid, 0)
      expectRest("while the stickers are hidden")
      gtk_widget_set_visible(window.grid, 1)
      window.waitForFrames()
    }

    @MainActor private static func setAnimations(_ areEnabled: Bool) {
      var value = GValue()
      g_value_init(&value, g_type_from_name("gboolean"))
      g_value_set_boolean(&value, areEnabled ? 1 : 0)
      g_object_set_property(
        UnsafeMutablePointer<GObject>(gtk_settings_get_default()), "gtk-enable-animations", &value)
      g_value_unset(&value)
    }

    /// A list that scrolls: each cell shows a whole frame of its own animation.
    @MainActor private static func checkList(_ script: Script, _ findings: Findings) throws {
      let cache = try makeCache()
      fill(cache, findings)
      let images = (0..<300).map { NumberedImage(number: $0 % StickerWindow.animationCount) }
      let window = ImageWindow(images, format: .sticker, from: cache)
      window.afterFrame = {
        guard let screen = Screen(of: window.grid) else { return }
        for cell in window.mappedImages {
          let sights = milliseconds(of: cell.image.number).indices.map { index in
            screen.sight(
              of: NumberedImage(number: cell.image.number, version: index),
              ImageFormat.sticker.size, x: cell.x, y: cell.y)
          }
          if sights.contains(nil) { continue }
          findings.expect(sights.contains(.right), "no frame of sticker \(cell.image.number)")
          findings.count("list's stickers compared")
        }
      }
      for _ in 0..<max(script.frameCount / 4, 10) {
        window.position += 37
        window.draw()
      }
      window.afterFrame = {}
      close(window, cache, findings)
    }
  }

  extension ImageFormat {
    /// Room for all frames of all stickers.
    static let sticker = ImageFormat(
      name: "sticker", size: .exact(PixelSize(width: 60, height: 48)), pixelFormat: .bgrx32,
      capacity: 200, animation: .allFrames(byteLimit: 1 << 20))
  }
#endif
