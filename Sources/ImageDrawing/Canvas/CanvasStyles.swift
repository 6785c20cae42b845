extension Canvas {
  /// How new colours meet those on the canvas: the modes of ISO 32000 (PDF), section 11.3.5, which
  /// Cairo and CoreGraphics share.
  public enum BlendMode: String, CaseIterable, Hashable, Sendable, Codable {
    /// New over old.
    case normal
    /// The product: at least as dark as both.
    case multiply
    /// The product of the inverses, inverted: at least as bright as both.
    case screen
    /// ``multiply`` where the canvas is dark, ``screen`` where it is bright.
    case overlay
    /// The darker, channel by channel.
    case darken
    /// The brighter, channel by channel.
    case lighten
    /// Brightens the canvas to reflect what is drawn.
    case colorDodge
    /// Darkens the canvas to reflect what is drawn.
    case colorBurn
    /// ``multiply`` or ``screen``, depending on what is drawn.
    case hardLight
    /// A gentler ``hardLight``.
    case softLight
    /// The distance between both.
    case difference
    /// A ``difference`` of lower contrast.
    case exclusion
    /// The hue of what is drawn, the rest of the canvas.
    case hue
    /// The saturation of what is drawn, the rest of the canvas.
    case saturation
    /// The hue and the saturation of what is drawn, the luminosity of the canvas.
    case color
    /// The luminosity of what is drawn, the rest of the canvas.
    case luminosity
  }

  /// Where pixels come from when a bitmap is drawn at another size.
  public enum Interpolation: String, CaseIterable, Hashable, Sendable, Codable {
    /// Every source pixel counts: smooth when enlarged, without moiré when shrunk.
    case smooth

    /// The nearest source pixel, for pixel art and charts.
    case nearest
  }

  /// The ends of a stroked path.
  public enum LineCap: String, CaseIterable, Hashable, Sendable, Codable {
    /// Straight, at the end point.
    case butt
    /// Half a circle around the end point.
    case round
    /// Straight, half a line width behind the end point.
    case square
  }

  /// The corners of a stroked path.
  public enum LineJoin: String, CaseIterable, Hashable, Sendable, Codable {
    /// Pointed, up to ten line widths, and then cut.
    case miter
    /// Round.
    case round
    /// Cut.
    case bevel
  }

  /// Which places a path encloses where its outline crosses itself.
  public enum FillRule: String, CaseIterable, Hashable, Sendable, Codable {
    /// Those that the outline goes around at least once, clockwise and anticlockwise turns cancelling
    /// each other.
    case winding
    /// Those that a line to the outside leaves by an odd number of crossings.
    case evenOdd
  }

  /// The outline's line, as the systems' contexts take it.
  struct Stroke {
    var lineWidth: Double
    var cap: LineCap
    var join: LineJoin
  }
}
