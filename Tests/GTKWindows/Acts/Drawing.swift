#if GTK && canImport(CGTK)
  import CGTK
  import FastImageCache
  import FastImageCacheGTK
  import FastImageCacheTesting
  import Pixels

  extension Act {
    static let styles = Act(
      name: "styles", summary: "each pixel format as a texture and a paintable, byte by byte"
    ) { _, findings in
      for pixelFormat in PixelFormat.allCases {
        let format = ImageFormat(
          name: "style", size: .exact(PixelSize(width: 37, height: 29)), pixelFormat: pixelFormat,
          capacity: 4)
        try checkTexture(format, findings)
        try checkPaintable(format, findings)
      }
      let doubled = ImageFormat(
        name: "doubled", size: .exact(PixelSize(width: 40, height: 30)), scale: 2,
        pixelFormat: .bgrx32)
      try checkPaintable(doubled, findings)
      try checkSmaller(findings)
    }

    private static let entity = NumberedImage(number: 0x5A5A5)

    private static func cache(with format: ImageFormat, of size: PixelSize) throws -> ImageCache {
      try ImageCache.filled(with: [entity], formats: [format]) { _ in try translucent(size) }
    }

    /// The entity's image, whose left half fades.
    private static func translucent(_ size: PixelSize) throws -> Bitmap {
      try Bitmap(size: size, format: .bgra32) { bytes, layout in
        for y in 0..<size.height {
          for x in 0..<size.width {
            let color = entity.color(x: x, y: y, of: size)
            let alpha = min(UInt32(255), UInt32(x * 510 / size.width))
            var pixel = alpha << 24
            for shift: UInt32 in [0, 8, 16] {
              pixel |= (color >> shift & 255) * alpha / 255 << shift
            }
            bytes.storeBytes(
              of: pixel.littleEndian, toByteOffset: y * layout.rowBytes + x * 4, as: UInt32.self)
          }
        }
      }
    }

    /// The pixels as GDK has them, computed by another formula than the library's.
    private static func reference(_ image: CachedImage) -> [[Double]] {
      let layout = image.layout
      return image.withPixels { bytes in
        (0..<layout.size.width * layout.size.height).map { index in
          let start =
            index / layout.size.width * layout.rowBytes
            + index % layout.size.width * layout.format.bytesPerPixel
          let parts = (0..<layout.format.bytesPerPixel).map {
            Double(bytes.unsafeLoad(fromByteOffset: start + $0, as: UInt8.self))
          }
          switch layout.format {
          case .bgra32, .bgrx32: return [parts[3], parts[2], parts[1], parts[0]]
          case .gray8: return [255, parts[0], parts[0], parts[0]]
          case .bgr16:
            let packed = Int(parts[0]) + Int(parts[1]) * 256
            return [255] + [1024, 32, 1].map { Double(packed / $0 % 32) * 255 / 31 }
          }
        }
      }
    }

    /// Whether no channel differs by a whole step.
    private static func matches(_ screen: Screen, _ reference: [[Double]]) -> Bool {
      reference.indices.allSatisfy { index in
        let pixel = screen[index % screen.size.width, index / screen.size.width]
        return zip([24, 16, 8, 0], reference[index]).allSatisfy { shift, wanted in
          abs(Double(pixel >> UInt32(shift) & 255) - wanted) < 1
        }
      }
    }

    @MainActor private static func checkTexture(
      _ format: ImageFormat, _ findings: Findings
    ) throws {
      let cache = try cache(with: format, of: format.size)
      var image = cache.cachedImage(for: entity, format: format)
      guard let reference = image.map(reference), let texture = image?.makeGdkTexture() else {
        return findings.expect(false, "no texture of \(format.pixelFormat)")
      }
      image = nil
      let isCopy = format.pixelFormat == .bgr16 || format.pixelFormat == .gray8
      let held = Loop.wait { await cache.statistics() }.leasedCount
      findings.expect(
        held == (isCopy ? 0 : 1), "a texture of \(format.pixelFormat) holds \(held) leases")
      findings.expect(
        matches(Screen(texture), reference), "a texture of \(format.pixelFormat) is wrong")
      g_object_unref(UnsafeMutableRawPointer(texture))
      let left = Loop.wait { await cache.statistics() }.leasedCount
      findings.expect(left == 0, "a texture of \(format.pixelFormat) leaves \(left) leases")
      findings.count("textures")
    }

    /// By GSK's Cairo renderer, as a surface and as a texture, live and as a still.
    @MainActor private static func checkPaintable(
      _ format: ImageFormat, _ findings: Findings
    ) throws {
      let cache = try cache(with: format, of: format.size)
      guard let image = cache.cachedImage(for: entity, format: format) else {
        return findings.expect(false, "no image of \(format.pixelFormat)")
      }
      let reference = reference(image)
      checkForms(image, format, findings)
      for isKnown in [true, false] {
        let renderer = CairoRenderer()
        let paintable = CachedImagePaintable(format: format)
        paintable.show(image, drawnBy: isKnown ? renderer.pointer : nil)
        let live = renderer.screen(of: paintable.paintable, scale: format.scale)
        let still = gdk_paintable_get_current_image(paintable.paintable)
        paintable.show(nil, drawnBy: renderer.pointer)
        let stillScreen = still.flatMap { renderer.screen(of: $0, scale: format.scale) }
        if let still { g_object_unref(UnsafeMutableRawPointer(still)) }
        for (name, screen) in [("", live), ("still ", stillScreen)] {
          let isRight = screen.map { $0.size == format.size && matches($0, reference) } ?? false
          findings.expect(
            isRight, "\(name)\(format.name) \(format.pixelFormat), renderer known: \(isKnown)")
        }
        let empty = renderer.screen(of: paintable.paintable, scale: format.scale)
        findings.expect(empty == nil, "a paintable that shows nothing draws something")
        checkEmptyStill(of: paintable, findings)
        findings.count("paintables")
      }
    }

    /// An image that stays while the renderer becomes known takes that renderer's form.
    @MainActor private static func checkForms(
      _ image: CachedImage, _ format: ImageFormat, _ findings: Findings
    ) {
      let renderer = CairoRenderer()
      let paintable = CachedImagePaintable(format: format)
      paintable.show(image, drawnBy: nil)
      let unknown = renderer.nodeType(of: paintable.paintable)
      findings.expect(unknown == GSK_TEXTURE_NODE, "no texture for an unknown renderer")
      paintable.show(image, drawnBy: renderer.pointer)
      let known = renderer.nodeType(of: paintable.paintable)
      findings.expect(known == GSK_CAIRO_NODE, "an image kept its form for another renderer")
    }

    @MainActor private static func checkEmptyStill(
      of paintable: CachedImagePaintable, _ findings: Findings
    ) {
      guard let still = gdk_paintable_get_current_image(paintable.paintable) else {
        return findings.expect(false, "a paintable that shows nothing has no still")
      }
      findings.expect(
        gdk_paintable_get_intrinsic_width(still)
          == gdk_paintable_get_intrinsic_width(paintable.paintable),
        "an empty still has another size")
      g_object_unref(UnsafeMutableRawPointer(still))
    }

    /// An image that is smaller than its format stands in the middle.
    @MainActor private static func checkSmaller(_ findings: Findings) throws {
      let format = ImageFormat(
        name: "proportions", size: .fitting(PixelSize(width: 60, height: 40)), pixelFormat: .bgrx32)
      let cache = try cache(with: format, of: PixelSize(width: 20, height: 40))
      guard let image = cache.cachedImage(for: entity, format: format) else {
        return findings.expect(false, "no smaller image")
      }
      let renderer = CairoRenderer()
      let paintable = CachedImagePaintable(format: format)
      paintable.show(image, drawnBy: renderer.pointer)
      let reference = reference(image)
      guard let screen = renderer.screen(of: paintable.paintable, scale: 1) else {
        return findings.expect(false, "nothing is drawn")
      }
      let isRight = (0..<40).allSatisfy { y in
        (0..<60).allSatisfy { x in
          guard (20..<40).contains(x) else { return screen[x, y] == 0 }
          let wanted = reference[y * 20 + x - 20].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
          return screen[x, y] == wanted
        }
      }
      findings.expect(
        isRight && screen.size == format.size, "a smaller image is not in the middle")
    }
  }

  /// GSK's Cairo renderer without a window.
  @MainActor private struct CairoRenderer: ~Copyable {
    let pointer: OpaquePointer

    init() {
      pointer = gsk_cairo_renderer_new().unsafelyUnwrapped
      gsk_renderer_realize(pointer, nil, nil)
    }

    deinit {
      gsk_renderer_unrealize(pointer)
      g_object_unref(UnsafeMutableRawPointer(pointer))
    }

    /// What a paintable draws with, in its own size; `nil` if it draws nothing.
    func nodeType(of paintable: OpaquePointer) -> GskRenderNodeType? {
      let snapshot = gtk_snapshot_new()
      gdk_paintable_snapshot(
        paintable, snapshot, Double(gdk_paintable_get_intrinsic_width(paintable)),
        Double(gdk_paintable_get_intrinsic_height(paintable)))
      guard let node = gtk_snapshot_free_to_node(snapshot) else { return nil }
      defer { gsk_render_node_unref(node) }
      return gsk_render_node_get_node_type(node)
    }

    /// What a paintable draws, in its own size; `nil` if it draws nothing.
    func screen(of paintable: OpaquePointer, scale: Double) -> Screen? {
      let width = Double(gdk_paintable_get_intrinsic_width(paintable)) * scale
      let height = Double(gdk_paintable_get_intrinsic_height(paintable)) * scale
      let snapshot = gtk_snapshot_new()
      gdk_paintable_snapshot(paintable, snapshot, width, height)
      guard let node = gtk_snapshot_free_to_node(snapshot) else { return nil }
      defer { gsk_render_node_unref(node) }
      var bounds = graphene_rect_t(
        origin: graphene_point_t(x: 0, y: 0),
        size: graphene_size_t(width: Float(width), height: Float(height)))
      guard let texture = gsk_renderer_render_texture(pointer, node, &bounds) else { return nil }
      defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
      return Screen(texture)
    }
  }
#endif
