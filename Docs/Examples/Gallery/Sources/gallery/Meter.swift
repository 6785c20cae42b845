import CGalleryGTK
import Foundation

/// The time of one frame, in milliseconds.
struct Frame {
  /// Since the frame before it.
  var gap = 0.0
  /// From the beginning of the frame to the end of its painting.
  var work = 0.0
  /// In the handlers of cells that came into view or left it.
  var ours = 0.0
  /// From the first cell that came into view to the end of painting; 0 without one.
  var mappedToPainted = 0.0
  /// Cells that came into view.
  var mappedCount = 0
  /// Cells in view without an image, at the end of the frame.
  var blankCount = 0
}

/// Measures frames by the phases of GTK's frame clock.
final class Meter {
  private(set) var frames: [Frame] = []
  /// Milliseconds of a frame of this display.
  private(set) var interval = 1000.0 / 60
  /// Whether frames count: while the list moves.
  var isMeasuring = true
  private var current = Frame()
  private var began = 0.0
  private var firstMapped: Double?
  private var lastFrameTime: Int64?
  private let blankCount: () -> Int

  private static var present: Meter?
  /// Set while a handler of a cell runs.
  private var handlerBegan: Double?

  /// - Parameter blankCount: Cells in view without an image.
  init(blankCount: @escaping () -> Int) {
    self.blankCount = blankCount
    Self.present = self
    for signal in ["map", "unmap"] {
      gallery_watch(signal) { _, count, values, _ in
        nonisolated(unsafe) let widget = count > 0 ? g_value_get_object(values) : nil
        MainActor.assumeIsolated {
          if let widget,
            g_object_get_data(widget.assumingMemoryBound(to: GObject.self), Meter.mark) != nil
          {
            Meter.present?.handlerBegan = Meter.now
          }
        }
        return 1
      }
    }
  }

  nonisolated static let mark = "gallery-cell"

  static var now: Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e6 }

  /// Counts a cell's handlers from the first to the last of them; call it before and after the others are
  /// connected.
  func watch(cell: Widget) {
    g_object_set_data(UnsafeMutablePointer<GObject>(OpaquePointer(cell)), Self.mark, cell)
    connect(cell, "map") { [unowned self] _ in handled(isMap: true) }
    connect(cell, "unmap") { [unowned self] _ in handled(isMap: false) }
  }

  /// Counts work of a cell that is not done in a handler of its coming or going.
  func count(_ work: () -> Void) {
    let start = Self.now
    work()
    current.ours += Self.now - start
  }

  private func handled(isMap: Bool) {
    guard let start = handlerBegan else { return }
    handlerBegan = nil
    current.ours += Self.now - start
    guard isMap else { return }
    current.mappedCount += 1
    firstMapped = firstMapped ?? start
  }

  /// Listens to the clock of a widget that is realized.
  func watch(clockOf widget: Widget) {
    guard let clock = gtk_widget_get_frame_clock(widget) else { return }
    var refresh: gint64 = 0
    gdk_frame_clock_get_refresh_info(clock, 0, &refresh, nil)
    if refresh > 0 { interval = Double(refresh) / 1000 }
    connect(clock, "before-paint") { [unowned self] _ in began = Self.now }
    connect(clock, "after-paint") { [unowned self] _ in
      end(at: Int64(gdk_frame_clock_get_frame_time(clock)))
    }
  }

  private func end(at frameTime: Int64) {
    let now = Self.now
    current.work = now - began
    current.mappedToPainted = firstMapped.map { now - $0 } ?? 0
    current.blankCount = blankCount()
    if let lastFrameTime {
      current.gap = Double(frameTime - lastFrameTime) / 1000
      if isMeasuring { frames.append(current) }
    }
    lastFrameTime = frameTime
    (current, firstMapped) = (Frame(), nil)
  }

  func reset() { (frames, lastFrameTime) = ([], nil) }

  /// Frames that the display showed twice because the next one was late.
  var droppedCount: Int {
    frames.reduce(0) { $0 + max(Int(($1.gap / interval).rounded()) - 1, 0) }
  }

  /// Of the frames that brought a cell into view.
  func percentile(_ part: Double, of value: (Frame) -> Double) -> Double {
    let values = frames.filter { $0.mappedCount > 0 }.map(value).sorted()
    return values.isEmpty ? 0 : values[min(Int(Double(values.count) * part), values.count - 1)]
  }

  /// Private memory of this process, in kilobytes.
  static var privateKilobytes: Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    return line.flatMap { Int($0.split(whereSeparator: \.isWhitespace).dropFirst().first ?? "") }
      ?? 0
  }
}
