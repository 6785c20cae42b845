@_implementationOnly import CCairo

public enum CGBlendMode: Int32, Sendable {
  case normal, multiply, screen, overlay, darken, lighten, colorDodge, colorBurn, softLight
  case hardLight, difference, exclusion, hue, saturation, color, luminosity, clear, copy, sourceIn
  case sourceOut, sourceAtop, destinationOver, destinationIn, destinationOut, destinationAtop, xor
  case plusDarker, plusLighter
}

public enum CGInterpolationQuality: Int32, Sendable {
  case `default`, none, low, high, medium
}

public enum CGPathFillRule: Int, Sendable { case winding, evenOdd }

/// Draws with Cairo into the caller's memory, from the lower left corner as CoreGraphics does.
///
/// Skipped alpha bytes are drawn as alpha, so they stay 255 where they were.
public final class CGContext {
  private struct State {
    var fill: [Double] = [0, 0, 0, 1]
    var stroke: [Double] = [0, 0, 0, 1]
    var alpha = 1.0
    var interpolation = CGInterpolationQuality.default
  }

  public let data: UnsafeMutableRawPointer?
  public let colorSpace: CGColorSpace?
  private let space: CGColorSpace
  private let cairo: OpaquePointer
  private let base: CGAffineTransform
  private var state = State()
  private var saved: [State] = []

  public init?(
    data: UnsafeMutableRawPointer?, width: Int, height: Int, bitsPerComponent: Int,
    bytesPerRow: Int, space: CGColorSpace, bitmapInfo: UInt32
  ) {
    guard let data, width > 0, height > 0, bytesPerRow >= width * 4, space.model == .rgb,
      let kind = CGImage.Kind(bitsPerComponent, 32, bitmapInfo), kind == .bgra || kind == .bgrx
    else { return nil }
    let surface = cairo_image_surface_create_for_data(
      data.assumingMemoryBound(to: UInt8.self), CAIRO_FORMAT_ARGB32, Int32(width), Int32(height),
      Int32(bytesPerRow))
    defer { cairo_surface_destroy(surface) }
    guard cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS, let cairo = cairo_create(surface)
    else { return nil }
    (self.data, self.cairo, self.space, colorSpace) = (data, cairo, space, space)
    base = CGAffineTransform(a: 1, b: 0, c: 0, d: -1, tx: 0, ty: CGFloat(height))
    concatenate(base)
  }

  deinit { cairo_destroy(cairo) }

  public func flush() { cairo_surface_flush(cairo_get_target(cairo)) }

  // MARK: State

  public var ctm: CGAffineTransform {
    var matrix = cairo_matrix_t()
    cairo_get_matrix(cairo, &matrix)
    return CGAffineTransform(
      a: matrix.xx, b: matrix.yx, c: matrix.xy, d: matrix.yy, tx: matrix.x0, ty: matrix.y0
    ).concatenating(base.inverted())
  }

  public var interpolationQuality: CGInterpolationQuality {
    get { state.interpolation }
    set { state.interpolation = newValue }
  }

  public func saveGState() {
    cairo_save(cairo)
    saved.append(state)
  }
  public func restoreGState() {
    cairo_restore(cairo)
    state = saved.popLast() ?? state
  }
  public func translateBy(x tx: CGFloat, y ty: CGFloat) { cairo_translate(cairo, tx, ty) }
  public func scaleBy(x sx: CGFloat, y sy: CGFloat) { cairo_scale(cairo, sx, sy) }
  public func rotate(by angle: CGFloat) { cairo_rotate(cairo, angle) }
  public func concatenate(_ transform: CGAffineTransform) {
    var matrix = cairo_matrix_t(
      xx: transform.a, yx: transform.b, xy: transform.c, yy: transform.d, x0: transform.tx,
      y0: transform.ty)
    cairo_transform(cairo, &matrix)
  }
  public func setAlpha(_ alpha: CGFloat) { state.alpha = alpha }
  public func setFillColor(_ color: CGColor) { state.fill = color.rgba(in: space) }
  public func setStrokeColor(_ color: CGColor) { state.stroke = color.rgba(in: space) }
  public func setLineWidth(_ width: CGFloat) { cairo_set_line_width(cairo, width) }
  public func setBlendMode(_ mode: CGBlendMode) { cairo_set_operator(cairo, mode.cairoOperator) }

  // MARK: Paths

  public func beginPath() { cairo_new_path(cairo) }
  public func move(to point: CGPoint) { cairo_move_to(cairo, point.x, point.y) }
  public func addLine(to point: CGPoint) { cairo_line_to(cairo, point.x, point.y) }
  public func addCurve(to end: CGPoint, control1: CGPoint, control2: CGPoint) {
    cairo_curve_to(cairo, control1.x, control1.y, control2.x, control2.y, end.x, end.y)
  }
  public func closePath() { cairo_close_path(cairo) }
  public func addRect(_ rect: CGRect) {
    cairo_rectangle(cairo, rect.origin.x, rect.origin.y, rect.size.width, rect.size.height)
  }

