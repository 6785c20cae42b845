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
        Unmanaged<Handler<UnsafeMutableRawPointer>>.fromOpaque(data).takeUnretainedValue()
          .body(argument)
      }
    }, Handler.retained(body), release)
}

/// The same for a signal whose first argument is a number.
func connectNumber(
  _ instance: some GObjectPointer, _ signal: String, _ body: @escaping (Int) -> Void
) {
  gallery_connect_number(
    instance.raw, signal,
    { data, number in
      nonisolated(unsafe) let data = data
      MainActor.assumeIsolated {
        guard let data else { return }
        Unmanaged<Handler<Int>>.fromOpaque(data).takeUnretainedValue().body(Int(number))
      }
    }, Handler.retained(body), release)
}

private let release:
  @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<GClosure>?) -> Void = { data, _ in
    if let data { Unmanaged<AnyObject>.fromOpaque(data).release() }
  }

private final class Handler<Argument> {
  let body: (Argument) -> Void
  init(body: @escaping (Argument) -> Void) { self.body = body }

  static func retained(_ body: @escaping (Argument) -> Void) -> UnsafeMutableRawPointer {
    Unmanaged.passRetained(Handler(body: body)).toOpaque()
  }
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
