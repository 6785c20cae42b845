#if GTK && canImport(CGTK)
  import CGTK
  import FastImageCache
  import FastImageCacheGTK
  import FastImageCacheTesting
  import Foundation
  import Locking

  extension Act {
    static let delivery = Act(
      name: "delivery",
      summary: "many results at once: in order, a few at a time, GTK draws between"
    ) { script, findings in
      checkRounds(findings)
      try checkFrames(script, findings)
      try checkLateFrames(findings)
    }

    /// With a clock that only jobs move.
    @MainActor private static func checkRounds(_ findings: Findings) {
      let clock = Lock<Int64>(0)
      let turns = Lock<[IdleDelivery.Turn]>([])
      let done = Lock<[Int]>([])
      let delivery = IdleDelivery(
        budget: 4000, now: { clock.withLock { $0 } },
        schedule: { turn in turns.withLock { $0.append(turn) } })
      for number in 0..<10 {
        delivery.run {
          clock.withLock { $0 += 1500 }
          done.withLock { $0.append(number) }
          // A job that comes during a round waits for its turn.
          if number == 8 { delivery.run { done.withLock { $0.append(10) } } }
        }
      }
      findings.expect(turns.withLock { $0 } == [.beforeDrawing], "ten jobs need one round at first")
      var counts: [Int] = []
      while turns.withLock({ $0.count }) > counts.count {
        delivery.runRound()
        counts.append(done.withLock { $0.count })
      }
      findings.expect(counts == [3, 6, 9, 11], "rounds ended after \(counts) jobs")
      findings.expect(done.withLock { $0 } == Array(0...10), "jobs ran in another order")
      delivery.run { done.withLock { $0.append(11) } }
      findings.expect(
        turns.withLock { $0 }
          == [.beforeDrawing, .besideDrawing, .besideDrawing, .besideDrawing, .beforeDrawing],
        "rounds were scheduled as \(turns.withLock { $0 })")
    }

    /// With GTK's loop, and jobs that take twelve frames together.
    @MainActor private static func checkFrames(_ script: Script, _ findings: Findings) throws {
      let images = (0..<60).map { NumberedImage(number: $0) }
      let cache = try ImageCache.filled(with: images, formats: [.cell]) {
        try $0.makeBitmap(ImageFormat.cell.size)
      }
      let window = ImageWindow(images, format: .cell, from: cache)
      let parts = script.plant == .noBudget ? 1 : 100
      let done = Lock(0)
      let before = window.frameCount
      for _ in 0..<parts {
        IdleDelivery.shared.run {
          let end = g_get_monotonic_time() + 200_000 / gint64(parts)
          while g_get_monotonic_time() < end {}
          done.withLock { $0 += 1 }
        }
      }
      Loop.turn { done.withLock { $0 } == parts }
      let frames = window.frameCount - before
      findings.count("frames beside 200 ms of results", frames)
      findings.expect(frames >= 5, "GTK drew \(frames) frames beside 200 ms of results")
      close(window, cache, findings)
    }

    /// With frames that each take longer than they may, so that GTK always has one to draw.
    @MainActor private static func checkLateFrames(_ findings: Findings) throws {
      let images = (0..<60).map { NumberedImage(number: $0) }
      let cache = try ImageCache.filled(with: images, formats: [.cell]) {
        try $0.makeBitmap(ImageFormat.cell.size)
      }
      let window = ImageWindow(images, format: .cell, from: cache)
      let work = gtk_widget_add_tick_callback(
        window.grid,
        { _, _, _ in
          let end = g_get_monotonic_time() + 25_000
          while g_get_monotonic_time() < end {}
          return 1
        }, nil, nil)
      window.draw(frames: 3)
      let rounds = 25
      let done = Lock(0)
      let before = window.frameCount
      for _ in 0..<rounds {
        IdleDelivery.shared.run {
          // Each job takes a round's budget.
          let end = g_get_monotonic_time() + 5_000
          while g_get_monotonic_time() < end {}
          done.withLock { $0 += 1 }
        }
      }
      Loop.turn { done.withLock { $0 } == rounds || window.frameCount > before + 8 * rounds }
      let frames = window.frameCount - before
      findings.count("late frames beside \(rounds) rounds", frames)
      findings.expect(
        done.withLock { $0 } == rounds,
        "\(done.withLock { $0 }) of \(rounds) rounds came beside \(frames) late frames")
      findings.expect(frames >= rounds / 5, "GTK drew \(frames) frames beside \(rounds) rounds")
      gtk_widget_remove_tick_callback(window.grid, work)
      close(window, cache, findings)
    }

    static let mainActor = Act(
      name: "main-actor", summary: "runs tasks of the main actor on GLib's loop"
    ) { _, findings in
      let places = Lock<[Bool]>([])
      MainActorOnGLib.attach()
      MainActorOnGLib.attach()
      Task { @MainActor in
        places.withLock { $0.append(Thread.isMainThread) }
        await Task.detached {}.value
        places.withLock { $0.append(Thread.isMainThread) }
        DispatchQueue.main.async { places.withLock { $0.append(Thread.isMainThread) } }
      }
      Loop.turn { places.withLock { $0.count } == 3 }
      findings.count("jobs", 3)
      findings.expect(places.withLock { $0 } == [true, true, true], "a job ran on another thread")
    }
  }
#endif
