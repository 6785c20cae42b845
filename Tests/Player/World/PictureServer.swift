import Foundation
import Locking
import LoopbackServer
import TestSupport

/// A web server of the world's pictures, with the manners of good and bad ones.
///
/// A steady subject's answers are true, whole and soon there, in every framing that a server may choose. A flaky one
/// fails, breaks off, is late, redirects, forgets entity tags and ranges.
final class PictureServer: Sendable {
  private let server: LoopbackServer
  private let counts: Lock<[String: Int]>

  init(_ world: World) throws {
    let counts = Lock<[String: Int]>([:])
    self.counts = counts
    server = try LoopbackServer { [weak world] client, end in
      while let head = client.requestHead(until: end) {
        guard let world else { return }
        counts.withLock { $0[head.path, default: 0] += 1 }
        let answer = PictureAnswer(to: head, in: world)
        if !answer.isSent(to: client, until: end) { return }
      }
    }
  }

  func url(_ path: String) -> URL { server.url(path) }

  /// How often a path was asked for.
  func requestCount(_ path: String) -> Int { counts.withLock { $0[path] ?? 0 } }
}

/// The answer to one request: decided at once, and then sent in pieces.
private struct PictureAnswer {
  private var pieces: [Data] = []
  private var pause: useconds_t = 0
  private var staysOpen = true
  private var isHung = false

  init(to head: RequestHead, in world: World) { decide(head, world) }

