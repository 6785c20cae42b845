#if GTK && canImport(CGTK)
  import CGTK
  import CommandSupport
  import FastImageCache
  import FastImageCacheTesting
  import TestSupport

  extension Act {
    static let closing = Act(
      name: "closing", summary: "closes windows while their images load: no load, no lease stays"
    ) { script, findings in
      var numbers = SplitMix64(state: script.seed &+ 4)
      let images = (0..<300).map { NumberedImage(number: $0) }
      for round in 0..<12 {
        // Loads that are held by their source, and loads that come at any moment.
        let source = round % 2 == 0 ? ScriptedImageSource.silent() : nil
        var configuration = ImageCache.Configuration.loading {
          try $0.makeBitmap(ImageFormat.cell.size)
        }
        if let source { configuration.source = source }
        let cache = try ImageCache.inMemory(formats: [.cell], configuration: configuration)
        let window = ImageWindow(images, format: .cell, from: cache)
        if let source {
          _ = Loop.wait { try? await source.hasBegunLoads() }
        } else {
          window.position = .random(in: 0...window.lastPosition, using: &numbers)
          window.draw(frames: .random(in: 0...2, using: &numbers))
        }
        close(window, cache, findings)
        if let source {
          findings.count("loads given up", source.cancellationCount())
          findings.expect(
            source.cancellationCount() == source.loadCount(),
            "\(source.cancellationCount()) of \(source.loadCount()) loads were given up")
        }
      }
    }

    static let rounds = Act(
      name: "rounds", summary: "opens and closes windows: memory stays flat, no lease stays"
    ) { script, findings in
      let images = (0..<300).map { NumberedImage(number: $0) }
      let cache = try ImageCache.filled(with: images, formats: [.cell]) {
        try $0.makeBitmap(ImageFormat.cell.size)
      }
      var leaked: [[UInt8]] = []
      var first = 0
      // GTK and the allocator fill their own stores in the beginning.
      let warmUp = script.roundCount / 4
      for round in 0..<script.roundCount {
        if round == warmUp { first = privateByteCount() }
        let window = ImageWindow(images, format: .cell, from: cache)
        let blank = window.compare(findings)
        findings.expect(blank == 0, "\(blank) blank cells in window \(round)")
        window.position = 300
        window.draw()
        if script.plant == .leak { leaked.append([UInt8](repeating: 1, count: 40_000)) }
        close(window, cache, findings)
        findings.count("windows")
      }
      let grown = privateByteCount() - first
      let each = grown / (script.roundCount - warmUp)
      findings.count("bytes more for each window", each)
      findings.expect(each < 4_096, "each window leaves \(each) bytes behind")
      withExtendedLifetime(leaked) {}
    }

    @MainActor private static func privateByteCount() -> Int {
      Loop.settle()
      ProcessMemory.releaseFreeMemory()
      return ProcessMemory.privateByteCount()
    }
  }
#endif
