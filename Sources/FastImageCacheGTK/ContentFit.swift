#if GTK && canImport(CGTK)
  import CGTK

  /// How a ``CachedImageWidget`` draws an image into its room, and its placeholder likewise.
  public enum ContentFit: Sendable {
    /// Pixel for pixel, in the middle. The widget has the size of its format in points. A larger placeholder is made
    /// smaller.
    ///
    /// Drawing an image in another size takes three times as long.
    case unscaled

    /// As large as the whole image has room.
    case contain

    /// As small as leaves no part of the room empty. What does not fit is cut off.
    case cover

    /// As wide and as high as the room, whatever the image's proportions are.
    case stretch

    /// Like ``contain``, and never larger than the image is by itself.
    case scaleDown
  }

  extension ContentFit {
    /// Where something of a size stands in a room, both in points.
    func place(_ size: graphene_size_t, in room: graphene_size_t) -> graphene_rect_t {
      let (x, y) = (room.width / size.width, room.height / size.height)
      let scale: (x: Float, y: Float) =
        switch self {
        case .contain: (min(x, y), min(x, y))
        case .cover: (max(x, y), max(x, y))
        case .stretch: (x, y)
        case .unscaled, .scaleDown: (min(x, y, 1), min(x, y, 1))
        }
      return Self.middle(size.scaled(scale), of: room)
    }

    /// On whole points, so that an unscaled image is drawn pixel for pixel.
    static func middle(_ size: graphene_size_t, of room: graphene_size_t) -> graphene_rect_t {
      graphene_rect_t(
        origin: graphene_point_t(
          x: ((room.width - size.width) / 2).rounded(.down),
          y: ((room.height - size.height) / 2).rounded(.down)), size: size)
    }
  }

  extension graphene_size_t {
    func scaled(_ scale: (x: Float, y: Float)) -> graphene_size_t {
      graphene_size_t(width: width * scale.x, height: height * scale.y)
    }
  }
#endif
