#if GTK && canImport(CGTK)
  import CGTK
  import Pixels

  /// The pixels of a widget, as the window's renderer has drawn them in the last frame.
  struct Screen {
    let size: PixelSize
    /// 0xAARRGGBB, premultiplied.
    private let pixels: [UInt32]

    subscript(x: Int, y: Int) -> UInt32 { pixels[y * size.width + x] }

    /// Draws a widget's own render node, which GTK keeps until the widget is to be drawn anew. So a
    /// widget that was not told of a change shows the old image here too.
    @MainActor init?(of widget: UnsafeMutablePointer<GtkWidget>) {
      guard let texture = Self.makeTexture(of: widget) else { return nil }
      defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
      self.init(texture)
    }

    /// Downloads a texture.
    init(_ texture: OpaquePointer) {
      let size = PixelSize(
        width: Int(gdk_texture_get_width(texture)), height: Int(gdk_texture_get_height(texture)))
      self.size = size
      pixels = Array(unsafeUninitializedCapacity: size.width * size.height) { buffer, count in
        gdk_texture_download(
          texture, UnsafeMutableRawPointer(buffer.baseAddress)?.assumingMemoryBound(to: UInt8.self),
          gsize(size.width * 4))
        count = size.width * size.height
      }
    }

    /// A texture as large as the widget has pixels; the caller's.
    @MainActor static func makeTexture(of widget: UnsafeMutablePointer<GtkWidget>) -> OpaquePointer?
    {
      guard let paintable = gtk_widget_paintable_new(widget) else { return nil }
      defer { g_object_unref(UnsafeMutableRawPointer(paintable)) }
      let scale = Double(gtk_widget_get_scale_factor(widget))
      let width = Double(gtk_widget_get_width(widget)) * scale
      let height = Double(gtk_widget_get_height(widget)) * scale
      guard let native = gtk_widget_get_native(widget),
        let renderer = gtk_native_get_renderer(native), width > 0, height > 0
      else { return nil }
      let snapshot = gtk_snapshot_new()
      gdk_paintable_snapshot(paintable, snapshot, width, height)
      guard let node = gtk_snapshot_free_to_node(snapshot) else { return nil }
      defer { gsk_render_node_unref(node) }
      var viewport = graphene_rect_t(
        origin: graphene_point_t(x: 0, y: 0),
        size: graphene_size_t(width: Float(width), height: Float(height)))
      return gsk_renderer_render_texture(renderer, node, &viewport)
    }
  }

  /// What a place shows.
  enum Sight: Equatable {
    case right
    /// The colour of the list.
    case blank
    case wrong(String)
  }

  extension Screen {
    /// Compares a place with an image, as far as the place is on the screen.
    ///
    /// - Returns: `nil` if nothing of the place is.
    func sight(of image: NumberedImage, _ imageSize: PixelSize, x: Int, y: Int) -> Sight? {
      let columns = max(x, 0)..<max(min(x + imageSize.width, size.width), max(x, 0))
      let rows = max(y, 0)..<max(min(y + imageSize.height, size.height), max(y, 0))
      guard columns.first != nil, let top = rows.first else { return nil }
      // Cells are wider than their images.
      let background = self[0, top]
      var isBlank = true
      var fault: String?
      for row in rows {
        for column in columns {
          let shown = self[column, row]
          if shown != background { isBlank = false }
          let wanted = image.color(x: column - x, y: row - y, of: imageSize)
          if shown != wanted, fault == nil {
            fault =
              "image \(image.number), version \(image.version), at (\(column - x), "
              + "\(row - y)): \(String(shown, radix: 16)) instead of \(String(wanted, radix: 16))"
          }
        }
      }
      guard let fault else { return .right }
      return isBlank ? .blank : .wrong(fault)
    }
  }
#endif
