import CGalleryGTK
import FastImageCache
import FastImageCacheGTK
import Foundation

/// The window: a list of images, controls, a chart of the newest frames, and a page for one image.
final class Gallery {
  let options: Options
  var stock: Stock
  let window: Widget = gtk_window_new()
  let overlay = OpaquePointer(gtk_overlay_new()!)
  let grid: OpaquePointer
  private let scrolled: Widget = gtk_scrolled_window_new()
  private let label: Widget = gtk_label_new(nil)
  let scrolling: Widget = gtk_toggle_button_new_with_mnemonic("S_croll")
  private(set) var meter: Meter!
  private var chart: Chart!
  private(set) var cells: any Cells
  private(set) var way: Way
  private(set) var pixels = PixelFormat.bgrx32
  /// Kept, since switching back must find the cells of a factory that the list still takes down.
  private var made: [any Cells] = []
  private var ahead: PrefetchWindow<Photograph>
  /// Whether one image has the window, and the list stands still.
  var isFullScreen = false
  private var direction = 1.0
  private var scrollBegan: Double?
  private var lastTick: Double?
  private var frameCount = 0
  /// The third of the time that has begun, from 0 on.
  private var moment = 0
  private(set) var hasEnded = false
  private(set) var isClosed = false

  init(_ options: Options, _ stock: Stock) {
    (self.options, self.stock, way) = (options, stock, options.way)
    ahead = PrefetchWindow(stock.cache, format: stock.format)
    cells = TableCells(stock, .table, stock.format) {
      preconditionFailure("The meter is there before the first cell.")
    }
    let list = gtk_string_list_new(nil)
    for _ in 0..<options.cellCount { gtk_string_list_append(list, "") }
    grid = OpaquePointer(gtk_grid_view_new(gtk_no_selection_new(list), nil)!)
    meter = Meter { [unowned self] in cells.blankCount }
    chart = Chart(meter)
    layOut()
    use(options.way)
    isScrolling = way != .stickers
  }