  public func fillPath(using rule: CGPathFillRule = .winding) {
    setColor(state.fill, rule)
    cairo_fill(cairo)
  }
  public func strokePath() {
    setColor(state.stroke, .winding)
    cairo_stroke(cairo)
  }
  public func clip(using rule: CGPathFillRule = .winding) {
    setColor(state.fill, rule)
    cairo_clip(cairo)
  }
  public func clip(to rect: CGRect) {
    beginPath()
    addRect(rect)
    clip()
  }
  public func fill(_ rect: CGRect) {
    beginPath()
    addRect(rect)
    fillPath()
  }
  public func clear(_ rect: CGRect) {
    saveGState()
    setBlendMode(.clear)
    fill(rect)
    restoreGState()
  }
  public var boundingBoxOfClipPath: CGRect {
    var (left, top, right, bottom) = (0.0, 0.0, 0.0, 0.0)
    cairo_clip_extents(cairo, &left, &top, &right, &bottom)
    return CGRect(x: left, y: top, width: right - left, height: bottom - top)
  }

  private func setColor(_ rgba: [Double], _ rule: CGPathFillRule) {
    cairo_set_source_rgba(cairo, rgba[0], rgba[1], rgba[2], rgba[3] * state.alpha)
    cairo_set_fill_rule(
      cairo, rule == .winding ? CAIRO_FILL_RULE_WINDING : CAIRO_FILL_RULE_EVEN_ODD)
  }

  // MARK: Images

  public func draw(_ image: CGImage, in rect: CGRect, byTiling: Bool = false) {
    var pixels = image.colorSpace?.converted(bgra: image._bgra, to: space) ?? image._bgra
    pixels.withUnsafeMutableBufferPointer { pixels in
      let surface = cairo_image_surface_create_for_data(
        pixels.baseAddress, CAIRO_FORMAT_ARGB32, Int32(image.width), Int32(image.height),
        Int32(image.width * 4))
      cairo_save(cairo)
      beginPath()
      addRect(rect)
      cairo_clip(cairo)
      // The image's first row is at the top, where y is greatest.
      translateBy(x: rect.origin.x, y: rect.origin.y + rect.size.height)
      scaleBy(
        x: rect.size.width / CGFloat(image.width), y: -rect.size.height / CGFloat(image.height))
      cairo_set_source_surface(cairo, surface, 0, 0)
      let pattern = cairo_get_source(cairo)
      cairo_pattern_set_filter(
        pattern, state.interpolation == .none ? CAIRO_FILTER_NEAREST : CAIRO_FILTER_GOOD)
      // CoreGraphics blends the outermost pixels with nothing.
      cairo_pattern_set_extend(pattern, CAIRO_EXTEND_PAD)
      cairo_paint_with_alpha(cairo, state.alpha)
      cairo_restore(cairo)
      cairo_surface_finish(surface)
      cairo_surface_destroy(surface)
    }
  }
}

extension CGBlendMode {
  fileprivate var cairoOperator: cairo_operator_t {
    switch self {
    case .normal: CAIRO_OPERATOR_OVER
    case .multiply: CAIRO_OPERATOR_MULTIPLY
    case .screen: CAIRO_OPERATOR_SCREEN
    case .overlay: CAIRO_OPERATOR_OVERLAY
    case .darken: CAIRO_OPERATOR_DARKEN
    case .lighten: CAIRO_OPERATOR_LIGHTEN
    case .colorDodge: CAIRO_OPERATOR_COLOR_DODGE
    case .colorBurn: CAIRO_OPERATOR_COLOR_BURN
    case .softLight: CAIRO_OPERATOR_SOFT_LIGHT
    case .hardLight: CAIRO_OPERATOR_HARD_LIGHT
    case .difference: CAIRO_OPERATOR_DIFFERENCE
    case .exclusion: CAIRO_OPERATOR_EXCLUSION
    case .hue: CAIRO_OPERATOR_HSL_HUE
    case .saturation: CAIRO_OPERATOR_HSL_SATURATION
    case .color: CAIRO_OPERATOR_HSL_COLOR
    case .luminosity: CAIRO_OPERATOR_HSL_LUMINOSITY
    case .clear: CAIRO_OPERATOR_CLEAR
    case .copy: CAIRO_OPERATOR_SOURCE
    case .sourceIn: CAIRO_OPERATOR_IN
    case .sourceOut: CAIRO_OPERATOR_OUT
    case .sourceAtop: CAIRO_OPERATOR_ATOP
    case .destinationOver: CAIRO_OPERATOR_DEST_OVER
    case .destinationIn: CAIRO_OPERATOR_DEST_IN
    case .destinationOut: CAIRO_OPERATOR_DEST_OUT
    case .destinationAtop: CAIRO_OPERATOR_DEST_ATOP
    case .xor: CAIRO_OPERATOR_XOR
    case .plusDarker, .plusLighter: CAIRO_OPERATOR_ADD
    }
  }
}
