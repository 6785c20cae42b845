#if GTK && canImport(CGTK)
  import CGTK
  public import FastImageCache

  /// Makes a `GtkListItemFactory *` whose items are images, for a `GtkGridView` or a `GtkListView`.
  ///
  /// Lists bind many more cells than can be seen. Each image is looked up, loaded and held only while its
  /// cell can be seen, as by ``CachedImageWidget``.
  ///
  /// - Parameters:
  ///   - format: One of the cache's formats.
  ///   - cache: Where images are looked up and loaded.
  ///   - animated: Whether images that move play.
  ///   - entity: Whose image stands at a position of the list; `nil` for none. Asked when the list binds
  ///     a cell, and never later: a list whose model says `items-changed` binds again.
  ///   - alternativeText: What a screen reader says of it; `nil` for decoration.
  ///   - makeCell: Makes a cell for an image, whose properties it may set. Returns the `GtkWidget *` of the cell, with
  ///     the image's widget in it, and what to do when the list binds it to an entity, before the image is looked up.
  ///     By default, the image is the cell.
  /// - Returns: The factory, whose reference is the caller's; a list's constructor takes it over.
  @MainActor public func makeImageFactory<Entity: ImageEntity>(
    format: ImageFormat, from cache: ImageCache, animated: Bool = true,
    entity: @escaping (Int) -> Entity?, alternativeText: @escaping (Entity) -> String?,
    makeCell: @escaping ImageCellMaker<Entity> = { ($0.widget, { _ in }) }
  ) -> OpaquePointer {
    makeImageFactory(
      formats: [format], from: cache, animated: animated, entity: entity,
      alternativeText: alternativeText, makeCell: makeCell)
  }

  /// The same with formats of several scales, of which each cell chooses by its window's scale factor, or by its size
  /// if `makeCell` sets a ``CachedImageWidget/contentFit``.
  ///
  /// - Parameters:
  ///   - formats: Of one size in points and different scales, or of one family; at least one.
  ///   - cache: Where images are looked up and loaded.
  ///   - animated: Whether images that move play.
  ///   - entity: Whose image stands at a position of the list; `nil` for none.
  ///   - alternativeText: What a screen reader says of it; `nil` for decoration.
  ///   - makeCell: Makes a cell for an image, and what to do when the list binds it.
  /// - Returns: The factory, whose reference is the caller's; a list's constructor takes it over.
  @MainActor public func makeImageFactory<Entity: ImageEntity>(
    formats: [ImageFormat], from cache: ImageCache, animated: Bool = true,
    entity: @escaping (Int) -> Entity?, alternativeText: @escaping (Entity) -> String?,
    makeCell: @escaping ImageCellMaker<Entity> = { ($0.widget, { _ in }) }
  ) -> OpaquePointer {
    let cells = ImageCells {
      let image = CachedImageWidget<Entity>(formats: formats, from: cache)
      image.isAnimated = animated
      let cell = makeCell(image)
      return ImageCells.Cell(widget: cell.widget) { position in
        let entity = entity(position)
        image.alternativeText = entity.flatMap(alternativeText)
        // Before the image: a hit calls its `onLoaded` at once.
        cell.bound(entity)
        image.entity = entity
      }
    }
    // GLib ends the process where it has no memory for a factory.
    let factory = gtk_signal_list_item_factory_new().unsafelyUnwrapped
    cells.connect(to: factory)
    return factory
  }

  /// Makes a cell of a list for an image.
  public typealias ImageCellMaker<Entity: ImageEntity> =
    @MainActor (_ image: CachedImageWidget<Entity>) -> (
      widget: OpaquePointer, bound: @MainActor (Entity?) -> Void
    )

  /// Makes and fills the cells of a list.
  ///
  /// Invariants:
  /// 1. The factory's data holds this object, unretained by the handlers, which are disconnected before that goes.
  /// 2. `cells` has the cells of the list's items that are set up. A cell holds its image.
  @MainActor private final class ImageCells {
    struct Cell {
      let widget: OpaquePointer
      let bind: (_ position: Int) -> Void
    }

    private static let attached = AttachedObject<ImageCells>(key: "fast-image-cache-cells")

    private let makeCell: () -> Cell
    private var cells: [OpaquePointer: Cell] = [:]

    init(makeCell: @escaping () -> Cell) { self.makeCell = makeCell }

    func connect(to factory: OpaquePointer) {
      Self.attached.attach(self, to: factory)
      let data = Unmanaged.passUnretained(self).toOpaque()
      FastImageCacheGTK.connect(factory, "setup", to: data) { _, listItem, data in
        ImageCells.withCells(data, listItem) { $0.setUp($1) }
      }
      FastImageCacheGTK.connect(factory, "bind", to: data) { _, listItem, data in
        ImageCells.withCells(data, listItem) { cells, listItem in
          cells.cells[listItem]?.bind(Int(gtk_list_item_get_position(listItem)))
        }
      }
      // Nothing on `unbind`: in most frames a grid takes cells away and gives them back at once, with the
      // same item as a rule. A cell that stays away is unmapped, and lets its image go then.
      FastImageCacheGTK.connect(factory, "teardown", to: data) { _, listItem, data in
        ImageCells.withCells(data, listItem) { $0.cells[$1] = nil }
      }
    }

    private func setUp(_ listItem: OpaquePointer) {
      let cell = makeCell()
      cells[listItem] = cell
      gtk_list_item_set_child(listItem, UnsafeMutablePointer(cell.widget))
    }

    /// Runs a handler's body; GTK calls handlers on the main thread.
    private nonisolated static func withCells(
      _ data: UnsafeMutableRawPointer?, _ listItem: OpaquePointer?,
      _ body: @MainActor (ImageCells, OpaquePointer) -> Void
    ) {
      guard let data, let listItem else { return }
      let cells = Unmanaged<ImageCells>.fromOpaque(data).takeUnretainedValue()
      // The item is GTK's, and touched on this thread only.
      nonisolated(unsafe) let item = listItem
      MainActor.assumeIsolated { body(cells, item) }
    }
  }
#endif
