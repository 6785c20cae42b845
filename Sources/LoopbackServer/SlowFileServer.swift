package import Foundation
import Locking

/// A web server on this machine that serves files from memory, at a limited rate for all its connections
/// together, as a slow line does.
///
/// It ends with its last reference.
package final class SlowFileServer: Sendable {
  /// Connections share the line by turns of so many seconds: short beside the time of an image, long
  /// beside the time that a thread takes to wake.
  private static let turn = 0.01

  private let server: LoopbackServer
  private let sent = Lock(0)

  /// - Parameters:
  ///   - files: By path; other paths have status 404.
  ///   - byteRate: Of bodies, in bytes per second, above 0.
  ///   - noteSent: Called after each piece of a body with its path and the number of bytes that were sent
  ///     of this body so far, on the connection's thread.
  /// - Throws: `POSIXError`.
  package init(
    _ files: [String: Data], byteRate: Double,
    noteSent: @escaping @Sendable (_ path: String, _ byteCount: Int) -> Void = { _, _ in }
  ) throws {
    let (line, sent) = (Line(byteRate: byteRate), sent)
    let piece = max(1, Int(byteRate * Self.turn))
    server = try LoopbackServer { client, end in
      while let request = client.requestHead(until: end) {
        let file = files[request.path]
        let head = """
          HTTP/1.1 \(file == nil ? "404 Not Found" : "200 OK")\r
          Content-Length: \(file?.count ?? 0)\r
          \r

          """
        guard client.send(Data(head.utf8), until: end) == head.utf8.count else { return }
        var rest = file ?? Data()
        while !rest.isEmpty {
          let bytes = rest.prefix(piece)
          // A client that has asked sends nothing more, so input means that it left.
          let wake = client.waitsForInput(until: [end], before: line.end(of: bytes.count))
          guard wake == .timeIsOver,
            client.send(bytes, until: end) == bytes.count
          else { return }
          rest = rest.dropFirst(bytes.count)
          sent.withLock { $0 += bytes.count }
          noteSent(request.path, (file?.count ?? 0) - rest.count)
        }
      }
    }
  }

  /// How many bytes of bodies were sent so far.
  package var sentByteCount: Int { sent.withLock { $0 } }

  /// The address of a file.
  package func url(_ path: String) -> URL { server.url(path) }
}

/// A line that carries one piece of bytes after the other.
private final class Line: Sendable {
  /// A connection that comes so late with its next piece was only slow to wake: the line did not rest.
  private static let lateness = Duration.milliseconds(20)

  private let byteRate: Double
  private let isFree = Lock(ContinuousClock.now)

  init(byteRate: Double) { self.byteRate = byteRate }

  /// Puts a piece behind all that the line carries, and says when the last byte of it is there.
  func end(of byteCount: Int) -> ContinuousClock.Instant {
    let now = ContinuousClock.now
    return isFree.withLock { isFree in
      let start = now - isFree > Self.lateness ? now : isFree
      isFree = start + .seconds(Double(byteCount) / byteRate)
      return isFree
    }
  }
}
