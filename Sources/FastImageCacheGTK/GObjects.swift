#if GTK && canImport(CGTK)
  import CGTK
  import Foundation

  /// One reference of a GObject, which is given back on the main thread.
  ///
  /// GTK's objects belong to that thread, and the last owner of a Swift object may be a task on any.
  final class GObjectReference {
    let pointer: OpaquePointer

    /// Takes over a reference of the caller.
    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    /// Takes a reference of its own.
    convenience init(sharing pointer: OpaquePointer) {
      self.init(owning: OpaquePointer(g_object_ref(UnsafeMutableRawPointer(pointer))))
    }

    deinit {
      let object = UnsafeMutableRawPointer(pointer)
      if Thread.isMainThread { return g_object_unref(object) }
      // In turns with drawing, which would keep any later priority waiting while frames come late.
      g_idle_add_full(
        GDK_PRIORITY_REDRAW,
        { object in
          g_object_unref(object)
          return false.asBoolean
        }, object, nil)
    }
  }

  extension Bool {
    /// GLib's C type for truth.
    var asBoolean: gboolean { self ? 1 : 0 }
  }

  /// A handler of a signal without arguments of its own.
  typealias SignalHandler = @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Void

  /// A handler of a signal with one object as its argument.
  typealias ObjectSignalHandler =
    @convention(c) (OpaquePointer?, OpaquePointer?, UnsafeMutableRawPointer?) -> Void

  /// Connects a handler until the object is disposed of.
  ///
  /// - Parameters:
  ///   - data: What the handler gets, which nothing retains: it must live until then.
  /// - Returns: The number of the handler, for `g_signal_handler_disconnect`.
  @discardableResult func connect(
    _ object: OpaquePointer, _ signal: String, to data: UnsafeMutableRawPointer,
    _ handler: SignalHandler
  ) -> gulong {
    connect(object, signal, to: data, callback: unsafeBitCast(handler, to: GCallback.self))
  }

  /// The same for a signal with one object as its argument.
  func connect(
    _ object: OpaquePointer, _ signal: String, to data: UnsafeMutableRawPointer,
    _ handler: ObjectSignalHandler
  ) {
    connect(object, signal, to: data, callback: unsafeBitCast(handler, to: GCallback.self))
  }

  /// - Parameter callback: GLib stores handlers of all types as one, and calls each with its signal's arguments.
  @discardableResult private func connect(
    _ object: OpaquePointer, _ signal: String, to data: UnsafeMutableRawPointer, callback: GCallback
  ) -> gulong {
    g_signal_connect_data(
      UnsafeMutableRawPointer(object), signal, callback, data, nil, GConnectFlags(0))
  }

  /// Has a GObject hold a Swift object until its own end, and find it again.
  struct AttachedObject<Object: AnyObject> {
    let key: String

    func attach(_ object: Object, to owner: OpaquePointer) {
      g_object_set_data_full(
        UnsafeMutablePointer<GObject>(owner), key, Unmanaged.passRetained(object).toOpaque()
      ) { held in
        if let held { Unmanaged<AnyObject>.fromOpaque(held).release() }
      }
    }

    func object(of owner: OpaquePointer) -> Object? {
      // The key is this library's own, so that nothing else is stored under it.
      g_object_get_data(UnsafeMutablePointer<GObject>(owner), key)
        .map { Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() }
    }
  }
#endif
