import CGTK
import FastImageCache
import FastImageCacheGTK
import Foundation

// A browser of photographs: a grid with names, and a page for one photograph, with zoom.

let folder = URL(filePath: CommandLine.arguments.dropFirst().first ?? "/usr/share/backgrounds")
let photos = try FileManager.default.contentsOfDirectory(
  at: folder, includingPropertiesForKeys: [.contentModificationDateKey]
).filter { ["jpg", "jpeg", "png", "webp"].contains($0.pathExtension.lowercased()) }
  .sorted { $0.path.localizedStandardCompare($1.path) == .orderedAscending }.map(Photo.init)
let formats = [("cell", 200, 150), ("screen", 1600, 1200), ("full", 6400, 4800)].map {
  ImageFormat(
    name: $0, family: "photo", size: .fitting(PixelSize(width: $1, height: $2)),
    pixelFormat: .bgrx32, capacity: .bytes(512 << 20))
}
// Before the window opens: its first frame has the images of an earlier session.
let cache = try ImageCache.open(namespace: "browser", formats: formats)

gtk_init()
let window = UnsafeMutablePointer<GtkWindow>(OpaquePointer(gtk_window_new()!))
let stack = OpaquePointer(gtk_stack_new()!)
let gridPage = gtk_scrolled_window_new()!
let photoPage = gtk_scrolled_window_new()!
let names = gtk_string_list_new(nil)
for photo in photos { gtk_string_list_append(names, photo.name) }
let selection = gtk_single_selection_new(names)!
let image = CachedImageWidget<Photo>(family: "photo", from: cache)
let neighbours = PrefetchWindow<Photo>(cache, format: formats[1])
let adjustments = [
  gtk_scrolled_window_get_hadjustment(OpaquePointer(photoPage))!,
  gtk_scrolled_window_get_vadjustment(OpaquePointer(photoPage))!,
]
var (zoom, positionBeforeDrag) = (1.0, [0.0, 0.0])

for page in [gridPage, photoPage] { gtk_stack_add_child(stack, page) }
makeGrid()
makePhotoPage()
connect(selection, "notify::selected", { update() } as Handler)
update()
gtk_window_set_default_size(window, 1100, 800)
gtk_window_set_child(window, stack.widget)
gtk_window_present(window)
while g_list_model_get_n_items(gtk_window_get_toplevels()) > 0 { g_main_context_iteration(nil, 1) }

func makeGrid() {
  let missing = gtk_icon_theme_lookup_icon(
    gtk_icon_theme_get_for_display(gdk_display_get_default()), "image-missing", nil, 48, 1,
    GTK_TEXT_DIR_NONE, GtkIconLookupFlags(0))
  let factory = makeImageFactory(
    format: formats[0], from: cache, entity: { photos[$0] }, alternativeText: { $0.name },
    makeCell: { image in
      image.failureImage = missing
      let cell = OpaquePointer(gtk_box_new(GTK_ORIENTATION_VERTICAL, 6)!)
      let name = OpaquePointer(gtk_label_new(nil)!)
      gtk_label_set_ellipsize(name, PANGO_ELLIPSIZE_MIDDLE)
      gtk_label_set_max_width_chars(name, 20)
      gtk_box_append(UnsafeMutablePointer(cell), image.widget.widget)
      gtk_box_append(UnsafeMutablePointer(cell), name.widget)
      return (cell, { photo in gtk_label_set_text(name, photo?.name ?? "") })
    })
  let grid = OpaquePointer(gtk_grid_view_new(selection, factory)!)
  gtk_scrolled_window_set_child(OpaquePointer(gridPage), grid.widget)
  connect(grid, "activate", { show(photoPage) } as Handler)
}

func makePhotoPage() {
  image.options = .previewing
  // A cell's image, until the photograph is there.
  image.options?.fallback.smallestScale = 0.02
  gtk_scrolled_window_set_child(OpaquePointer(photoPage), image.widget.widget)
  let drag = gtk_gesture_drag_new()!
  gtk_widget_add_controller(photoPage, drag)
  let moved: Motion = { _, x, y in
    gtk_adjustment_set_value(adjustments[0], positionBeforeDrag[0] - x)
    gtk_adjustment_set_value(adjustments[1], positionBeforeDrag[1] - y)
    return 0
  }
  let began: Handler = { positionBeforeDrag = adjustments.map(gtk_adjustment_get_value) }
  connect(drag, "drag-begin", began)
  connect(drag, "drag-update", moved)
  let wheel = gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_VERTICAL)!
  gtk_event_controller_set_propagation_phase(wheel, GTK_PHASE_CAPTURE)
  gtk_widget_add_controller(photoPage, wheel)
  let turned: Motion = { wheel, _, way in
    let modifiers = gtk_event_controller_get_current_event_state(wheel)
    guard modifiers.rawValue & GDK_CONTROL_MASK.rawValue != 0 else { return 0 }
    enlarge(by: way > 0 ? 0.8 : 1.25)
    return 1
  }
  connect(wheel, "scroll", turned)
  let header = OpaquePointer(gtk_header_bar_new()!)
  gtk_window_set_titlebar(window, header.widget)
  let clicked: @MainActor @convention(c) (OpaquePointer?, Int) -> Void = { _, key in
    _ = press(Int32(key))
  }
  for (icon, key) in [
    ("view-grid", GDK_KEY_Escape), ("go-previous", GDK_KEY_Left), ("go-next", GDK_KEY_Right),
    ("zoom-out", GDK_KEY_minus), ("zoom-fit-best", GDK_KEY_0), ("zoom-in", GDK_KEY_plus),
  ] {
    let button = OpaquePointer(gtk_button_new_from_icon_name("\(icon)-symbolic")!)
    gtk_header_bar_pack_start(header, button.widget)
    connect(button, "clicked", clicked, key)
  }
  let keys = gtk_event_controller_key_new()!
  gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE)
  gtk_widget_add_controller(OpaquePointer(window).widget, keys)
  let pressed: @MainActor @convention(c) (OpaquePointer?, guint) -> gboolean = { _, key in
    press(Int32(key)) ? 1 : 0
  }
  connect(keys, "key-pressed", pressed)
}

