import CGalleryGTK
import FastImageCache
import FastImageCacheGTK
import Foundation

extension Gallery {
  /// Puts the controls into the window's bar. Each has a key: Alt with the letter that is underlined.
  func addControls() {
    // The buttons wait for the cache on the main actor, while GTK's loop runs.
    MainActorOnGLib.attach()
    let bar = OpaquePointer(gtk_header_bar_new()!)
    gtk_window_set_titlebar(window.window, bar.widget)
    let formats = makeChoice(PixelFormat.allCases, \.title, pixels) { [unowned self] in use(way, $0)
    }
    gtk_header_bar_pack_start(
      bar,
      makeChoice(Way.allCases.filter { $0 != .empty }, \.title, way) { [unowned self] way in
        use(way)
        if way == .stickers { isScrolling = false }
        gtk_widget_set_sensitive(formats, way == .table ? 1 : 0)
        if way == .stickers, stock.stickers.isEmpty { askForStickers() }
      })
    gtk_header_bar_set_title_widget(bar, formats)
    let slow: Widget = gtk_toggle_button_new_with_mnemonic("Slow _network")
    connect(slow, "toggled") { [unowned self] _ in
      stock.line.isSlow.store(gtk_toggle_button_get_active(slow.toggle) != 0, ordering: .relaxed)
    }
    let reset: Widget = gtk_button_new_with_mnemonic("_Reset")
    connect(reset, "clicked") { [unowned self] _ in empty() }
    for widget in [scrolling, slow, reset] { gtk_header_bar_pack_end(bar, widget) }
    gtk_grid_view_set_single_click_activate(grid, 1)
    connectNumber(grid, "activate") { [unowned self] in open($0) }
  }

  /// Buttons of which one is down.
  private func makeChoice<Value: Equatable>(
    _ values: [Value], _ title: (Value) -> String, _ chosen: Value,
    _ choose: @escaping (Value) -> Void
  ) -> Widget {
    let box: Widget = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0)
    gtk_widget_add_css_class(box, "linked")
    var first: Widget?
    for value in values {
      let button: Widget = gtk_toggle_button_new_with_mnemonic(title(value))
      gtk_toggle_button_set_group(button.toggle, first?.toggle)
      first = first ?? button
      gtk_toggle_button_set_active(button.toggle, value == chosen ? 1 : 0)
      connect(button, "toggled") { _ in
        if gtk_toggle_button_get_active(button.toggle) != 0 { choose(value) }
      }
      gtk_box_append(box.box, button)
    }
    return box
  }

  private func askForStickers() {
    let dialog = gtk_file_chooser_native_new(
      "Animated PNG and WebP files", window.window, GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER, nil, nil)!
    connectNumber(dialog, "response") { [unowned self] response in
      let file = gtk_file_chooser_get_file(dialog)
      let path = file.flatMap { g_file_get_path($0) }
      defer {
        g_free(path)
        for object in [file, dialog] { if let object { g_object_unref(object.raw) } }
      }
      guard response == GTK_RESPONSE_ACCEPT.rawValue, let path else { return }
      do { try stock.useStickers(in: URL(filePath: String(cString: path))) } catch {
        note("\(error)")
      }
      use(.stickers)
    }
    gtk_native_dialog_show(UnsafeMutablePointer(dialog))
  }

  /// Removes all images from the tables, and has those in view loaded again.
  private func empty() {
    Task {
      do { try await stock.cache.removeAllImages() } catch { note("\(error)") }
      if !isClosed { use(way) }
    }
  }

  /// Says in the window's title what is shown, and what the tables have.
  func showTitle() {
    Task {
      let tables = await stock.cache.statistics().tables
      if isClosed { return }
      var text = way.title.filter { $0 != "_" }
      if way == .table { text += ", " + pixels.title.filter { $0 != "_" } }
      let format = way == .table ? stock.format(pixels).name : "\(way)"
      if let table = tables.first(where: { $0.format == format }) {
        text += ": \(table.entryCount) pictures, \(table.diskByteCount / 1_000_000) MB"
      }
      let coming = cells.blankCount
      if coming > 0 { text += ", \(coming) to come" }
      gtk_window_set_title(window.window, isFullScreen ? "full screen" : text)
    }
  }
}

extension PixelFormat {
  fileprivate var title: String {
    switch self {
    case .bgra32: "32BGR_A"
    case .bgrx32: "32_BGR"
    case .bgr16: "1_6BGR"
    case .gray8: "8 _gray"
    }
  }
}
