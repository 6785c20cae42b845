#if GTK && canImport(CGTK)
  import CGTK
  public import FastImageCache
  import Pixels
  import TableStore

  extension CachedImage {
    /// Makes a `GdkTexture *` over the mapped pixels, without copying them.
    ///
    /// The texture holds this lease until GTK lets go of its bytes. GTK reads them on its own thread. A
    /// renderer that draws by OpenGL uploads the pixels once for each texture, so keep the texture as long
    /// as the picture is on screen.
    ///
    /// `bgr16` and `gray8` are expanded to four bytes a pixel in private memory, because GTK 4.8 has no
    /// such formats. That texture needs no lease.
    ///
    /// - Returns: The texture, which the caller releases with `g_object_unref`; `nil` if there is no memory.
    public func makeGdkTexture() -> OpaquePointer? {
      switch layout.format {
      case .bgra32, .bgrx32: texture(over: leasedBytes(), rowBytes: layout.rowBytes)
      // The fourth byte of each pixel is 255, so that the format with alpha means the same.
      case .bgr16, .gray8: texture(over: expandedBytes(), rowBytes: size.width * 4)
      }
    }

    private func texture(over bytes: OpaquePointer?, rowBytes: Int) -> OpaquePointer? {
      guard let bytes else { return nil }
      defer { g_bytes_unref(bytes) }
      return gdk_memory_texture_new(
        Int32(size.width), Int32(size.height), GDK_MEMORY_B8G8R8A8_PREMULTIPLIED, bytes,
        gsize(rowBytes))
    }

    private func leasedBytes() -> OpaquePointer? {
      // The bytes keep `entry`, and with it the mapping, until they are let go.
      guard let address = entry.pixels.baseAddress else { return nil }
      return g_bytes_new_with_free_func(
        address, gsize(layout.byteCount),
        { lease in
          if let lease { Unmanaged<TableEntry>.fromOpaque(lease).release() }
        }, Unmanaged.passRetained(entry).toOpaque())
    }

    private func expandedBytes() -> OpaquePointer? {
      let byteCount = size.width * 4 * size.height
      guard let copy = g_try_malloc(gsize(byteCount)) else { return nil }
      let target = UnsafeMutableRawBufferPointer(start: copy, count: byteCount)
      guard expand(into: target, rowBytes: size.width * 4) else {
        g_free(copy)
        return nil
      }
      return g_bytes_new_take(copy, gsize(byteCount))
    }
  }
#endif
