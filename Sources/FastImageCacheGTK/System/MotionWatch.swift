#if GTK && canImport(CGTK)
  import CGTK
  import ImageViewing

  /// Reports to the places on screen whether GTK's setting `gtk-enable-animations` asks for less motion.
  @MainActor enum MotionWatch {
    private static var isWatching = false

    /// Begins to watch; further calls do nothing. The watch lasts as long as the process.
    static func begin() {
      guard !isWatching, let settings = gtk_settings_get_default() else { return }
      isWatching = true
      report()
      // The handler needs no data, and gets what lives as long as itself.
      connect(settings, "notify::gtk-enable-animations", to: UnsafeMutableRawPointer(settings)) {
        _, _, _ in
        // GTK's settings change on its own thread.
        MainActor.assumeIsolated { MotionWatch.report() }
      }
    }

    private static func report() {
      var value = GValue()
      g_value_init(&value, g_type_from_name("gboolean"))
      g_object_get_property(
        UnsafeMutablePointer<GObject>(gtk_settings_get_default()), "gtk-enable-animations", &value)
      ImagePlace.motionChanged(isReduced: g_value_get_boolean(&value) == 0)
      g_value_unset(&value)
    }
  }
#endif
