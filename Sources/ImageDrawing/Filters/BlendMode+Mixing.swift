import CResampling

extension Canvas.BlendMode {
  /// What of a colour the mode takes, if it looks at all components together.
  var part: fic_part? {
    switch self {
    case .hue: fic_hue
    case .saturation: fic_saturation
    case .color: fic_color
    case .luminosity: fic_luminosity
    default: nil
    }
  }

  /// One component of solid colours, mixed; ISO 32000, 11.3.5.2. The new one for a mode with a ``part``.
  ///
  /// - Parameters:
  ///   - new: From 0 to 1, as is the old one.
  func mix(_ new: Double, over old: Double) -> Double {
    switch self {
    case .normal, .hue, .saturation, .color, .luminosity: return new
    case .multiply: return old * new
    case .screen: return old + new - old * new
    case .overlay: return Self.hardLight.mix(old, over: new)
    case .darken: return min(old, new)
    case .lighten: return max(old, new)
    case .colorDodge: return old == 0 ? 0 : old >= 1 - new ? 1 : old / (1 - new)
    case .colorBurn: return old == 1 ? 1 : 1 - old >= new ? 0 : 1 - (1 - old) / new
    case .hardLight:
      return new <= 0.5 ? old * 2 * new : Self.screen.mix(2 * new - 1, over: old)
    case .softLight:
      if new <= 0.5 { return old - (1 - 2 * new) * old * (1 - old) }
      let curve = old <= 0.25 ? ((16 * old - 12) * old + 4) * old : old.squareRoot()
      return old + (2 * new - 1) * (curve - old)
    case .difference: return abs(old - new)
    case .exclusion: return old + new - 2 * old * new
    }
  }
}
