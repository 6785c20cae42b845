import CGalleryGTK
import Foundation

typealias Widget = UnsafeMutablePointer<GtkWidget>

extension OpaquePointer {
  /// The same object as a widget.
  var widget: Widget { Widget(self) }
}

extension UnsafeMutablePointer where Pointee == GtkWidget {
  var window: UnsafeMutablePointer<GtkWindow> {
    UnsafeMutablePointer<GtkWindow>(OpaquePointer(self))
  }
  var box: UnsafeMutablePointer<GtkBox> { UnsafeMutablePointer<GtkBox>(OpaquePointer(self)) }
  var button: UnsafeMutablePointer<GtkButton> {
    UnsafeMutablePointer<GtkButton>(OpaquePointer(self))
  }
  var toggle: UnsafeMutablePointer<GtkToggleButton> {
    UnsafeMutablePointer<GtkToggleButton>(OpaquePointer(self))
  }

  /// Has a key activate a widget, wherever the focus is.
  func activate(by key: String) {
    let controller = gtk_shortcut_controller_new()!
    gtk_shortcut_controller_set_scope(controller, GTK_SHORTCUT_SCOPE_GLOBAL)
    gtk_shortcut_controller_add_shortcut(
      controller,
      gtk_shortcut_new(
        gtk_shortcut_trigger_parse_string(key), gtk_shortcut_action_parse_string("activate")))
    gtk_widget_add_controller(self, controller)
  }

  /// Writes what a window shows as PNG.
  func save(to file: URL) {
    let paintable = gtk_widget_paintable_new(self)
    defer { if let paintable { g_object_unref(paintable.raw) } }
    let (width, height) = (gtk_widget_get_width(self), gtk_widget_get_height(self))
    let snapshot = gtk_snapshot_new()
    gdk_paintable_snapshot(paintable, snapshot, Double(width), Double(height))
    let renderer = gtk_native_get_renderer(OpaquePointer(self))
    guard let node = gtk_snapshot_free_to_node(snapshot) else { return }
    defer { gsk_render_node_unref(node) }
    guard let texture = gsk_renderer_render_texture(renderer, node, nil) else { return }
    gdk_texture_save_to_png(texture, file.path)
    g_object_unref(texture.raw)
  }
}
