#if GTK && canImport(CGTK)
  import CGTK
  import FastImageCache
  import FastImageCacheGTK
  import TestSupport

  /// A window of stickers, each twice, that remembers the ticks of its clock.
  @MainActor final class StickerWindow {
    nonisolated static let animationCount = 24
    private static let columnCount = 8

    let stickers: [CachedImageWidget<NumberedImage>]
    let grid = gtk_grid_new().unsafelyUnwrapped
    /// Frames that moved on, by the plain walk.
    private(set) var movedCount = 0
    /// The clock is not kept running, and ticks are not walked over.
    var ignoresTicks = false { didSet { gtk_widget_remove_tick_callback(grid, tickID) } }

    private let window = UnsafeMutablePointer<GtkWindow>(
      OpaquePointer(gtk_window_new().unsafelyUnwrapped))
    private var tickID: guint = 0
    private var numbers: SplitMix64
    private var start: Int64?
    private var now: Int64 = 0
    /// The frame that each animation shows, and when its time is over, in microseconds.
    private var walk = [(index: Int, end: Int64)](
      repeating: (0, 0), count: StickerWindow.animationCount)

    init(_ cache: ImageCache, seed: UInt64) {
      numbers = SplitMix64(state: seed)
      stickers = (0..<2 * Self.animationCount).map { place in
        let sticker = CachedImageWidget<NumberedImage>(format: .sticker, from: cache)
        sticker.entity = NumberedImage(number: place % Self.animationCount)
        return sticker
      }
      gtk_grid_set_row_spacing(UnsafeMutablePointer<GtkGrid>(OpaquePointer(grid)), 6)
      gtk_grid_set_column_spacing(UnsafeMutablePointer<GtkGrid>(OpaquePointer(grid)), 6)
      for (place, sticker) in stickers.enumerated() {
        gtk_grid_attach(
          UnsafeMutablePointer<GtkGrid>(OpaquePointer(grid)), UnsafeMutablePointer(sticker.widget),
          Int32(place % Self.columnCount), Int32(place / Self.columnCount), 1, 1)
      }
      gtk_window_set_child(window, grid)
    }

    func open() {
      tickID = gtk_widget_add_tick_callback(
        grid,
        { _, clock, data in
          guard let clock, let data else { return 0 }
          let window = Unmanaged<StickerWindow>.fromOpaque(data).takeUnretainedValue()
          let time = gdk_frame_clock_get_frame_time(clock)
          MainActor.assumeIsolated { window.tick(at: Int64(time)) }
          return 1
        }, Unmanaged.passUnretained(self).toOpaque(), nil)
      gtk_window_present(window)
    }

    private func tick(at time: Int64) {
      now = time
      stall()
      if start == nil {
        start = time
        for number in walk.indices { walk[number] = (0, time + duration(of: number, 0)) }
        return
      }
      for number in walk.indices where walk[number].end - 4000 <= time {
        let next = (walk[number].index + 1) % Act.milliseconds(of: number).count
        let end = walk[number].end + duration(of: number, next)
        walk[number] = (next, end - 4000 > time ? end : time + duration(of: number, next))
        movedCount += 1
      }
    }

    /// Has some frames come late.
    private func stall() {
      guard Int.random(in: 0..<4, using: &numbers) == 0 else { return }
      let end = g_get_monotonic_time() + .random(in: 0..<100_000, using: &numbers)
      while g_get_monotonic_time() < end {}
    }

    private func duration(of number: Int, _ index: Int) -> Int64 {
      Int64(Act.milliseconds(of: number)[index]) * 1000
    }

    /// Waits for the first frame after a time since the start, and compares all cells.
    func compareFirstFrame(after time: Duration, _ findings: Findings) {
      Loop.turn { start.map { .microseconds(now - $0) >= time } ?? false }
      draw()
      compare(findings, "at \(time)") { walk[$0].index }
    }

    func expectFirstFrames(_ moment: String, _ findings: Findings) {
      draw()
      compare(findings, moment) { _ in 0 }
    }

    private func compare(_ findings: Findings, _ moment: String, _ frame: (Int) -> Int) {
      guard let screen = Screen(of: grid) else {
        return findings.expect(false, "the window cannot be looked at \(moment)")
      }
      for (place, sticker) in stickers.enumerated() {
        let number = place % Self.animationCount
        var bounds = graphene_rect_t()
        _ = gtk_widget_compute_bounds(UnsafeMutablePointer(sticker.widget), grid, &bounds)
        let sight = screen.sight(
          of: NumberedImage(number: number, version: frame(number)), ImageFormat.sticker.size,
          x: Int(bounds.origin.x.rounded()), y: Int(bounds.origin.y.rounded()))
        findings.expect(
          sight == .right, "sticker \(place) is not at frame \(frame(number)) \(moment)")
        findings.count("stickers compared")
      }
    }

    /// Waits until what has changed is drawn.
    private func draw() {
      let before = frameCounter
      gtk_widget_queue_draw(UnsafeMutablePointer(OpaquePointer(window)))
      Loop.turn { frameCounter > before }
    }

    /// Waits until the clock of the window has run for some frames by itself.
    func waitForFrames() {
      let end = frameCounter + 10
      Loop.turn { frameCounter >= end }
    }

    /// How often the clock of the window runs by itself within a quarter of a second.
    func restlessFrames() -> Int64 {
      draw()
      Loop.settle()
      let before = frameCounter
      let end = g_get_monotonic_time() + 250_000
      let alarm = g_timeout_add(250, { _ in 1 }, nil)
      Loop.turn { g_get_monotonic_time() >= end }
      g_source_remove(alarm)
      return frameCounter - before
    }

    private var frameCounter: Int64 {
      let root = UnsafeMutablePointer<GtkWidget>(OpaquePointer(window))
      return gtk_widget_get_frame_clock(root).map { Int64(gdk_frame_clock_get_frame_counter($0)) }
        ?? 0
    }

    /// Writes an image of the stickers as PNG.
    func save(to file: String) {
      guard let texture = Screen.makeTexture(of: grid) else { return }
      gdk_texture_save_to_png(texture, file)
      g_object_unref(UnsafeMutableRawPointer(texture))
    }

    func close() { gtk_window_destroy(window) }
  }
#endif
