#if GTK && canImport(CGTK)
  import CGTK

  /// The GObject class of paintables, registered with GLib when the first one is made.
  ///
  /// Invariants:
  /// 1. An instance is a `GObject` with one pointer behind its fields.
  /// 2. That pointer holds one reference of a ``PaintableContent`` from the instance's making to its
  ///    finalisation.
  enum PaintableClass {
    static func makeInstance(of content: PaintableContent) -> OpaquePointer {
      // GLib ends the process where it has no memory for an object.
      let object = g_object_new_with_properties(type, 0, nil, nil)
      let instance = UnsafeMutableRawPointer(object.unsafelyUnwrapped)
      field(of: instance).pointee = Unmanaged.passRetained(content).toOpaque()
      return OpaquePointer(instance)
    }

    private typealias Field = UnsafeMutablePointer<UnsafeMutableRawPointer?>

    private static func field(of instance: UnsafeMutableRawPointer) -> Field {
      (instance + MemoryLayout<GObject>.size)
        .assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    }

    private static func content(of paintable: OpaquePointer?) -> PaintableContent? {
      guard let paintable, let held = field(of: UnsafeMutableRawPointer(paintable)).pointee else {
        return nil
      }
      // By invariant 2.
      return Unmanaged<PaintableContent>.fromOpaque(held).takeUnretainedValue()
    }

    private static let type: GType = {
      let size = MemoryLayout<GObject>.size + MemoryLayout<UnsafeMutableRawPointer?>.size
      let type = g_type_register_static_simple(
        g_object_get_type(), "FastImageCachePaintable", guint(MemoryLayout<GObjectClass>.size),
        { own, _ in
          own?.assumingMemoryBound(to: GObjectClass.self).pointee.finalize = finalize
        }, guint(size), nil, GTypeFlags(0))
      var face = GInterfaceInfo(
        interface_init: { face, _ in
          guard let face else { return }
          fill(&face.assumingMemoryBound(to: GdkPaintableInterface.self).pointee)
        }, interface_finalize: nil, interface_data: nil)
      g_type_add_interface_static(type, gdk_paintable_get_type(), &face)
      return type
    }()

    private static let finalize: @convention(c) (UnsafeMutablePointer<GObject>?) -> Void = {
      guard let object = $0 else { return }
      let field = field(of: UnsafeMutableRawPointer(object))
      if let held = field.pointee { Unmanaged<PaintableContent>.fromOpaque(held).release() }
      field.pointee = nil
      let parent = g_type_class_peek(g_object_get_type())?
        .assumingMemoryBound(to: GObjectClass.self)
      parent?.pointee.finalize(object)
    }

    private static func fill(_ face: inout GdkPaintableInterface) {
      face.snapshot = { paintable, snapshot, width, height in
        PaintableClass.content(of: paintable)?.draw(into: snapshot, width: width, height: height)
      }
      face.get_current_image = { PaintableClass.content(of: $0)?.makeStill() }
      face.get_flags = {
        // A widget's follows its request and its fit.
        PaintableClass.content(of: $0)?.request == nil
          ? GDK_PAINTABLE_STATIC_SIZE : GdkPaintableFlags(0)
      }
      face.get_intrinsic_width = { PaintableClass.content(of: $0)?.layoutSize.width ?? 0 }
      face.get_intrinsic_height = { PaintableClass.content(of: $0)?.layoutSize.height ?? 0 }
      face.get_intrinsic_aspect_ratio = { PaintableClass.content(of: $0)?.aspectRatio ?? 0 }
    }
  }
#endif
