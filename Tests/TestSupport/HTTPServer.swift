public import Foundation
import Locking
import LoopbackServer

/// A small real web server on this machine, which answers each request as a test says.
///
/// Each connection has a thread of its own, so a reply that waits holds up nobody else. The server
/// ends with its last reference.
public final class HTTPServer: Sendable {
  public struct Request: Sendable {
    public let path: String
    /// Names in lower case.
    public let headers: [String: String]
    /// Counts the requests for the path from 1 on.
    public internal(set) var number = 1
    /// The bytes of its head, as they came.
    fileprivate var byteCount = 0

    public init(path: String, headers: [String: String] = [:]) {
      (self.path, self.headers) = (path, headers)
    }
  }

  private let log = RequestLog()
  private let server: LoopbackServer

  /// - Parameter reply: Called on the connections' threads, several at once.
  public init(_ reply: @escaping @Sendable (Request) -> HTTPReply) throws {
    let log = log
    server = try LoopbackServer { client, end in
      log.connections.increment()
      defer { log.endedConnections.increment() }
      while let head = client.requestHead(until: end) {
        var request = Request(path: head.path, headers: head.headers)
        request.byteCount = head.byteCount
        guard log.records(request, { reply($0).ending(sentTo: client, until: end, $1) }) else {
          return
        }
      }
    }
  }

  public var port: UInt16 { server.port }

  /// Answers with the body listed for the path, and with 404 for other paths.
  public convenience init(_ replies: [String: HTTPReply]) throws {
    try self.init { replies[$0.path] ?? .status(404) }
  }

  /// Serves the file listed for the path, and 404 for other paths.
  public convenience init(files: [String: HTTPFile]) throws {
    try self.init { files[$0.path]?.reply(to: $0) ?? .status(404) }
  }

  /// Answers the first request for a path with the first reply listed for it, and so on; the last one
  /// answers all that follow.
  public convenience init(scripts: [String: [HTTPReply]]) throws {
    try self.init { request in
      let replies = scripts[request.path] ?? []
      return replies.dropFirst(request.number - 1).first ?? replies.last ?? .status(404)
    }
  }

  public func url(_ path: String) -> URL { server.url(path) }

  /// Requests that have arrived.
  public var requests: Counter { log.requests }

  /// Connections that were made.
  public var connections: Counter { log.connections }

  /// Replies that the client did not wait for: it closed the connection before their end.
  public var abandonments: Counter { log.abandonments }

  /// Connections that came and are over, whichever side ended them.
  public var endedConnections: Counter { log.endedConnections }

  /// All requests, in order of arrival.
  public var arrivedRequests: [Request] { log.entries.withLock { $0 } }

  /// The requests for one path, in order of arrival.
  public func arrivedRequests(for path: String) -> [Request] {
    arrivedRequests.filter { $0.path == path }
  }

  /// How many bytes of bodies were sent for a path. What a client did not read before it left counts as
  /// far as the system had taken it.
  public func bodyByteCount(for path: String) -> Int {
    log.bodyByteCounts.withLock { $0[path, default: 0] }
  }

  /// How many bytes came and were sent so far: heads and bodies, both ways.
  public var wireByteCount: Int { log.wireByteCount.withLock { $0 } }

  /// The most replies that were being written at the same time.
  public var mostConcurrentReplies: Int { log.replying.withLock { $0.most } }
}

/// The requests of a server. Its threads share the log, and not the server itself.
private final class RequestLog: Sendable {
  let requests = Counter()
  let connections = Counter()
  let abandonments = Counter()
  let endedConnections = Counter()
  let entries = Lock<[HTTPServer.Request]>([])
  let replying = Lock((now: 0, most: 0))
  let bodyByteCounts = Lock<[String: Int]>([:])
  let wireByteCount = Lock(0)

  /// Records one request while its reply is written; `false` when the connection is over.
  func records(
    _ request: HTTPServer.Request,
    _ reply: (HTTPServer.Request, _ noteSent: (_ count: Int, _ ofBody: Int) -> Void)
      -> HTTPReply.Ending
  ) -> Bool {
    var request = request
    entries.withLock { entries in
      request.number = 1 + entries.count { $0.path == request.path }
      entries.append(request)
    }
    replying.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
    wireByteCount.withLock { $0 += request.byteCount }
    requests.increment()
    let ending = reply(request) { count, bodyByteCount in
      wireByteCount.withLock { $0 += count }
      bodyByteCounts.withLock { $0[request.path, default: 0] += bodyByteCount }
    }
    replying.withLock { $0.now -= 1 }
    if ending == .abandoned { abandonments.increment() }
    return ending == .complete
  }
}

extension HTTPReply {
  fileprivate enum Ending {
    case complete
    case cut
    case abandoned
  }

  /// - Parameter noteSent: Called with the number of bytes that were sent, and of those behind the head.
  fileprivate func ending(
    sentTo client: Socket, until end: Signal, _ noteSent: (_ count: Int, _ ofBody: Int) -> Void
  ) -> Ending {
    var head = headByteCount
    func send(_ bytes: Data) -> Bool {
      let sent = client.send(bytes, until: end)
      noteSent(sent, max(0, sent - head))
      head = max(0, head - sent)
      return sent == bytes.count
    }
    for step in steps {
      switch step {
      case .bytes(let bytes):
        guard send(bytes) else { return .abandoned }
      case .endless(let bytes):
        while send(bytes) {}
        return .abandoned
      case .wait(let gate):
        guard client.waits(for: gate, until: end) else { return .abandoned }
      case .cut:
        return .cut
      }
    }
    return .complete
  }
}

extension Socket {
  /// Waits until the gate opens; `false` when the client leaves or the server ends before.
  fileprivate func waits(for gate: Gate, until end: Signal) -> Bool {
    let opened = Signal()
    gate.whenOpen { opened.send() }
    // A client that has asked sends nothing more, so input means that it left.
    return waitsForInput(until: [opened, end]) == .signalled(opened)
  }
}
