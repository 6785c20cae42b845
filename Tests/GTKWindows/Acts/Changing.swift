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
      summary: "changes pictures that are on screen: blank, then right"
    ) { script, findings in
      var numbers = SplitMix64(state: script.seed &+ 3)
      let pictures = (0..<400).map { NumberedPicture(number: $0) }
      let cache = try ImageCache.inMemory(
        formats: [.scarceCell], configuration: .loading { try $0.makeBitmap(ImageFormat.cell.size) }
      )
      let window = PictureWindow(pictures, format: .scarceCell, from: cache)
      waitUntilRight(window, findings)
      window.afterFrame = {
        findings.count("blank cells", window.compare(findings))
      }
      for _ in 0..<max(script.frameCount / 4, 10) {
        let seen = window.mappedPictures.map(\.picture.number)
        guard let first = seen.randomElement(using: &numbers) else { continue }
        let count = min(Int.random(in: 1...12, using: &numbers), pictures.count - first)
        for index in first..<first + count { window.pictures[index].version += 1 }
        window.rebind(from: first, count: count)
        findings.count("pictures replaced", count)
        window.draw(frames: .random(in: 1...2, using: &numbers))
        if Bool.random(using: &numbers) { window.position += 30 }
      }
      window.afterFrame = {}
      waitUntilRight(window, findings)
      checkLeases(of: window, cache, findings)
      close(window, cache, findings)
    }

    static let retrying = Act(
      name: "retrying", summary: "asks again for what failed while there was no network"
    ) { _, findings in
      let isOnline = Lock(false)
      let pictures = (0..<60).map { NumberedPicture(number: $0) }
      let cache = try ImageCache.inMemory(
        formats: [.cell],
        configuration: .loading { picture in
          guard isOnline.withLock({ $0 }) else { throw Offline() }
          return try picture.makeBitmap(ImageFormat.cell.size)
        })
      let window = PictureWindow(pictures, format: .cell, from: cache)
      let seen = window.mappedPictures.count
      let statistics = Loop.statistics(of: cache) { $0.failures >= seen && $0.flights == 0 }
      window.draw(frames: 3)
      let blank = window.compare(findings)
      findings.expect(blank == seen, "\(blank) of \(seen) cells are blank without a network")
      isOnline.withLock { $0 = true }
      window.draw(frames: 3)
      findings.expect(
        Loop.statistics(of: cache) { _ in true }.fetches == statistics.fetches,
        "something was asked for before anybody said that the network is back")
      retryFailedPictures()
      waitUntilRight(window, findings)
      close(window, cache, findings)
    }

    private struct Offline: Error {}
  }
#endif