/// - Returns: Whether the key does something; the grid has keys of its own.
func press(_ key: Int32) -> Bool {
  guard gtk_stack_get_visible_child(stack) == photoPage else { return false }
  let selected = gtk_single_selection_get_selected(selection)
  switch key {
  case GDK_KEY_Escape: show(gridPage)
  case GDK_KEY_Left: gtk_single_selection_set_selected(selection, max(selected, 1) - 1)
  case GDK_KEY_Right:
    gtk_single_selection_set_selected(selection, min(selected + 1, guint(photos.count) - 1))
  case GDK_KEY_minus: enlarge(by: 0.8)
  case GDK_KEY_plus, GDK_KEY_equal: enlarge(by: 1.25)
  case GDK_KEY_0: enlarge(by: 1 / zoom)
  default: return false
  }
  return true
}

func show(_ page: UnsafeMutablePointer<GtkWidget>) {
  gtk_stack_set_visible_child(stack, page)
  enlarge(by: 1 / zoom)
  let child = gtk_scrolled_window_get_child(OpaquePointer(page))
  gtk_widget_grab_focus(child)
  let selected = g_variant_new_uint32(gtk_single_selection_get_selected(selection))
  gtk_widget_activate_action_variant(child, "list.scroll-to-item", selected)
}

/// Shows what is selected.
func update() {
  let index = Int(gtk_single_selection_get_selected(selection))
  guard photos.indices.contains(index) else { return }
  let isWhole = gtk_stack_get_visible_child(stack) == photoPage
  image.entity = photos[index]
  image.alternativeText = photos[index].name
  let besides = isWhole ? [index + 1, index - 1].filter(photos.indices.contains) : []
  neighbours.move(to: besides.map { photos[$0] })
  let detail = isWhole ? "\(Int((zoom * 100).rounded())) %" : "\(index + 1) of \(photos.count)"
  gtk_window_set_title(window, "\(photos[index].name), \(detail)")
}

/// Enlarges the image's room around its middle; at 1, the whole photograph fits into the window.
func enlarge(by factor: Double) {
  zoom = min(max(zoom * factor, 1), 20)
  let sides = adjustments.map { adjustment in
    let page = gtk_adjustment_get_page_size(adjustment)
    let middle = gtk_adjustment_get_value(adjustment) + page / 2
    let part = middle / max(gtk_adjustment_get_upper(adjustment), 1)
    gtk_adjustment_set_upper(adjustment, page * zoom)
    gtk_adjustment_set_value(adjustment, part * page * zoom - page / 2)
    return zoom > 1 ? Int32(page * zoom) : -1
  }
  gtk_widget_set_size_request(image.widget.widget, sides[0], sides[1])
  update()
}

/// A file, which is another image when it was written again.
nonisolated struct Photo: ImageEntity {
  let file: URL
  let imageID: ImageID
  private let version: ImageID

  init(_ file: URL) {
    let written = try? file.resourceValues(forKeys: [.contentModificationDateKey])
    (self.file, imageID) = (file, ImageID(file))
    version = ImageID("\(written?.contentModificationDate?.timeIntervalSince1970 ?? 0)")
  }

  var name: String { file.deletingPathExtension().lastPathComponent }
  func sourceURL(for format: ImageFormat) -> URL? { file }
  func versionID(for format: ImageFormat) -> ImageID { version }
  /// Few photographs are ever enlarged.
  func prerendersFamily(_ family: String) -> Bool { false }
}

/// A signal's handler, which captures nothing and may leave out arguments.
typealias Handler = @MainActor @convention(c) () -> Void
typealias Motion = @MainActor @convention(c) (OpaquePointer?, Double, Double) -> gboolean

func connect(_ object: OpaquePointer, _ signal: String, _ handler: some Any, _ data: Int32 = 0) {
  g_signal_connect_data(
    UnsafeMutableRawPointer(object), signal, unsafeBitCast(handler, to: GCallback.self),
    UnsafeMutableRawPointer(bitPattern: Int(data)), nil, GConnectFlags(0))
}

extension OpaquePointer {
  var widget: UnsafeMutablePointer<GtkWidget> { UnsafeMutablePointer(self) }
}
