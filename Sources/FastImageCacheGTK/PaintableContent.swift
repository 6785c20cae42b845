#if GTK && canImport(CGTK)
  import CGTK
  import FastImageCache
  import Pixels

  /// What a ``CachedImagePaintable`` shows, and draws when GTK asks.
  ///
  /// Touched on GTK's thread only, as the paintable itself is.
  final class PaintableContent {
    /// What is drawn while there is no image.
    struct StandIn {
      /// A `GdkPaintable *`.
      let paintable: GObjectReference
      /// In points; `nil` for that of the paintable.
      var size: graphene_size_t?
    }

    /// The paintable's size in points, whatever it shows.
    let size: graphene_size_t
    var drawn: DrawnImage?
    var standIn: StandIn?
    var fit = ContentFit.unscaled

    init(of format: ImageFormat) {
      size = graphene_size_t(
        width: Float(max((Double(format.size.width) / format.scale).rounded(), 1)),
        height: Float(max((Double(format.size.height) / format.scale).rounded(), 1)))
    }

    /// Draws into a `GtkSnapshot *` by the fit.
    func draw(into snapshot: OpaquePointer?, width: Double, height: Double) {
      guard width > 0, height > 0 else { return }
      let room = graphene_size_t(width: Float(width), height: Float(height))
      if let drawn {
        var bounds = place(drawn.image, in: room)
        drawn.draw(into: snapshot, &bounds)
      } else if let standIn {
        draw(standIn, into: snapshot, room)
      }
    }

    private func place(_ image: CachedImage, in room: graphene_size_t) -> graphene_rect_t {
      let natural = graphene_size_t(
        width: Float(Double(image.size.width) / image.scale),
        height: Float(Double(image.size.height) / image.scale))
      guard fit == .unscaled else { return fit.place(natural, in: room) }
      // Stretched as the widget stretches the paintable; a smaller image in the middle.
      return ContentFit.middle(
        natural.scaled((room.width / size.width, room.height / size.height)), of: room)
    }

    private func draw(
      _ standIn: StandIn, into snapshot: OpaquePointer?, _ room: graphene_size_t
    ) {
      let paintable = standIn.paintable.pointer
      let natural =
        standIn.size
        ?? graphene_size_t(
          width: Float(gdk_paintable_get_intrinsic_width(paintable)),
          height: Float(gdk_paintable_get_intrinsic_height(paintable)))
      // A paintable without a size of its own, such as a colour, fills the room.
      var bounds = fit.place(natural.width > 0 && natural.height > 0 ? natural : room, in: room)
      gtk_snapshot_save(snapshot)
      gtk_snapshot_translate(snapshot, &bounds.origin)
      gdk_paintable_snapshot(
        paintable, snapshot, Double(bounds.size.width), Double(bounds.size.height))
      gtk_snapshot_restore(snapshot)
    }

    /// What is shown now, as a `GdkPaintable *` that does not change.
    func makeStill() -> OpaquePointer? {
      let snapshot = gtk_snapshot_new()
      draw(into: snapshot, width: Double(size.width), height: Double(size.height))
      var size = size
      // A snapshot into which nothing was drawn makes no paintable.
      return gtk_snapshot_free_to_paintable(snapshot, &size)
        ?? gdk_paintable_new_empty(Int32(size.width), Int32(size.height))
    }
  }
#endif
