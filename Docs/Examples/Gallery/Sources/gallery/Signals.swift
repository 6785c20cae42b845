import CGalleryGTK

/// Calls `body` whenever the instance emits the signal, with the signal's first argument or the instance. The
/// instance keeps `body`.
func connect(
  _ instance: some GObjectPointer, _ signal: String,
  _ body: @escaping (UnsafeMutableRawPointer) -> Void
) {
  gallery_connect(
    instance.raw, signal,
    { data, argument in
      // GTK emits on the main thread only; the compiler is told so.
      nonisolated(unsafe) let (data, argument) = (data, argument)
      MainActor.assumeIsolated {
        guard let data, let argument else { return }
        Unmanaged<Handler>.fromOpaque(data).takeUnretainedValue().body(argument)
      }
    },
    Unmanaged.passRetained(Handler(body: body)).toOpaque(),
    { data, _ in if let data { Unmanaged<Handler>.fromOpaque(data).release() } })
}

private final class Handler {
  let body: (UnsafeMutableRawPointer) -> Void
  init(body: @escaping (UnsafeMutableRawPointer) -> Void) { self.body = body }
}

/// The pointers that Swift imports for GTK's objects: opaque or not, as their headers have it.
protocol GObjectPointer {
  var raw: UnsafeMutableRawPointer { get }
}

extension OpaquePointer: GObjectPointer {
  var raw: UnsafeMutableRawPointer { UnsafeMutableRawPointer(self) }
}

extension UnsafeMutablePointer: GObjectPointer {
  var raw: UnsafeMutableRawPointer { UnsafeMutableRawPointer(self) }
}

typealias Widget = UnsafeMutablePointer<GtkWidget>

extension OpaquePointer {
  /// The same object as a widget.
  var widget: Widget { Widget(self) }
}
