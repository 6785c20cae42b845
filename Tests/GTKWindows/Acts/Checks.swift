#if GTK && canImport(CGTK)
  import CGTK
  import FastImageCache
  import FastImageCacheTesting

  extension Act {
    /// As many leases as cells that can be seen.
    @MainActor static func checkLeases(
      of window: ImageWindow, _ cache: ImageCache, _ findings: Findings
    ) {
      let seen = window.mappedImages.count
      findings.expect(seen >= ImageWindow.columnCount, "\(seen) cells can be seen")
      let leased = Loop.statistics(of: cache) { $0.leasedCount == seen }.leasedCount
      findings.expect(leased == seen, "\(leased) leases for \(seen) cells that can be seen")
    }

    /// Closes a window: its widgets go, no lease and no load stays.
    @MainActor static func close(
      _ window: ImageWindow, _ cache: ImageCache, _ findings: Findings
    ) {
      let left = WidgetCount()
      for widget in window.cellWidgets { left.add(widget) }
      findings.expect(left.count > 0, "no cell was there to be closed")
      window.close()
      let statistics = Loop.statistics(of: cache) {
        $0.leasedCount == 0 && $0.activeLoads == 0 && $0.pendingRequests == 0 && left.count == 0
      }
      findings.expect(
        statistics.leasedCount == 0, "\(statistics.leasedCount) leases after the window closed")
      findings.expect(
        statistics.activeLoads == 0 && statistics.pendingRequests == 0,
        "\(statistics.activeLoads) loads, \(statistics.pendingRequests) waiters after the window closed"
      )
      findings.expect(left.count == 0, "\(left.count) widgets after the window closed")
    }

    /// Draws frames until all cells show their images.
    @MainActor static func waitUntilRight(_ window: ImageWindow, _ findings: Findings) {
      var blank = 0
      var frames = 0
      // In the frame itself: an image that comes later takes away what its cell has drawn.
      window.afterFrame = { blank = window.compare(findings) }
      repeat {
        window.draw()
        frames += 1
      } while blank > 0 && frames < 1200
      window.afterFrame = {}
      findings.expect(blank == 0, "\(blank) cells stay blank")
    }
  }

  /// Widgets that are not finalised yet.
  @MainActor final class WidgetCount {
    private(set) var count = 0

    /// The widgets must not outlive this object.
    func add(_ widget: UnsafeMutablePointer<GtkWidget>) {
      count += 1
      g_object_weak_ref(
        UnsafeMutablePointer(OpaquePointer(widget)),
        { data, _ in
          guard let data else { return }
          let held = Unmanaged<WidgetCount>.fromOpaque(data)
          MainActor.assumeIsolated { held.takeRetainedValue().count -= 1 }
        }, Unmanaged.passRetained(self).toOpaque())
    }
  }

  extension ImageCache.Configuration {
    /// A source that draws images by their URLs.
    static func loading(
      _ draw: @escaping @Sendable (NumberedImage) throws -> Bitmap
    ) -> ImageCache.Configuration {
      var configuration = ImageCache.Configuration()
      configuration.source = ScriptedImageSource.drawing(draw)
      return configuration
    }
  }

  extension ScriptedImageSource {
    /// Draws images by their URLs.
    static func drawing(
      _ draw: @escaping @Sendable (NumberedImage) throws -> Bitmap
    ) -> ScriptedImageSource {
      ScriptedImageSource { url in
        guard let image = NumberedImage(url) else { throw ScriptedSourceError.noImage(url) }
        return .bitmap(try draw(image))
      }
    }
  }
#endif
