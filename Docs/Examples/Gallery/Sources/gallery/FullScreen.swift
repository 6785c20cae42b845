import CGalleryGTK
import FastImageCache
import FastImageCacheGTK

extension Gallery {
  /// Shows one image in the whole screen: a sticker enlarged, a photograph from a table of its own. A click, Enter or
  /// Escape shows the list again.
  func open(_ position: Int) {
    if isFullScreen { return }
    let isSticker = way == .stickers
    let image = CachedImageWidget<Photograph>(
      format: isSticker ? .sticker : .screen, from: stock.cache)
    image.contentFit = .contain
    // The cell's image, until the photograph is there.
    var options = LoadOptions.previewing
    options.fallback.smallestScale = 0.1
    options.fallback.allowsOtherProportions = true
    image.options = options
    image.entity = isSticker ? stock.sticker(position) : stock.photograph(position)
    let page: Widget = gtk_button_new()
    gtk_widget_add_css_class(page, "osd")
    gtk_button_set_child(page.button, image.widget.widget)
    page.activate(by: "Escape")
    connect(page, "clicked") { [unowned self] page in
      isFullScreen = false
      // Without a window manager there is no full screen, and asking to leave one ends all input.
      if gtk_window_is_fullscreen(window.window) != 0 { gtk_window_unfullscreen(window.window) }
      gtk_widget_set_opacity(gtk_overlay_get_child(overlay), 1)
      gtk_overlay_remove_overlay(overlay, page.assumingMemoryBound(to: GtkWidget.self))
      gtk_widget_grab_focus(grid.widget)
    }
    isFullScreen = true
    gtk_widget_set_opacity(gtk_overlay_get_child(overlay), 0)
    gtk_overlay_add_overlay(overlay, page)
    gtk_window_fullscreen(window.window)
    gtk_widget_grab_focus(page)
  }
}
