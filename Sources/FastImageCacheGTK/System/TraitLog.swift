#if GTK && canImport(CGTK)
  import CGTK
  import FastImageCache

  /// Names missing traits of the package in GLib's log: a widget without `onFailed` would stay empty in silence.
  @MainActor enum TraitLog {
    /// One text for each kind of file, at most.
    private static var texts: Set<String> = []

    static func note(_ error: ImageCacheError?) {
      guard case .undecodable(_, reason: .unsupported(let text)) = error,
        text.contains("package trait"), texts.insert(text).inserted
      else { return }
      // A warning could end the program (`G_DEBUG=fatal-warnings`), and a server chooses the kind.
      text.withCString { text in
        withVaList([text]) { g_logv("FastImageCache", G_LOG_LEVEL_MESSAGE, "%s", $0) }
      }
    }
  }
#endif
