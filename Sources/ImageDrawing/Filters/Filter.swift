extension Drawing {
  /// A change of the pixels that a drawing has made, before they are stored.
  ///
  /// ```swift
  /// let backdrop = Drawing.aspectFill.filtered([.blur(radius: 8), .saturation(0.6), .brightness(0.8)])
  /// ```
  ///
  /// A filter is paid for once, with the miss; a hit on the image costs what any hit costs. It works on all pixels of
  /// the image, in the format's colour space, and makes the same bytes on all platforms. Saturation, brightness,
  /// contrast and sepia are those of [CSS](https://www.w3.org/TR/filter-effects-1/). A number below 0 counts as 0, a
  /// factor above 1000 as 1000. Where a number is neutral, or is none (NaN), the pixels stay as they are.
  @nonexhaustive public enum Filter: Hashable, Sendable {
    /// The side that is exchanged for its opposite.
    public enum Axis: String, CaseIterable, Hashable, Sendable, Codable {
      /// Left and right.
      case horizontal
      /// Top and bottom.
      case vertical
    }

    /// Blurs nearly as a Gaussian does.
    ///
    /// Three passes with a box of fractional width, which together have the variance of the Gaussian (Gwosdek and
    /// others, *Theoretical Foundations of Gaussian Convolution by Extended Box Filtering*, 2011). Beyond an edge of
    /// the image lies its outermost pixel. The time does not depend on the radius.
    ///
    /// - Parameter radius: The standard deviation in points, as in CSS and Core Image; 0 is neutral. At most the
    ///   image's longer side is used.
    case blur(radius: Double)

    /// Lays a colour over the image, and keeps the image's transparency.
    ///
    /// - Parameters:
    ///   - color: Its alpha says how much; 0 is neutral.
    ///   - blendMode: How its colour mixes. The normal mode turns an icon into that colour; `.color` and `.multiply`
    ///     leave the image's light and dark.
    case tint(Canvas.Color, blendMode: Canvas.BlendMode = .normal)

    /// Moves colours away from gray: 0 is gray, 1 is neutral.
    case saturation(Double)

    /// Multiplies colours: 0 is black, 1 is neutral, 2 is twice as bright.
    case brightness(Double)

    /// Moves colours away from middle gray: 0 is middle gray, 1 is neutral.
    case contrast(Double)

    /// Turns colours brown, from 0, which is neutral, to 1.
    case sepia(Double)

    /// Draws a frame inside the image's rectangle, over the image.
    ///
    /// It has square corners, whatever the image has; a ring is the work of ``Drawing/custom(_:)``.
    ///
    /// - Parameters:
    ///   - width: In points, rounded to whole pixels, and at least one; 0 is neutral.
    ///   - color: May be partly transparent.
    case border(width: Double, color: Canvas.Color)

    /// Mirrors the image.
    case flip(Axis)

    /// Whether no pixel changes.
    var isNeutral: Bool {
      switch self {
      case .blur(let radius): !(radius > 0)
      case .tint(let color, _): !(color.alpha > 0)
      case .saturation(let factor), .brightness(let factor), .contrast(let factor):
        factor.isNaN || factor == 1
      case .sepia(let part): !(part > 0)
      case .border(let width, let color): !(width > 0 && color.alpha > 0)
      case .flip: false
      }
    }
  }

  /// This drawing with filters for its result, applied in their order.
  ///
  /// Tables do not know how an image was drawn: when filters change, so must the entity's
  /// `versionID(for:)` or the format's `revision`, or images that are stored already stay as they are.
  public func filtered(_ filters: [Filter]) -> Drawing {
    var drawing = self
    drawing.filters += filters
    return drawing
  }
}
