import Foundation

/// A chart of the work of each busy frame as SVG: time to the right, milliseconds upwards on a
/// logarithmic scale, because methods differ by factors and not by differences.
package struct FrameChart: Sendable {
  package struct Series: Sendable {
    package let name: String
    /// One entry for each busy frame: its number, and its work in milliseconds.
    package let points: [(frame: Int, milliseconds: Double)]

    package init(name: String, points: [(frame: Int, milliseconds: Double)]) {
      self.name = name
      self.points = points
    }
  }

  /// The time for a frame at 120 and at 60 frames a second, in milliseconds.
  package static let frameBudgets = [8.3, 16.7]

  private let series: [Series]
  private let frameCount: Int
  private let decades: ClosedRange<Int>

  private let width = 960.0
  private let height = 380.0
  private let left = 64.0
  private let right = 16.0
  private let top = 16.0
  private let bottom = 44.0

  package init(series: [Series], frameCount: Int) {
    self.series = series
    self.frameCount = max(frameCount, 1)
    // The budgets are always in the chart, since the points are compared with them.
    let values = series.flatMap(\.points).map(\.milliseconds).filter { $0 > 0 } + Self.frameBudgets
    let exponents = values.map { log10($0) }
    let lowest = Int((exponents.min() ?? 0).rounded(.down))
    let highest = Int((exponents.max() ?? 0).rounded(.up))
    decades = lowest...max(highest, lowest + 1)
  }

  /// The `svg` element. Colours are the page's: classes `s0`, `s1`, ... for the series.
  package var svg: String {
    """
    <svg viewBox="0 0 \(Int(width)) \(Int(height))" role="img" \
    aria-label="Work of each busy frame in milliseconds">
    \(axes)
    \(budgets)
    \(series.enumerated().map { dots($1, class: "s\($0)") }.joined(separator: "\n"))
    </svg>
    """
  }

  private var axes: String {
    let lines = decades.map { exponent in
      let y = text(y(of: pow(10, Double(exponent))))
      let label =
        exponent < 0
        ? String(format: "%.\(-exponent)f", pow(10, Double(exponent)))
        : String(format: "%.0f", pow(10, Double(exponent)))
      return """
        <line class="grid" x1="\(text(left))" x2="\(text(width - right))" y1="\(y)" y2="\(y)"/>
        <text x="\(text(left - 8))" y="\(y)" text-anchor="end" dy="0.35em">\(label)</text>
        """
    }
    let middle = text((left + width - right) / 2)
    return lines.joined(separator: "\n") + """

      <text x="\(middle)" y="\(text(height - 10))" text-anchor="middle">frames 1 to \(frameCount)</text>
      <text transform="translate(14 \(text((top + height - bottom) / 2))) rotate(-90)" \
      text-anchor="middle">ms of work</text>
      """
  }

  private var budgets: String {
    Self.frameBudgets.enumerated().map { index, budget in
      let y = text(y(of: budget))
      // The two lines are close to each other; one label goes below its line, the other above.
      let shift = index == 0 ? "1.1em" : "-0.4em"
      let rate = Int((1000 / budget).rounded())
      return """
        <line class="budget" x1="\(text(left))" x2="\(text(width - right))" y1="\(y)" y2="\(y)"/>
        <text class="budget" x="\(text(width - right))" y="\(y)" dy="\(shift)" \
        text-anchor="end">\(budget) ms: \(rate) frames a second</text>
        """
    }.joined(separator: "\n")
  }

  private func dots(_ series: Series, class name: String) -> String {
    let circles = series.points.map { point in
      "<circle cx=\"\(text(x(of: point.frame)))\" cy=\"\(text(y(of: point.milliseconds)))\" r=\"2\"/>"
    }
    return "<g class=\"\(name)\">" + circles.joined() + "</g>"
  }

  private func x(of frame: Int) -> Double {
    left + (width - left - right) * Double(frame) / Double(frameCount)
  }

  private func y(of milliseconds: Double) -> Double {
    let (low, high) = (Double(decades.lowerBound), Double(decades.upperBound))
    let exponent = min(max(log10(max(milliseconds, 1e-9)), low), high)
    return top + (height - top - bottom) * (high - exponent) / (high - low)
  }

  private func text(_ number: Double) -> String { String(format: "%.1f", number) }
}
