#if GTK && canImport(CGTK)
  import CGTK
  import FastImageCache
  import Pixels

  /// A picture in the form that a renderer takes at the least cost.
  ///
  /// - GSK's Cairo renderer downloads each texture that can be seen in every frame, which GTK 4.8 does
  ///   pixel by pixel in floating point: 476 µs for 200 x 200 pixels. A Cairo surface is drawn in 7 µs.
  /// - Other renderers upload a texture once, and would draw a surface to upload it in every frame.
  final class DrawnPicture {
    private enum Form {
      case surface(OpaquePointer)
      case texture(OpaquePointer)
    }

    let image: CachedImage
    private let form: Form

    /// Takes the lease until its own end.
    ///
    /// - Parameter renderer: A `GskRenderer *`; a texture, which each one can draw, where there is none.
    /// - Returns: `nil` if there is no memory.
    init?(_ image: CachedImage, for renderer: OpaquePointer?) {
      self.image = image
      let isCairo = renderer.map { renderer in
        let instance = UnsafeMutableRawPointer(renderer).assumingMemoryBound(to: GTypeInstance.self)
        return g_type_check_instance_is_a(instance, gsk_cairo_renderer_get_type()) != 0
      }
      if isCairo == true, let surface = image.makeCairoSurface() ?? Self.expanded(image) {
        form = .surface(surface)
      } else if let texture = image.makeGdkTexture() {
        form = .texture(texture)
      } else {
        return nil
      }
    }

    deinit {
      switch form {
      case .surface(let surface): cairo_surface_destroy(surface)
      case .texture(let texture): g_object_unref(UnsafeMutableRawPointer(texture))
      }
    }

    /// Draws into a `GtkSnapshot *`.
    func draw(into snapshot: OpaquePointer?, _ bounds: inout graphene_rect_t) {
      switch form {
      case .texture(let texture): gtk_snapshot_append_texture(snapshot, texture, &bounds)
      case .surface(let surface):
        let context = gtk_snapshot_append_cairo(snapshot, &bounds)
        defer { cairo_destroy(context) }
        cairo_translate(context, Double(bounds.origin.x), Double(bounds.origin.y))
        // Pixels of the surface are not points: a picture for a scale of 2 would be drawn twice as large.
        cairo_scale(
          context, Double(bounds.size.width) / Double(image.size.width),
          Double(bounds.size.height) / Double(image.size.height))
        cairo_set_source_surface(context, surface, 0, 0)
        cairo_paint(context)
      }
    }

    /// A copy for the pixel formats that Cairo does not know.
    private static func expanded(_ image: CachedImage) -> OpaquePointer? {
      let size = image.size
      let surface = cairo_image_surface_create(
        CAIRO_FORMAT_RGB24, Int32(size.width), Int32(size.height))
      let rowBytes = Int(cairo_image_surface_get_stride(surface))
      // A surface without memory has no data.
      if let data = cairo_image_surface_get_data(surface) {
        let target = UnsafeMutableRawBufferPointer(start: data, count: rowBytes * size.height)
        if image.expand(into: target, rowBytes: rowBytes) {
          cairo_surface_mark_dirty(surface)
          return surface
        }
      }
      cairo_surface_destroy(surface)
      return nil
    }
  }
#endif