  private mutating func decide(_ head: RequestHead, _ world: World) {
    let parts = head.path.split(separator: "?", omittingEmptySubsequences: true).map(String.init)
    let name = parts.first.map { String($0.dropFirst()) } ?? ""
    guard let number = Int(name), number < 1_000 + Subject.all.count else {
      return add(Self.head(404, ["Content-Length": "0"]))
    }
    // Numbers from a thousand on are of nobody's entity but the step that asks.
    let subject = number < 1_000 ? Subject.all[number] : Subject.all[number - 1_000]
    let query = parts.dropFirst().first
    if world.plant == .noAnswer, world.chance(1, in: 20) {
      isHung = true
      return
    }
    if !subject.isSteady, fails(world, head) { return }
    if query?.contains("moved") != true, world.chance(1, in: 12) {
      let location = "/\(name)?\(query.map { "moved&\($0)" } ?? "moved")"
      return add(Self.head(302, ["Location": location, "Content-Length": "0"]))
    }
    let account = head.headers["x-account"].flatMap { Int($0) } ?? 0
    let mark = world.mark(of: subject, account: account)
    let side = query?.contains("side=128") == true ? 128 : 64
    guard var body = try? world.files.data(of: mark, subject.fileKind, side: side) else {
      return add(Self.head(500, ["Content-Length": "0"]))
    }
    var tag = "\"\(mark.revision)-\(mark.subject)-\(account)-\(side)\""
    // A tag that stays when the picture changes: the server's own fault.
    if world.plant == .keptTag || (!subject.isSteady && world.chance(1, in: 3)) {
      tag = "\"same-\(account)-\(side)\""
    }
    var fields = ["ETag": tag, "Vary": "X-Account"]
    if let control = subject.cacheControl { fields["Cache-Control"] = control }
    if let known = head.headers["if-none-match"], known == tag {
      return add(Self.head(304, fields))
    }
    if let range = head.headers["range"], subject.isSteady || world.chance(1, in: 2),
      head.headers["if-range"].map({ $0 == tag }) ?? true,
      let first = Int(range.dropFirst("bytes=".count).prefix { $0 != "-" }), first < body.count
    {
      fields["Content-Range"] = "bytes \(first)-\(body.count - 1)/\(body.count)"
      fields["Content-Length"] = "\(body.count - first)"
      return add(Self.head(206, fields), body.dropFirst(first))
    }
    if world.strikes(.halfPicture) { body = body.prefix(body.count / 2) }
    // In many pieces and without a length, where there is something to show before the last.
    let isSlow = subject.fileKind == .progressive && world.chance(1, in: 2)
    switch isSlow ? 0 : world.roll(4) {
    case 0:
      fields["Transfer-Encoding"] = "chunked"
      add(Self.head(200, fields))
      for piece in Self.pieces(of: body, count: isSlow ? 8 : 1 + world.roll(4)) {
        pieces.append(
          Data("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Data("\r\n".utf8))
      }
      pieces.append(Data("0\r\n\r\n".utf8))
    case 1:
      // Without a length: the end of the connection is the body's.
      fields["Connection"] = "close"
      add(Self.head(200, fields))
      pieces += Self.pieces(of: body, count: 1 + world.roll(3))
      staysOpen = false
    case 2:
      let packed = Self.gzip(body)
      fields["Content-Encoding"] = "gzip"
      fields["Content-Length"] = "\(packed.count)"
      add(Self.head(200, fields), packed)
    default:
      fields["Content-Length"] = "\(body.count)"
      add(Self.head(200, fields))
      pieces += Self.pieces(of: body, count: 1 + world.roll(6))
      if !subject.isSteady, world.chance(1, in: 3) {
        pieces.removeLast()
        staysOpen = false
      }
    }
    if isSlow {
      pause = 1_500
    } else if world.chance(1, in: 3) {
      pause = useconds_t(world.roll(3_000))
    }
  }

  /// Answers with one of the failures; false for none.
  private mutating func fails(_ world: World, _ head: RequestHead) -> Bool {
    switch world.roll(20) {
    case 0: add(Self.head(500, ["Content-Length": "0"]))
    case 1: add(Self.head(404, ["Content-Length": "0"]))
    case 2: add(Self.head(401, ["Content-Length": "0"]))
    case 3: add(Self.head(410, ["Content-Length": "0"]))
    case 4: add(Self.head(503, ["Content-Length": "0", "Retry-After": "0"]))
    // Closed without a word.
    case 5: staysOpen = false
    case 6:
      add(Self.head(200, ["Content-Length": "100000"]))
      staysOpen = false
    case 7:
      add(Self.head(200, ["Content-Length": "9"]), Data("no image.".utf8))
    default: return false
    }
    return true
  }

  private mutating func add(_ data: Data...) { pieces += data }

  /// Sends the answer; false where the connection is over.
  func isSent(to client: Socket, until end: Signal) -> Bool {
    if isHung {
      _ = client.waitsForInput(until: [end])
      return false
    }
    for piece in pieces {
      if client.send(piece, until: end) < piece.count { return false }
      if pause > 0 { usleep(pause) }
    }
    return staysOpen
  }

  private static func head(_ status: Int, _ fields: [String: String]) -> Data {
    HTTPReply.head(status, fields)
  }

  private static func pieces(of body: Data, count: Int) -> [Data] {
    let size = max(1, (body.count + count - 1) / count)
    return stride(from: 0, to: body.count, by: size).map {
      Data(body.dropFirst($0).prefix(size))
    }
  }

  /// Stored blocks of RFC 1951 between the head and the foot of RFC 1952.
  private static func gzip(_ body: Data) -> Data {
    var packed = Data([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])
    var rest = body
    repeat {
      let block = rest.prefix(0xffff)
      rest = rest.dropFirst(block.count)
      packed.append(rest.isEmpty ? 1 : 0)
      for value in [block.count, 0xffff ^ block.count] {
        packed += [UInt8(value & 255), UInt8(value >> 8)]
      }
      packed += block
    } while !rest.isEmpty
    for value in [checksum(body), UInt32(truncatingIfNeeded: body.count)] {
      packed += (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    return packed
  }

  private static func checksum(_ data: Data) -> UInt32 {
    var checksum = UInt32.max
    for byte in data {
      checksum ^= UInt32(byte)
      for _ in 0..<8 {
        checksum = checksum & 1 == 1 ? checksum >> 1 ^ 0xedb8_8320 : checksum >> 1
      }
    }
    return ~checksum
  }
}
