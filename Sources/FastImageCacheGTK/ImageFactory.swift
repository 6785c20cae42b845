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
  ///   - entity: Whose image stands at a position of the list; `nil` for none. Asked when the list binds
  ///     a cell, and never later: a list whose model says `items-changed` binds again.
  ///   - alternativeText: What a screen reader says of it; `nil` for decoration.
  /// - Returns: The factory, whose reference is the caller's; a list's constructor takes it over.
  @MainActor public func makeImageFactory<Entity: ImageEntity>(
    format: ImageFormat, from cache: ImageCache, entity: @escaping (Int) -> Entity?,
    alternativeText: @escaping (Entity) -> String?
  ) -> OpaquePointer {
    makeImageFactory(
      formats: [format], from: cache, entity: entity, alternativeText: alternativeText)
  }

  /// The same with formats of several scales, of which each cell chooses by its window's scale factor.
  ///
  /// - Parameters:
  ///   - formats: Of one size in points and different scales; at least one.
  ///   - cache: Where images are looked up and loaded.
  ///   - entity: Whose image stands at a position of the list; `nil` for none.
  ///   - alternativeText: What a screen reader says of it; `nil` for decoration.
  /// - Returns: The factory, whose reference is the caller's; a list's constructor takes it over.
  @MainActor public func makeImageFactory<Entity: ImageEntity>(
    formats: [ImageFormat], from cache: ImageCache, entity: @escaping (Int) -> Entity?,
    alternativeText: @escaping (Entity) -> String?
  ) -> OpaquePointer {
    let cells = PictureCells(formats: formats, cache: cache) { position in
      entity(position).map { (entity: $0, text: alternativeText($0)) }
    }
    // GLib ends the process where it has no memory for a factory.
    let factory = gtk_signal_list_item_factory_new().unsafelyUnwrapped
    cells.connect(to: factory)
    return factory
  }

  /// Makes and fills the cells of a list.
  ///
  /// Invariant: the factory's data holds this object, unretained by the handlers, which are disconnected
  /// before that goes.
  @MainActor private final class PictureCells {
    typealias Item = (entity: any ImageEntity, text: String?)

    private static let attached = AttachedObject<PictureCells>(key: "fast-image-cache-cells")

    private let formats: [ImageFormat]
    private let cache: ImageCache
    private let item: (Int) -> Item?

    init(formats: [ImageFormat], cache: ImageCache, item: @escaping (Int) -> Item?) {
      (self.formats, self.cache, self.item) = (formats, cache, item)
    }

    func connect(to factory: OpaquePointer) {
      Self.attached.attach(self, to: factory)
      let data = Unmanaged.passUnretained(self).toOpaque()
      FastImageCacheGTK.connect(factory, "setup", to: data) { _, listItem, data in
        PictureCells.withCells(data, listItem) { $0.setUp($1) }
      }
      FastImageCacheGTK.connect(factory, "bind", to: data) { _, listItem, data in
        PictureCells.withCells(data, listItem) { $0.bind($1) }
      }
      // Nothing on `unbind`: in most frames a grid takes cells away and gives them back at once, with the
      // same item as a rule. A cell that stays away is unmapped, and lets its image go then.
    }

    private func setUp(_ listItem: OpaquePointer) {
      gtk_list_item_set_child(
        listItem, UnsafeMutablePointer(VisiblePicture.makeWidget(formats, cache)))
    }

    private func bind(_ listItem: OpaquePointer) {
      let item = item(Int(gtk_list_item_get_position(listItem)))
      guard let picture = picture(of: listItem) else { return }
      picture.alternativeText = item?.text
      picture.entity = item?.entity
    }

    private func picture(of listItem: OpaquePointer) -> VisiblePicture? {
      gtk_list_item_get_child(listItem).flatMap { VisiblePicture.of(OpaquePointer($0)) }
    }

    /// Runs a handler's body; GTK calls handlers on the main thread.
    private nonisolated static func withCells(
      _ data: UnsafeMutableRawPointer?, _ listItem: OpaquePointer?,
      _ body: @MainActor (PictureCells, OpaquePointer) -> Void
    ) {
      guard let data, let listItem else { return }
      let cells = Unmanaged<PictureCells>.fromOpaque(data).takeUnretainedValue()
      // The item is GTK's, and touched on this thread only.
      nonisolated(unsafe) let item = listItem
      MainActor.assumeIsolated { body(cells, item) }
    }
  }
#endif