  private func layOut() {
    gtk_window_set_title(window.window, "Gallery")
    gtk_window_set_default_size(window.window, 1120, 860)
    let top: Widget = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)
    if !options.printsJSON {
      addControls()
      gtk_widget_set_margin_top(label, 4)
      gtk_widget_set_margin_bottom(label, 4)
      gtk_box_append(top.box, label)
      gtk_box_append(top.box, chart.widget)
    }
    gtk_grid_view_set_min_columns(grid, 5)
    gtk_grid_view_set_max_columns(grid, 5)
    gtk_widget_set_vexpand(scrolled, 1)
    gtk_scrolled_window_set_child(OpaquePointer(scrolled), grid.widget)
    gtk_box_append(top.box, scrolled)
    gtk_overlay_set_child(overlay, top)
    gtk_window_set_child(window.window, overlay.widget)
    connect(window, "destroy") { [unowned self] _ in (hasEnded, isClosed) = (true, true) }
    connect(window, "realize") { [unowned self] _ in meter.watch(clockOf: window) }
    // The clock's tick comes before layout, so the cells of this position are in this frame.
    gtk_widget_add_tick_callback(
      window,
      { _, clock, gallery in
        nonisolated(unsafe) let (clock, gallery) = (clock, gallery)
        return MainActor.assumeIsolated {
          guard let gallery, let clock else { return 0 }
          Unmanaged<Gallery>.fromOpaque(gallery).takeUnretainedValue().tick(clock)
          return 1
        }
      }, Unmanaged.passUnretained(self).toOpaque(), nil)
  }

  /// Fills cells in this way from now on, or anew.
  func use(_ way: Way, _ pixels: PixelFormat? = nil) {
    (self.way, self.pixels) = (way, pixels ?? self.pixels)
    let meter = meter!
    let format = stock.format(self.pixels)
    cells =
      way == .table || way == .stickers
      ? TableCells(stock, way, format) { meter } : FileCells(stock, way, options) { meter }
    ahead = PrefetchWindow(stock.cache, format: format)
    made.append(cells)
    let factory = cells.makeFactory()
    gtk_grid_view_set_factory(grid, factory)
    g_object_unref(factory.raw)
    meter.reset()
  }

  var isScrolling: Bool {
    get { gtk_toggle_button_get_active(scrolling.toggle) != 0 }
    set { gtk_toggle_button_set_active(scrolling.toggle, newValue ? 1 : 0) }
  }

  // MARK: Frames

  private func tick(_ clock: OpaquePointer) {
    let now = Double(gdk_frame_clock_get_frame_time(clock)) / 1e6
    defer { lastTick = now }
    let adjustment = gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolled))
    let end = gtk_adjustment_get_upper(adjustment) - gtk_adjustment_get_page_size(adjustment)
    guard end > 0 else { return }
    if isScrolling, !isFullScreen, let lastTick {
      let place = gtk_adjustment_get_value(adjustment)
      if place >= end { direction = -1 } else if place <= 0 { direction = 1 }
      gtk_adjustment_set_value(adjustment, place + direction * options.speed * (now - lastTick))
    }
    if way == .table {
      let rowCount = (options.cellCount + 4) / 5
      lookAhead(
        gtk_adjustment_get_value(adjustment),
        rowHeight: gtk_adjustment_get_upper(adjustment) / Double(rowCount))
    }
    frameCount += 1
    if frameCount % 15 == 0, !options.printsJSON {
      show()
      showTitle()
    }
    if !options.printsJSON { chart.redraw() }
    if let seconds = options.seconds {
      let began = scrollBegan ?? now
      scrollBegan = began
      moment = min(Int((now - began) / seconds * 3), 2)
      if now - began >= seconds { hasEnded = true }
    }
  }

  /// Eight rows ahead of those in view.
  private func lookAhead(_ place: Double, rowHeight: Double) {
    let rows = Int(Double(gtk_widget_get_height(scrolled)) / rowHeight) + 1
    let first = Int(place / rowHeight)
    let next =
      direction > 0
      ? (first + rows)..<(first + rows + 8) : max(first - 8, 0)..<max(first, 0)
    let order = direction > 0 ? Array(next) : next.reversed()
    ahead.move(
      to: order.flatMap { row in
        (row * 5..<row * 5 + 5).filter { $0 < options.cellCount }.map(stock.photograph)
      })
  }

  private func show() {
    let work = meter.percentile(0.5) { $0.work }
    let ours = meter.percentile(0.5) { $0.ours }
    let text =
      String(format: "cells %.2f ms, frame %.1f ms, ", ours, work)
      + "\(meter.droppedCount) of \(meter.frames.count) dropped, "
      + "\(Meter.privateKilobytes / 1000) MB private"
    gtk_label_set_text(OpaquePointer(label), text)
  }

  // MARK: Running

  /// Shows the window until it is closed or the time is over.
  func run() -> Report {
    gtk_window_present(window.window)
    var saved = 0
    while !hasEnded {
      g_main_context_iteration(nil, 1)
      // After a frame: before one, what changes is not drawn.
      if way == .stickers, moment > saved {
        saved = moment
        save(moment: saved)
      }
    }
    let report = Report(
      way: way, meter: meter, diskByteCount: stock.diskByteCount(of: way))
    // Its close button has destroyed the window already.
    if !isClosed {
      if way == .stickers {
        save(moment: 3)
      } else if let file = options.screenshot {
        window.save(to: file)
      }
      gtk_window_destroy(window.window)
    }
    while g_main_context_pending(nil) != 0 { g_main_context_iteration(nil, 0) }
    return report
  }

  private func save(moment: Int) {
    guard let file = options.screenshot?.deletingPathExtension() else { return }
    window.save(to: URL(filePath: "\(file.path)-\(moment).png"))
  }
}
