#if GTK && canImport(CGTK)
  import CGTK
  import FastImageCache
  import Pixels

  /// What a ``CachedImagePaintable`` shows, and draws when GTK asks.
  ///
  /// Touched on GTK's thread only, as the paintable itself is.
  final class PaintableContent {
    /// The paintable's size in points, whatever it shows.
    let width: Double
    let height: Double
    var picture: DrawnPicture?

    init(of format: ImageFormat) {
      width = max((Double(format.size.width) / format.scale).rounded(), 1)
      height = max((Double(format.size.height) / format.scale).rounded(), 1)
    }

    /// Draws into a `GtkSnapshot *`, stretched as the widget stretches the paintable; a smaller image in
    /// the middle.
    func draw(into snapshot: OpaquePointer?, width: Double, height: Double) {
      guard let picture, width > 0, height > 0 else { return }
      let size = picture.image.size
      let scale = picture.image.scale
      let drawn = (
        width: Double(size.width) / scale * width / self.width,
        height: Double(size.height) / scale * height / self.height
      )
      // On whole points, so that an unscaled image is drawn pixel for pixel.
      var bounds = graphene_rect_t(
        origin: graphene_point_t(
          x: Float(((width - drawn.width) / 2).rounded(.down)),
          y: Float(((height - drawn.height) / 2).rounded(.down))),
        size: graphene_size_t(width: Float(drawn.width), height: Float(drawn.height)))
      picture.draw(into: snapshot, &bounds)
    }

    /// What is shown now, as a `GdkPaintable *` that does not change.
    func makeStill() -> OpaquePointer? {
      // A snapshot into which nothing was drawn makes no paintable.
      guard picture != nil else { return gdk_paintable_new_empty(Int32(width), Int32(height)) }
      let snapshot = gtk_snapshot_new()
      draw(into: snapshot, width: width, height: height)
      var size = graphene_size_t(width: Float(width), height: Float(height))
      return gtk_snapshot_free_to_paintable(snapshot, &size)
    }
  }
#endif
