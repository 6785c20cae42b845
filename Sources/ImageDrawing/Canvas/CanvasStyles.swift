extension Canvas {
  /// How new colours mix with the canvas: the modes of ISO 32000 (PDF), section 11.3.5, which Cairo
  /// and CoreGraphics share.
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
    /// Brightens the canvas to reflect the new colour.
    case colorDodge
    /// Darkens the canvas to reflect the new colour.
    case colorBurn
    /// ``multiply`` or ``screen``, depending on the new colour.
    case hardLight
    /// A gentler ``hardLight``.
    case softLight
    /// The distance between both.
    case difference
    /// A ``difference`` of lower contrast.
    case exclusion
    /// The hue of the new colour, the rest of the canvas.
    case hue
    /// The saturation of the new colour, the rest of the canvas.
    case saturation
    /// The hue and the saturation of the new colour, the luminosity of the canvas.
    case color
    /// The luminosity of the new colour, the rest of the canvas.
    case luminosity
  }

  /// Where pixels come from when a bitmap is drawn at another size.
  public enum Interpolation: String, CaseIterable, Hashable, Sendable, Codable {
    /// Every source pixel counts: smooth when enlarged, without moiré when shrunk.
    case smooth

    /// The nearest source pixel, for pixel art and charts.
    case nearest
  }
}
