#if GTK && canImport(CGTK)
  import CGTK
  import FastImageCache
  import FastImageCacheGTK
  import FastImageCacheTesting
  import Foundation

  extension Act {
    static let lives = Act(
      name: "lives",
      summary: "widgets that move or go while their images load: nothing stays"
    ) { _, findings in
      for course in [moving, goingBeforeDelivery] {
        let source = ScriptedImageSource.drawing { try $0.makeBitmap(ImageFormat.cell.size) }
        var configuration = ImageCache.Configuration()
        configuration.source = source
        let cache = try ImageCache.inMemory(formats: [.cell], configuration: configuration)
        source.holdLoads()
        let window = PlainWindow()
        let left = WidgetCount()
        course(cache, source, window, left, findings)
        window.close()
        let statistics = Loop.statistics(of: cache) {
          $0.leasedCount == 0 && $0.activeLoads == 0 && left.count == 0
        }
        findings.expect(statistics.leasedCount == 0, "\(statistics.leasedCount) leases stay")
        findings.expect(statistics.activeLoads == 0, "\(statistics.activeLoads) loads stay")
        findings.expect(left.count == 0, "\(left.count) widgets stay")
        findings.count("courses")
      }
    }

    private typealias Course =
      @MainActor (
        ImageCache, ScriptedImageSource, PlainWindow, WidgetCount, Findings
      ) -> Void

    /// To another window, where its load begins anew.
    @MainActor private static let moving: Course = { cache, source, window, left, findings in
      let other = PlainWindow()
      let image = makeImage(cache, left)
      window.show(image.widget)
      _ = Loop.wait { try? await source.hasBegunLoads() }
      window.show(nil)
      _ = Loop.wait { try? await source.hasCancelledLoads() }
      other.show(image.widget)
      _ = Loop.wait { try? await source.hasBegunLoads(2) }
      source.releaseLoads()
      Loop.turn { image.isShowingImage }
      other.draw()
      findings.expect(
        other.screen(of: image.widget) != nil, "a widget that moved shows nothing")
      other.close()
    }

    /// After its image has come, and before GTK has heard of it.
    @MainActor private static let goingBeforeDelivery: Course = {
      cache, source, window, left, findings in
      let entity = NumberedImage(number: 1)
      do {
        let image = makeImage(cache, left)
        window.show(image.widget)
        _ = Loop.wait { try? await source.hasBegunLoads() }
        source.releaseLoads()
        // The loop stands still meanwhile.
        while !cache.containsImage(for: entity, format: .cell) { sched_yield() }
        window.clear()
      }
      Loop.settle()
      findings.expect(left.count == 0, "a widget that nobody holds stays")
    }

    @MainActor private static func makeImage(
      _ cache: ImageCache, _ left: WidgetCount
    ) -> CachedImageWidget<NumberedImage> {
      let image = CachedImageWidget<NumberedImage>(format: .cell, from: cache)
      left.add(UnsafeMutablePointer(image.widget))
      image.entity = NumberedImage(number: 1)
      image.alternativeText = "an image"
      return image
    }
  }
#endif
