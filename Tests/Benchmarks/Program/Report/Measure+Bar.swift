import CommandSupport

extension Measure {
  /// A bound that a figure of one measure has to keep.
  struct Bar: Hashable, Sendable {
    /// The figure that is bounded.
    enum Figure: String, Sendable, Decodable {
      /// Ours, divided by the reference.
      case ratio
      /// The reference, divided by ours: how many times faster ours is.
      case gain
      /// Ours, in its unit.
      case ours
    }

    enum Rule: String, Sendable, Decodable {
      case atMost = "at most"
      case atLeast = "at least"
      case exactly
    }

    let figure: Figure
    let rule: Rule
    let limit: Double

    static func ratioAtMost(_ limit: Double) -> Bar {
      Bar(figure: .ratio, rule: .atMost, limit: limit)
    }

    /// For quantities of which more is better.
    static func ratioAtLeast(_ limit: Double) -> Bar {
      Bar(figure: .ratio, rule: .atLeast, limit: limit)
    }

    static func gainAtLeast(_ limit: Double) -> Bar {
      Bar(figure: .gain, rule: .atLeast, limit: limit)
    }

    static func oursAtMost(_ limit: Double) -> Bar {
      Bar(figure: .ours, rule: .atMost, limit: limit)
    }

    /// For quantities of which more is better.
    static func oursAtLeast(_ limit: Double) -> Bar {
      Bar(figure: .ours, rule: .atLeast, limit: limit)
    }

    /// For counts.
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

    /// The bar as text: `<= 1.1 x`, `>= 20 x gain`, `<= 5 ms`.
    func text(unit: String) -> String {
      let sign =
        switch rule {
        case .atMost: "<="
        case .atLeast: ">="
        case .exactly: "="
        }
      let suffix =
        switch figure {
        case .ratio: "x"
        case .gain: "x gain"
        case .ours: unit
        }
      let number = limit == limit.rounded() ? "\(Int(limit))" : "\(limit)"
      return "\(sign) \(number) \(suffix)"
    }
  }
}
