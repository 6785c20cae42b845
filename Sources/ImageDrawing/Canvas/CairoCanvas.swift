#if Cairo && canImport(CCanvas)
  import CCanvas
  import Pixels

  /// Cairo's side of a ``Canvas``, drawing into memory that the canvas' maker owns.
  ///
  /// Cairo's ARGB32 is a native-endian word, which on the little-endian machines that Swift runs on
  /// is `.bgra32`. Cairo counts from the top left corner, too. It knows no colour spaces, and is given colours of
  /// the canvas'.
  struct CanvasContext: ~Copyable {
    /// Owned: released by `deinit`, and reachable through this value only, which has one owner.
    fileprivate let context: OpaquePointer
    private let surface: OpaquePointer

    init(
      pixels: UnsafeMutableRawPointer, size: PixelSize, rowBytes: Int, colorSpace: ColorSpace
    ) throws(DrawingError) {
      try CairoLibrary.load()
      guard let width = Int32(exactly: size.width), let height = Int32(exactly: size.height),
        let pitch = Int32(exactly: rowBytes),
        let surface = fic_cairo_image_surface_create_for_data(
          pixels.assumingMemoryBound(to: UInt8.self), CAIRO_FORMAT_ARGB32, width, height, pitch)
      else { throw .canvasFailed("\(size) is too large for Cairo.") }
      let context = fic_cairo_create(surface)
      // On failure Cairo returns inert objects, which hold the status and still have to be
      // released.
      guard let context, fic_cairo_status(context) == CAIRO_STATUS_SUCCESS else {
        let error = Self.error(context.map { fic_cairo_status($0) } ?? CAIRO_STATUS_NO_MEMORY)
        fic_cairo_destroy(context)
        fic_cairo_surface_destroy(surface)
        throw error
      }
      self.context = context
      self.surface = surface
    }

    deinit {
      fic_cairo_destroy(context)
      fic_cairo_surface_destroy(surface)
    }

    func save() { fic_cairo_save(context) }

    func restore() { fic_cairo_restore(context) }

    func concatenate(_ transform: Canvas.Transform) {
      var matrix = transform.matrix
      fic_cairo_transform(context, &matrix)
    }

    func clear(_ path: Canvas.Path?) {
      paint(path, .clear, CAIRO_OPERATOR_CLEAR)
    }

    func fill(
      _ path: Canvas.Path?, _ color: Canvas.Color, _ blendMode: Canvas.BlendMode
    ) {
      paint(path, color, blendMode.cairoOperator)
    }

    func stroke(
      _ path: Canvas.Path, _ lineWidth: Double, _ color: Canvas.Color,
      _ blendMode: Canvas.BlendMode
    ) {
      fic_cairo_save(context)
      append(path)
      fic_cairo_set_source_rgba(context, color.red, color.green, color.blue, color.alpha)
      fic_cairo_set_operator(context, blendMode.cairoOperator)
      fic_cairo_set_line_width(context, lineWidth)
      fic_cairo_stroke(context)
      fic_cairo_restore(context)
    }

    func clip(_ path: Canvas.Path) {
      append(path)
      fic_cairo_clip(context)
    }

    /// Draws `.bgra32` pixels.
    ///
    /// - Parameters:
    ///   - bitmap: The pixels.
    ///   - transform: From its pixels to the canvas'.
    ///   - outline: The part that is drawn, in pixels of the canvas.
    ///   - style: Opacity and blend mode.
    ///   - isSmooth: Whether to interpolate between its pixels.
    func paint(
      _ bitmap: Bitmap, _ transform: Canvas.Transform, within outline: Canvas.Path,
      _ style: Canvas.PaintStyle, isSmooth: Bool
    ) {
      bitmap.withUnsafeBytes { bytes in
        // Cairo only reads a source, though its parameter does not say so.
        let pixels = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
        let image = fic_cairo_image_surface_create_for_data(
          pixels?.assumingMemoryBound(to: UInt8.self), CAIRO_FORMAT_ARGB32,
          Int32(bitmap.size.width), Int32(bitmap.size.height), Int32(bitmap.layout.rowBytes))
        fic_cairo_save(context)
        fic_cairo_identity_matrix(context)
        append(outline)
        fic_cairo_clip(context)
        var matrix = transform.matrix
        fic_cairo_transform(context, &matrix)
        fic_cairo_set_source_surface(context, image, 0, 0)
        let pattern = fic_cairo_get_source(context)
        fic_cairo_pattern_set_filter(
          pattern, isSmooth ? CAIRO_FILTER_BILINEAR : CAIRO_FILTER_NEAREST)
        // The border's pixels go on outside, so that the edge is not mixed with transparency.
        fic_cairo_pattern_set_extend(pattern, CAIRO_EXTEND_PAD)
        fic_cairo_set_operator(context, style.blendMode.cairoOperator)
        fic_cairo_paint_with_alpha(context, style.opacity)
        // Drops the context's reference to the source, whose memory is lent for this call only.
        fic_cairo_restore(context)
        fic_cairo_surface_destroy(image)
      }
    }

    func finish() throws(DrawingError) {
      fic_cairo_surface_flush(surface)
      let status = fic_cairo_status(context)
      guard status == CAIRO_STATUS_SUCCESS else { throw Self.error(status) }
    }

    private func paint(
      _ path: Canvas.Path?, _ color: Canvas.Color, _ mode: cairo_operator_t
    ) {
      fic_cairo_save(context)
      fic_cairo_set_source_rgba(context, color.red, color.green, color.blue, color.alpha)
      fic_cairo_set_operator(context, mode)
      if let path {
        append(path)
        fic_cairo_fill(context)
      } else {
        fic_cairo_paint(context)
      }
      fic_cairo_restore(context)
    }

    /// Makes `path` the context's current path, in current points.
    private func append(_ path: Canvas.Path) {
      fic_cairo_new_path(context)
      for element in path.elements {
        switch element {
        case .move(let point): fic_cairo_move_to(context, point.x, point.y)
        case .line(let point): fic_cairo_line_to(context, point.x, point.y)
        case .curve(let point, let control1, let control2):
          fic_cairo_curve_to(
            context, control1.x, control1.y, control2.x, control2.y, point.x, point.y)
        case .close: fic_cairo_close_path(context)
        }
      }
    }

    private static func error(_ status: cairo_status_t) -> DrawingError {
      guard status != CAIRO_STATUS_NO_MEMORY else { return .outOfMemory }
      return .canvasFailed(String(cString: fic_cairo_status_to_string(status)))
    }
  }

  extension Canvas {
    /// Lends the `cairo_t` that this canvas draws with, for text, gradients and everything else
    /// that Cairo draws.
    ///
    /// Its user space is the canvas' points, its clip the canvas' clip. Colours that Cairo is given are of the
    /// canvas' ``colorSpace``. Changes of the context's
    /// state are undone afterwards; an error of Cairo ends the whole drawing with
    /// ``DrawingError/canvasFailed(_:)``. The context must not be kept.
    public mutating func withNativeContext<Result, Failure: Error>(
      _ body: (_ context: OpaquePointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
      context.save()
      defer { context.restore() }
      return try body(context.context)
    }
  }

  extension Canvas.Transform {
    fileprivate var matrix: cairo_matrix_t {
      cairo_matrix_t(xx: a, yx: b, xy: c, yy: d, x0: tx, y0: ty)
    }
  }

  extension Canvas.BlendMode {
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
      case .hardLight: CAIRO_OPERATOR_HARD_LIGHT
      case .softLight: CAIRO_OPERATOR_SOFT_LIGHT
      case .difference: CAIRO_OPERATOR_DIFFERENCE
      case .exclusion: CAIRO_OPERATOR_EXCLUSION
      case .hue: CAIRO_OPERATOR_HSL_HUE
      case .saturation: CAIRO_OPERATOR_HSL_SATURATION
      case .color: CAIRO_OPERATOR_HSL_COLOR
      case .luminosity: CAIRO_OPERATOR_HSL_LUMINOSITY
      }
    }
  }
#endif
