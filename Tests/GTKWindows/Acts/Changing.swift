#if GTK && canImport(CGTK)
  import CGTK
  import FastImageCache
  import FastImageCacheGTK
  import FastImageCacheTesting
  import Locking
  import TestSupport

  extension Act {
    static let replacing = Act(
      name: "replacing",
      summary: "changes images that are on screen: blank, then right"
    ) { script, findings in
      var numbers = SplitMix64(state: script.seed &+ 3)
      let images = (0..<400).map { NumberedImage(number: $0) }
      let cache = try ImageCache.inMemory(
        formats: [.scarceCell], configuration: .loading { try $0.makeBitmap(ImageFormat.cell.size) }
      )
      let window = ImageWindow(images, format: .scarceCell, from: cache)
      waitUntilRight(window, findings)
      window.afterFrame = {
        findings.count("blank cells", window.compare(findings))
      }
      for _ in 0..<max(script.frameCount / 4, 10) {
        let seen = window.mappedImages.map(\.image.number)
        guard let first = seen.randomElement(using: &numbers) else { continue }
        let count = min(Int.random(in: 1...12, using: &numbers), images.count - first)
        for index in first..<first + count { window.images[index].version += 1 }
        window.rebind(from: first, count: count)
        findings.count("images replaced", count)
        window.draw(frames: .random(in: 1...2, using: &numbers))
        if Bool.random(using: &numbers) { window.position += 30 }
      }
      window.afterFrame = {}
      waitUntilRight(window, findings)
      checkLeases(of: window, cache, findings)
      close(window, cache, findings)
    }

    static let retrying = Act(
      name: "retrying",
      summary: "asks again for what failed when the network is back, or when told to"
    ) { _, findings in
      try checkRetry(findings, "the network is back") { reportFromElsewhere(isThere: true) }
      try checkRetry(findings, "the program says so") { ImageCache.retryFailedImages() }
    }

    @MainActor private static func checkRetry(
      _ findings: Findings, _ moment: String, recover: () -> Void
    ) throws {
      let isOnline = Lock(false)
      let images = (0..<60).map { NumberedImage(number: $0) }
      let cache = try ImageCache.inMemory(
        formats: [.cell],
        configuration: .loading { image in
          guard isOnline.withLock({ $0 }) else { throw Offline() }
          return try image.makeBitmap(ImageFormat.cell.size)
        })
      let window = ImageWindow(images, format: .cell, from: cache)
      let seen = window.mappedImages.count
      _ = Loop.statistics(of: cache) { $0.failures >= seen && $0.activeLoads == 0 }
      window.draw(frames: 3)
      // From here on there is a network, whatever this machine has; the images fail once more.
      for isThere in [false, true] { reportFromElsewhere(isThere: isThere) }
      let statistics = Loop.statistics(of: cache) { $0.failures >= 2 * seen && $0.activeLoads == 0 }
      window.draw(frames: 3)
      let blank = window.compare(findings)
      findings.expect(blank == seen, "\(blank) of \(seen) cells are blank without a network")
      isOnline.withLock { $0 = true }
      reportFromElsewhere(isThere: true)
      window.draw(frames: 3)
      reportFromElsewhere(isThere: false)
      window.draw(frames: 3)
      findings.expect(
        Loop.statistics(of: cache) { _ in true }.fetches == statistics.fetches,
        "something was asked for before \(moment)")
      recover()
      findings.count("cells asked for again", seen)
      waitUntilRight(window, findings)
      close(window, cache, findings)
    }

    /// Reports as GIO does where another thread has made its monitor, and waits until the report has arrived.
    @MainActor private static func reportFromElsewhere(isThere: Bool) {
      Loop.wait { reportNetwork(isThere: isThere) }
      Loop.settle()
    }

    /// Tells what GIO's monitor tells when the network changes.
    private static func reportNetwork(isThere: Bool) {
      let monitor = g_network_monitor_get_default()
      var values = [GValue(), GValue()]
      g_value_init(&values[0], g_network_monitor_get_type())
      g_value_set_object(&values[0], monitor.map { UnsafeMutableRawPointer($0) })
      g_value_init(&values[1], g_type_from_name("gboolean"))
      g_value_set_boolean(&values[1], isThere ? 1 : 0)
      g_signal_emitv(
        values, g_signal_lookup("network-changed", g_network_monitor_get_type()), 0, nil)
      g_value_unset(&values[0])
    }

    private struct Offline: Error {}
  }
#endif
