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
    /// What the widget was told to have at least, in points, where this is a widget's; negative for nothing.
    var request: (width: Int32, height: Int32)?

    init(of format: ImageFormat) {
      size = graphene_size_t(
        width: Float(max((Double(format.size.width) / format.scale).rounded(), 1)),
        height: Float(max((Double(format.size.height) / format.scale).rounded(), 1)))
    }

    /// The size in points that layouts give: in the room of a widget the format's is no lower bound.
    var layoutSize: (width: Int32, height: Int32) {
      let own = (width: Int32(size.width), height: Int32(size.height))
      guard let request, fit != .unscaled else { return own }
      return (
        request.width < 0 ? own.width : max(request.width, 1),
        request.height < 0 ? own.height : max(request.height, 1)
      )
    }

    /// What layouts make a width or a height of, where the other is given.
    var aspectRatio: Double {
      let own = Double(size.width) / Double(size.height)
      guard let request else { return own }
      // None: a `GtkPicture` would make a width of the height of its row, and images are not scaled.
      if fit == .unscaled { return 0 }
      return request.width > 0 && request.height > 0
        ? Double(request.width) / Double(request.height) : own
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
      guard request == nil else { return ContentFit.middle(natural, of: room) }
      // Stretched as another widget stretches the paintable; a smaller image in the middle.
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
