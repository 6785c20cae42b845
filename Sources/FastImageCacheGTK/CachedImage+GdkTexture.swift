#if GTK && canImport(CGTK)
  import CGTK
  public import FastImageCache
  import ImageViewing
  import Pixels
  import TableStore

  extension HashedPlaceholder {
    /// A texture over a copy of the pixels, which have four bytes each, and the fourth of opaque ones is 255.
    func makeStandIn() -> PaintableContent.StandIn? {
      let bytes = bitmap.withUnsafeBytes { g_bytes_new($0.baseAddress, gsize($0.count)) }
      guard let bytes else { return nil }
      defer { g_bytes_unref(bytes) }
      let texture = gdk_memory_texture_new(
        Int32(bitmap.size.width), Int32(bitmap.size.height), GDK_MEMORY_B8G8R8A8_PREMULTIPLIED,
        bytes, gsize(bitmap.layout.rowBytes))
      let points = graphene_size_t(
        width: Float(Double(size.width) / scale), height: Float(Double(size.height) / scale))
      return texture.map {
        PaintableContent.StandIn(paintable: GObjectReference(owning: $0), size: points)
      }
    }
  }

  extension CachedImage {
    /// Makes a `GdkTexture *` over the mapped pixels, without copying them.
    ///
    /// The texture holds this lease until GTK lets go of its bytes. GTK reads them on its own thread. A
    /// renderer that draws by OpenGL uploads the pixels once for each texture, so keep the texture as long
    /// as the image is on screen. That renderer keeps textures whose sides have at most 128 pixels in an
    /// atlas, for many frames after the last one that shows them; ``CachedImagePaintable`` gives it a copy
    /// of these.
    ///
    /// `bgr16` and `gray8` are expanded to four bytes a pixel in private memory, because GTK 4.8 has no
    /// such formats; and images in Display P3 are converted to sRGB, because it takes all textures for that.
    /// Such a texture needs no lease. A window shows no more colours than sRGB's, so a format in sRGB is the better
    /// one for GTK.
    ///
    /// - Returns: The texture, which the caller releases with `g_object_unref`; `nil` if there is no memory.
    public func makeGdkTexture() -> OpaquePointer? {
      guard colorSpace == .sRGB else { return makeCopiedTexture() }
      return switch layout.format {
      case .bgra32, .bgrx32: texture(over: leasedBytes(), rowBytes: layout.rowBytes)
      case .bgr16, .gray8: makeCopiedTexture()
      }
    }

    /// Makes a `GdkTexture *` over a copy in private memory, of four bytes a pixel, which needs no lease.
    func makeCopiedTexture() -> OpaquePointer? {
      texture(over: copiedBytes(), rowBytes: size.width * 4)
    }

    // The fourth byte of each pixel without alpha is 255, so that the format with alpha means the same.
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

    private func copiedBytes() -> OpaquePointer? {
      let byteCount = size.width * 4 * size.height
      guard let copy = g_try_malloc(gsize(byteCount)) else { return nil }
      copy32(
        into: UnsafeMutableRawBufferPointer(start: copy, count: byteCount), rowBytes: size.width * 4
      )
      return g_bytes_new_take(copy, gsize(byteCount))
    }
  }
#endif
