#if GTK && canImport(CGTK)
  import CGTK
  import FastImageCache
  import Pixels

  /// An image in the form that a renderer takes at the least cost.
  ///
  /// - GSK's Cairo renderer downloads each texture that can be seen in every frame, which GTK 4.8 does
  ///   pixel by pixel in floating point: 476 µs for 200 x 200 pixels. A Cairo surface needs none of that. A
  ///   recorded drawing refers to it by a raster source: as a plain source Cairo would copy the surface
  ///   when it is let go.
  /// - Other renderers upload a texture once, and would draw a surface to upload it in every frame. The one
  ///   of OpenGL puts small textures into an atlas, and keeps them for the atlas's life. They are copied, so
  ///   that no lease lasts as long.
  final class DrawnImage {
    private enum Form {
      case pattern(OpaquePointer)
      case texture(OpaquePointer)
    }

    /// The longest side of an atlas's entry, in pixels (gsk/gl/gskgliconlibrary.c).
    private static let longestSmallSide = 128

    let image: CachedImage
    private let form: Form

    /// Takes the lease until its own end.
    ///
    /// - Parameter renderer: A `GskRenderer *`; a texture, which each one can draw, where there is none.
    /// - Returns: `nil` if there is no memory.
    init?(_ image: CachedImage, for renderer: OpaquePointer?) {
      self.image = image
      if Self.isCairo(renderer), let surface = image.makeCairoSurface() ?? Self.expanded(image) {
        form = .pattern(Self.makePattern(owning: surface, image.size))
        return
      }
      let isSmall = max(image.size.width, image.size.height) <= Self.longestSmallSide
      guard let texture = isSmall ? image.makeCopiedTexture() : image.makeGdkTexture() else {
        return nil
      }
      form = .texture(texture)
    }

    deinit {
      switch form {
      case .pattern(let pattern): cairo_pattern_destroy(pattern)
      case .texture(let texture): g_object_unref(UnsafeMutableRawPointer(texture))
      }
    }

    /// Whether another image for this renderer would have the same form.
    func fits(_ renderer: OpaquePointer?) -> Bool {
      switch form {
      case .pattern: Self.isCairo(renderer)
      case .texture: !Self.isCairo(renderer)
      }
    }

    /// Draws into a `GtkSnapshot *`.
    func draw(into snapshot: OpaquePointer?, _ bounds: inout graphene_rect_t) {
      switch form {
      case .texture(let texture): gtk_snapshot_append_texture(snapshot, texture, &bounds)
      case .pattern(let pattern):
        let context = gtk_snapshot_append_cairo(snapshot, &bounds)
        defer { cairo_destroy(context) }
        cairo_translate(context, Double(bounds.origin.x), Double(bounds.origin.y))
        // Pixels of the surface are not points: an image for a scale of 2 would be drawn twice as large.
        cairo_scale(
          context, Double(bounds.size.width) / Double(image.size.width),
          Double(bounds.size.height) / Double(image.size.height))
        cairo_set_source(context, pattern)
        cairo_paint(context)
      }
    }

    private static func isCairo(_ renderer: OpaquePointer?) -> Bool {
      guard let renderer else { return false }
      let instance = UnsafeMutableRawPointer(renderer).assumingMemoryBound(to: GTypeInstance.self)
      return g_type_check_instance_is_a(instance, gsk_cairo_renderer_get_type()) != 0
    }

    /// A pattern that holds the surface as long as itself or a drawing recorded from it is there.
    private static func makePattern(
      owning surface: OpaquePointer, _ size: PixelSize
    ) -> OpaquePointer {
      // Without memory, Cairo returns a pattern in an error state, whose callbacks it never calls.
      let pattern = cairo_pattern_create_raster_source(
        UnsafeMutableRawPointer(surface), cairo_surface_get_content(surface), Int32(size.width),
        Int32(size.height)
      ).unsafelyUnwrapped
      guard cairo_pattern_status(pattern) == CAIRO_STATUS_SUCCESS else {
        cairo_surface_destroy(surface)
        return pattern
      }
      cairo_raster_source_pattern_set_acquire(
        pattern, { _, surface, _, _ in surface.map { cairo_surface_reference(OpaquePointer($0)) } },
        { _, _, surface in cairo_surface_destroy(surface) })
      // Each drawing copies the pattern, and finishes its copy.
      cairo_raster_source_pattern_set_copy(pattern) { _, surface, _ in
        if let surface { cairo_surface_reference(OpaquePointer(surface)) }
        return CAIRO_STATUS_SUCCESS
      }
      cairo_raster_source_pattern_set_finish(pattern) { _, surface in
        if let surface { cairo_surface_destroy(OpaquePointer(surface)) }
      }
      return pattern
    }

    /// A copy for the pixel formats and colours that Cairo does not know.
    private static func expanded(_ image: CachedImage) -> OpaquePointer? {
      let size = image.size
      let surface = cairo_image_surface_create(
        image.layout.format.hasAlpha ? CAIRO_FORMAT_ARGB32 : CAIRO_FORMAT_RGB24, Int32(size.width),
        Int32(size.height))
      // A surface without memory has no data.
      guard let data = cairo_image_surface_get_data(surface) else {
        cairo_surface_destroy(surface)
        return nil
      }
      let rowBytes = Int(cairo_image_surface_get_stride(surface))
      image.copy32(
        into: UnsafeMutableRawBufferPointer(start: data, count: rowBytes * size.height),
        rowBytes: rowBytes)
      cairo_surface_mark_dirty(surface)
      return surface
    }
  }
#endif
