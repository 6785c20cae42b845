import CommandSupport

/// A bound that a figure of one measure has to keep.
struct Bar: Codable, Hashable, Sendable {
  /// The figure that is bounded.
  enum Figure: String, Codable {
    /// Ours, divided by the reference.
    case ratio
    /// Ours, in its unit.
    case ours
  }

  enum Rule: String, Codable {
    case atMost = "≤"
    /// For quantities of which more is better.
    case atLeast = "≥"
    /// For counts.
    case exactly = "="
  }

  let figure: Figure
  let rule: Rule
  let limit: Double

  static func ratioAtMost(_ limit: Double) -> Bar {
    Bar(figure: .ratio, rule: .atMost, limit: limit)
  }

  static func ratioAtLeast(_ limit: Double) -> Bar {
    Bar(figure: .ratio, rule: .atLeast, limit: limit)
  }

  static func oursAtMost(_ limit: Double) -> Bar {
    Bar(figure: .ours, rule: .atMost, limit: limit)
  }

  static func oursAtLeast(_ limit: Double) -> Bar {
    Bar(figure: .ours, rule: .atLeast, limit: limit)
  }

  static func oursIs(_ limit: Double) -> Bar {
    Bar(figure: .ours, rule: .exactly, limit: limit)
  }

  /// Whether the figures of several runs keep the bound: their median, and each of them where an exact
  /// number is due.
  func holds(for figures: [Double]) -> Bool {
    let median = Distribution(figures).median
    return switch rule {
    case .atMost: median <= limit
    case .atLeast: median >= limit
    case .exactly: figures.allSatisfy { $0 == limit }
    }
  }
}
