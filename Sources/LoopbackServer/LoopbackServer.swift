package import Foundation

/// Accepts connections on the loopback interface and gives each of them a thread of its own, so that one
/// that waits holds up no other.
///
/// The server ends with its last reference.
package final class LoopbackServer: Sendable {
  package let port: UInt16
  private let end = Signal()

  /// - Parameter serve: Called on the connection's thread, and returns when the connection is over, at the
  ///   latest after the signal.
  /// - Throws: `POSIXError`.
  package init(_ serve: @escaping @Sendable (_ client: Socket, _ end: Signal) -> Void) throws {
    let listener: Socket
    (listener, port) = try Socket.listening()
    let end = end
    Thread.detachNewThread {
      while listener.waitsForInput(until: [end]) == .ready, let client = listener.accept() {
        Thread.detachNewThread { serve(client, end) }
      }
    }
  }

  deinit { end.send() }

  /// - Parameter path: Begins with a slash, and is percent-encoded.
  package func url(_ path: String) -> URL {
    // A path that makes no URL is the caller's mistake, and this address leads nowhere.
    URL(string: "http://127.0.0.1:\(port)\(path)") ?? URL(fileURLWithPath: "/")
  }
}
