import CGalleryGTK
import FastImageCache
import FastImageCacheGTK

/// The cells of the list, made and filled in one of the ways.
protocol Cells: AnyObject {
  /// A `GtkListItemFactory *`.
  func makeFactory() -> OpaquePointer
  /// Cells in view without an image.
  var blankCount: Int { get }
}

/// Cells of the library.
final class TableCells: Cells {
  private let cache: ImageCache
  private let format: ImageFormat
  private let entity: (Int) -> Photograph?
  private let meter: () -> Meter
  private var images: [UnsafeMutableRawPointer: CachedImageWidget<Photograph>] = [:]

  init(_ stock: Stock, _ way: Way, _ format: ImageFormat, _ meter: @escaping () -> Meter) {
    (cache, self.meter) = (stock.cache, meter)
    self.format = way == .stickers ? .sticker : format
    entity = way == .stickers ? stock.sticker : stock.photograph
  }

  func makeFactory() -> OpaquePointer {
    makeListFactory { [unowned self] item in
      let image = CachedImageWidget<Photograph>(format: format, from: cache)
      images[item.raw] = image
      gtk_list_item_set_child(item, image.widget.widget)
      meter().watch(cell: image.widget.widget)
    } bind: { [unowned self] item, position in
      // An item that is unbound keeps its entity: the library's own factory lets it go on unmap only.
      guard let position else { return }
      images[item.raw]?.entity = entity(position)
    } teardown: { [unowned self] item in
      images[item.raw] = nil
    }
  }

  var blankCount: Int {
    images.values.count { gtk_widget_get_mapped($0.widget.widget) != 0 && !$0.isShowingImage }
  }
}

/// Cells as programs make them without the library: a file is decoded when its cell is mapped.
final class FileCells: Cells {
  private final class Cell {
    let widget = gtk_picture_new()!
    var position: Int?
    var isFilled = false
  }

  private let stock: Stock
  private let way: Way
  private let options: Options
  private let meter: () -> Meter
  private var cells: [UnsafeMutableRawPointer: Cell] = [:]

  init(_ stock: Stock, _ way: Way, _ options: Options, _ meter: @escaping () -> Meter) {
    (self.stock, self.way, self.options, self.meter) = (stock, way, options, meter)
  }

  func makeFactory() -> OpaquePointer {
    makeListFactory { [unowned self] item in
      let cell = Cell()
      cells[item.raw] = cell
      gtk_widget_set_size_request(cell.widget, 200, 200)
      gtk_widget_set_halign(cell.widget, GTK_ALIGN_CENTER)
      gtk_widget_set_valign(cell.widget, GTK_ALIGN_CENTER)
      gtk_picture_set_content_fit(OpaquePointer(cell.widget), GTK_CONTENT_FIT_COVER)
      gtk_list_item_set_child(item, cell.widget)
      if !options.fillsOnBind {
        connect(cell.widget, "map") { [unowned self, unowned cell] _ in fill(cell) }
        connect(cell.widget, "unmap") { [unowned self, unowned cell] _ in show(nil, in: cell) }
      }
      meter().watch(cell: cell.widget)
    } bind: { [unowned self] item, position in
      guard let cell = cells[item.raw] else { return }
      cell.position = position
      if options.fillsOnBind {
        meter().count { self.fill(cell) }
      } else if gtk_widget_get_mapped(cell.widget) != 0 {
        fill(cell)
      }
    } teardown: { [unowned self] item in
      cells[item.raw] = nil
    }
  }

  private func fill(_ cell: Cell) {
    guard let position = cell.position else { return show(nil, in: cell) }
    if way == .thumbnails, options.usesGTKLoader {
      return show(gdk_texture_new_from_filename(stock.thumbnail(position), nil), in: cell)
    }
    let pixbuf: OpaquePointer?
    switch way {
    case .thumbnails: pixbuf = gdk_pixbuf_new_from_file(stock.thumbnail(position), nil)
    case .originals:
      pixbuf = gdk_pixbuf_new_from_file_at_scale(
        stock.photograph(position).file.path, -1, 200, 1, nil)
    case .table, .stickers, .empty: return
    }
    guard let pixbuf else { return show(nil, in: cell) }
    show(gdk_texture_new_for_pixbuf(pixbuf), in: cell)
    g_object_unref(pixbuf.raw)
  }

  /// Takes the reference of the texture.
  private func show(_ texture: OpaquePointer?, in cell: Cell) {
    gtk_picture_set_paintable(OpaquePointer(cell.widget), texture)
    cell.isFilled = texture != nil
    if let texture { g_object_unref(texture.raw) }
  }

  var blankCount: Int {
    way == .empty
      ? 0 : cells.values.count { gtk_widget_get_mapped($0.widget) != 0 && !$0.isFilled }
  }
}

/// A factory of list items that calls closures; `bind` gets no position when the item is unbound.
private func makeListFactory(
  setup: @escaping (OpaquePointer) -> Void, bind: @escaping (OpaquePointer, Int?) -> Void,
  teardown: @escaping (OpaquePointer) -> Void
) -> OpaquePointer {
  let factory = gtk_signal_list_item_factory_new()!
  connect(factory, "setup") { setup(OpaquePointer($0)) }
  connect(factory, "bind") {
    bind(OpaquePointer($0), Int(gtk_list_item_get_position(OpaquePointer($0))))
  }
  connect(factory, "unbind") { bind(OpaquePointer($0), nil) }
  connect(factory, "teardown") { teardown(OpaquePointer($0)) }
  return factory
}
