import Pixels

extension Canvas {
  /// A colour in sRGB with its opacity; a canvas in another ``ColorSpace`` converts it.
  public struct Color: Hashable, Sendable {
    /// The share of red, from 0 to 1, not multiplied by ``alpha``.
    public var red: Double

    /// The share of green, from 0 to 1, not multiplied by ``alpha``.
    public var green: Double

    /// The share of blue, from 0 to 1, not multiplied by ``alpha``.
    public var blue: Double

    /// The opacity, from 0 for invisible to 1 for solid.
    public var alpha: Double

    /// Creates a colour from components between 0 and 1. Others name colours outside of sRGB; when the colour
    /// is used, a component that its canvas' space does not have counts as the nearer bound.
    public init(red: Double, green: Double, blue: Double, alpha: Double = 1) {
      self.red = red
      self.green = green
      self.blue = blue
      self.alpha = alpha
    }

    /// Creates a gray from black, 0, to white, 1.
    public init(white: Double, alpha: Double = 1) {
      self.init(red: white, green: white, blue: white, alpha: alpha)
    }

    /// Creates a colour from Display P3's components between 0 and 1.
    ///
    /// Those of sRGB, which the properties have, may lie outside of 0 to 1.
    public init(displayP3Red red: Double, green: Double, blue: Double, alpha: Double = 1) {
      let color = ColorSpace.displayP3.converted(SIMD3(red, green, blue), to: .sRGB)
      self.init(red: color.x, green: color.y, blue: color.z, alpha: alpha)
    }

    /// The same colour at another opacity.
    public func withAlpha(_ alpha: Double) -> Color {
      Color(red: red, green: green, blue: blue, alpha: alpha)
    }

    /// Nothing at all.
    public static let clear = Color(white: 0, alpha: 0)
    /// All components 0.
    public static let black = Color(white: 0)
    /// All components 1.
    public static let white = Color(white: 1)
    /// sRGB's first primary.
    public static let red = Color(red: 1, green: 0, blue: 0)
    /// sRGB's second primary.
    public static let green = Color(red: 0, green: 1, blue: 0)
    /// sRGB's third primary.
    public static let blue = Color(red: 0, green: 0, blue: 1)

    /// The same colour with the components that it has in a space.
    func converted(to space: ColorSpace) -> Color {
      guard space != .sRGB else { return self }
      let color = ColorSpace.sRGB.converted(SIMD3(red, green, blue), to: space)
      return Color(red: color.x, green: color.y, blue: color.z, alpha: alpha)
    }

    /// This colour as one pixel of ``PixelFormat/bgra32``: multiplied by alpha and rounded.
    var premultiplied: SIMD4<UInt8> {
      func bounded(_ component: Double) -> Double { max(0, min(1, component)) }
      let opacity = bounded(alpha)
      func byte(_ component: Double) -> UInt8 { UInt8((component * 255).rounded()) }
      return SIMD4(
        byte(bounded(blue) * opacity), byte(bounded(green) * opacity),
        byte(bounded(red) * opacity), byte(opacity))
    }
  }
}
