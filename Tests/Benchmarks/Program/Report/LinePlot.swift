import Foundation

/// Lines over two axes, as SVG.
struct LinePlot {
  struct Line {
    let name: String
    let points: [(x: Double, y: Double)]
  }

  /// How values map to positions.
  enum Scale {
    /// Both axes begin at 0.
    case linear
    /// Both axes go by powers of ten.
    case logarithmic
  }

  let title: String
  let xLabel: String
  let yLabel: String
  let scale: Scale
  let lines: [Line]

  private static let (width, height) = (720.0, 420.0)
  private static let (left, right, top, bottom) = (72.0, 190.0, 40.0, 52.0)
  /// Colours that people without red or green vision can tell apart too (Okabe and Ito).
  private static let colors = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]

  func svg() -> String {
    let points = lines.flatMap(\.points)
    let (x, y) = (axis(points.map(\.x)), axis(points.map(\.y)))
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" \
      font-family="sans-serif" font-size="12" role="img" aria-label="\(title)">
      <rect width="100%" height="100%" fill="#fff"/>
      <text x="\(Self.left)" y="22" font-size="15">\(title)</text>
      \(grid(x, y))
      \(lines.indices.map { path(of: $0, x, y) }.joined(separator: "\n"))
      </svg>

      """
  }

  /// The ticks of one axis, ascending.
  private struct Axis {
    let ticks: [Double]
    let scale: Scale

    /// From 0 at the first tick to 1 at the last.
    func place(_ value: Double) -> Double {
      guard let first = ticks.first, let last = ticks.last, last > first else { return 0 }
      switch scale {
      case .linear: return (value - first) / (last - first)
      case .logarithmic:
        return (log10(max(value, first)) - log10(first)) / (log10(last) - log10(first))
      }
    }
  }

  private func axis(_ values: [Double]) -> Axis {
    let known = scale == .linear ? values : values.filter { $0 > 0 }
    let (low, high) = (known.min() ?? 0, known.max() ?? 1)
    switch scale {
    case .linear:
      let step = Self.step(max(high, 1e-9) / 5)
      let last = Int((high / step).rounded(.up))
      return Axis(ticks: (0...max(last, 1)).map { Double($0) * step }, scale: scale)
    case .logarithmic:
      let first = Int(log10(low).rounded(.down))
      let last = max(Int(log10(high).rounded(.up)), first + 1)
      return Axis(ticks: (first...last).map { pow(10, Double($0)) }, scale: scale)
    }
  }

  /// The next larger number of the kind 1, 2 or 5 times a power of ten.
  private static func step(_ least: Double) -> Double {
    let power = pow(10, log10(least).rounded(.down))
    return [1, 2, 5, 10].map { $0 * power }.first { $0 >= least * 0.999 } ?? 10 * power
  }

  private func grid(_ x: Axis, _ y: Axis) -> String {
    let (end, base) = (Self.width - Self.right, Self.height - Self.bottom)
    let level = y.ticks.map { tick in
      let place = Self.text(vertical(y, tick))
      return """
        <line x1="\(Self.left)" x2="\(end)" y1="\(place)" y2="\(place)" stroke="#ddd"/>
        <text x="\(Self.left - 8)" y="\(place)" dy="0.35em" text-anchor="end">\(Self.label(tick))</text>
        """
    }
    let upright = x.ticks.map { tick in
      let place = Self.text(horizontal(x, tick))
      return """
        <line x1="\(place)" x2="\(place)" y1="\(Self.top)" y2="\(base)" stroke="#eee"/>
        <text x="\(place)" y="\(base + 18)" text-anchor="middle">\(Self.label(tick))</text>
        """
    }
    let middle = Self.text((Self.top + base) / 2)
    return (level + upright).joined(separator: "\n") + """

      <text x="\(Self.text((Self.left + end) / 2))" y="\(Self.height - 10)" \
      text-anchor="middle">\(xLabel)</text>
      <text transform="translate(16 \(middle)) rotate(-90)" text-anchor="middle">\(yLabel)</text>
      """
  }

  private func path(of index: Int, _ x: Axis, _ y: Axis) -> String {
    let (line, color) = (lines[index], Self.colors[index % Self.colors.count])
    let places = line.points.map {
      "\(Self.text(horizontal(x, $0.x))),\(Self.text(vertical(y, $0.y)))"
    }
    let legend = Self.top + 12 + Double(index) * 20
    let start = Self.width - Self.right + 14
    return """
      <polyline points="\(places.joined(separator: " "))" fill="none" stroke="\(color)" \
      stroke-width="1.5"/>
      <line x1="\(start)" x2="\(start + 18)" y1="\(legend)" y2="\(legend)" stroke="\(color)" \
      stroke-width="3"/>
      <text x="\(start + 24)" y="\(legend)" dy="0.35em">\(line.name)</text>
      """
  }

  private func horizontal(_ axis: Axis, _ value: Double) -> Double {
    Self.left + axis.place(value) * (Self.width - Self.left - Self.right)
  }

  private func vertical(_ axis: Axis, _ value: Double) -> Double {
    Self.height - Self.bottom - axis.place(value) * (Self.height - Self.top - Self.bottom)
  }

  private static func label(_ number: Double) -> String {
    number == number.rounded() && number.magnitude < 1e9 ? "\(Int(number))" : "\(number)"
  }

  private static func text(_ number: Double) -> String { String(format: "%.1f", number) }
}
