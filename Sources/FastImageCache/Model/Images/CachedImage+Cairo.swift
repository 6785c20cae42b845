#if Cairo && canImport(CCanvas)
  import CCanvas
  import ImageDrawing
  import Pixels
  import TableStore

  extension CachedImage {
    /// Makes a `cairo_surface_t` over the mapped pixels, without copying them.
    ///
    /// The surface holds this lease until its destruction. Use it as a source only: the pixels are
    /// mapped for reading, and drawing onto them ends the process.
    ///
    /// - Returns: The surface, which the caller releases with `cairo_surface_destroy`; `nil` for
    ///   the pixel formats that Cairo does not know, `bgr16` and `gray8`, for images in Display P3, since Cairo
    ///   knows no colour spaces and what shows a surface takes it for sRGB, and on a system without Cairo.
    public func makeCairoSurface() -> OpaquePointer? {
      // Without the library the caller could neither use nor release a surface.
      guard colorSpace == .sRGB, (try? CairoLibrary.load()) != nil else { return nil }
      let format: cairo_format_t
      switch layout.format {
      case .bgra32: format = CAIRO_FORMAT_ARGB32
      case .bgrx32: format = CAIRO_FORMAT_RGB24
      case .bgr16, .gray8: return nil
      }
      guard let address = entry.pixels.baseAddress else { return nil }
      // Cairo asks for memory that it may write to; of a source it only reads. The surface's user data
      // holds the lease that keeps the memory.
      let pixels = UnsafeMutableRawPointer(mutating: address)
      let surface = fic_cairo_image_surface_create_for_data(
        pixels.assumingMemoryBound(to: UInt8.self), format, Int32(size.width), Int32(size.height),
        Int32(layout.rowBytes))
      let lease = Unmanaged.passRetained(entry)
      let status = fic_cairo_surface_set_user_data(surface, leaseKey.address, lease.toOpaque()) {
        if let lease = $0 { Unmanaged<TableEntry>.fromOpaque(lease).release() }
      }
      guard status == CAIRO_STATUS_SUCCESS,
        fic_cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS
      else {
        // Destroying the surface releases a lease that it has taken over.
        if status != CAIRO_STATUS_SUCCESS { lease.release() }
        fic_cairo_surface_destroy(surface)
        return nil
      }
      return surface
    }
  }

  /// An address that names this library's user data.
  ///
  /// `@unchecked Sendable` is safe: the memory is never read or written.
  private struct LeaseKey: @unchecked Sendable {
    let address = UnsafeMutablePointer<cairo_user_data_key_t>.allocate(capacity: 1)
  }

  private let leaseKey = LeaseKey()
#endif
