#if GTK && canImport(CGTK)
  import CGTK
  import FastImageCache
  import FastImageCacheGTK
  import Foundation

  extension Act {
    static let traits = Act(
      name: "traits", summary: "a kind of file whose trait is missing is named in GLib's log, once"
    ) { _, findings in
      let cache = try ImageCache.inMemory(formats: [.cell])
      let messages = Messages()
      let handler = messages.listen()
      let window = PlainWindow()
      // None of the two is decoded here; the second is damaged, which says nothing of a trait.
      let beginnings = ["R0lGODlhAQABAIAAAAAAAP8=", "R0lGODlhAgACAIAAAAAAAP8=", "/9j/4AAQSkZJRg=="]
      for beginning in beginnings {
        let image = CachedImageWidget<URL>(format: .cell, from: cache)
        var errors: [ImageCacheError] = []
        image.onFailed = { errors.append($0) }
        image.entity = URL(string: "data:image/gif;base64,\(beginning)")
        window.show(image.widget)
        Loop.turn { !errors.isEmpty }
        findings.count("failures", errors.count)
      }
      #if GIF
        findings.expect(messages.texts.isEmpty, "\(messages.texts) with the trait")
      #else
        findings.expect(
          messages.texts == [
            "GIF images are not decoded here. Enable the package trait \"GIF\"."
          ], "\(messages.texts) in the log")
      #endif
      g_log_remove_handler("FastImageCache", handler)
      window.close()
    }
  }

  /// What the library says in GLib's log.
  private final class Messages {
    private(set) var texts: [String] = []

    /// The handler gets this object unretained.
    func listen() -> guint {
      g_log_set_handler(
        "FastImageCache", G_LOG_LEVEL_MASK,
        { _, _, text, data in
          guard let text, let data else { return }
          Unmanaged<Messages>.fromOpaque(data).takeUnretainedValue()
            .texts.append(String(cString: text))
        }, Unmanaged.passUnretained(self).toOpaque())
    }
  }
#endif
