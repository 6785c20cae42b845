import CGalleryGTK

/// Draws the newest frames as bars: their work, a line for the time that a frame has, and late ones in red.
final class Chart {
  let widget: Widget = gtk_drawing_area_new()
  private let meter: Meter

  init(_ meter: Meter) {
    self.meter = meter
    gtk_widget_set_size_request(widget, -1, 84)
    gtk_widget_set_hexpand(widget, 1)
    gtk_drawing_area_set_draw_func(
      UnsafeMutablePointer<GtkDrawingArea>(OpaquePointer(widget)),
      { _, context, width, height, chart in
        nonisolated(unsafe) let (context, chart) = (context, chart)
        MainActor.assumeIsolated {
          guard let chart, let context else { return }
          Unmanaged<Chart>.fromOpaque(chart).takeUnretainedValue()
            .draw(in: context, Double(width), Double(height))
        }
      }, Unmanaged.passRetained(self).toOpaque(),
      { if let chart = $0 { Unmanaged<Chart>.fromOpaque(chart).release() } })
  }

  func redraw() { gtk_widget_queue_draw(widget) }

  private func draw(in context: OpaquePointer, _ width: Double, _ height: Double) {
    cairo_set_source_rgb(context, 0.11, 0.12, 0.14)
    cairo_paint(context)
    let bar = 3.0
    // The frame's time stands at half the height.
    let scale = height / 2 / meter.interval
    let frames = meter.frames.suffix(Int(width / bar))
    for (index, frame) in frames.enumerated() {
      let isLate = frame.gap > 1.5 * meter.interval
      if isLate {
        cairo_set_source_rgb(context, 0.94, 0.33, 0.31)
      } else {
        cairo_set_source_rgb(context, 0.36, 0.72, 0.45)
      }
      let length = min((isLate ? max(frame.work, frame.gap) : frame.work) * scale, height)
      cairo_rectangle(context, Double(index) * bar, height - length, bar - 1, length)
      cairo_fill(context)
    }
    cairo_set_source_rgba(context, 1, 1, 1, 0.5)
    cairo_rectangle(context, 0, height / 2, width, 1)
    cairo_fill(context)
  }
}
