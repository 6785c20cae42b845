import Foundation
import TestSupport

@testable import FastImageCache
@testable import ImageSources

/// An original as an honest server has it, and the parts of it that a test asks for.
struct Original: Sendable {
  var bytes: Data
  var tag: String? = "\"v1\""
  var lastModified: String?
  /// The server's clock; an hour after ``oldDate``.
  static let date = "Sun, 06 Nov 1994 09:49:37 GMT"
  static let oldDate = "Sun, 06 Nov 1994 08:49:37 GMT"

  init(_ bytes: Data, tag: String? = "\"v1\"", lastModified: String? = nil) {
    (self.bytes, self.tag, self.lastModified) = (bytes, tag, lastModified)
  }

  /// Bytes that differ between two versions at every place.
  static func version(_ number: Int, count: Int = 3000) -> Original {
    let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &+ number) })
    return Original(bytes, tag: "\"v\(number)\"")
  }

  var fields: [String: String] {
    var fields = ["Date": Self.date]
    fields["ETag"] = tag
    fields["Last-Modified"] = lastModified
    return fields
  }

  /// The answer to a request, with the condition kept: 200, 206, 304 or 416.
  ///
  /// - Parameter cut: How many bytes of the body are sent before the connection is closed.
  func reply(to request: HTTPServer.Request, cut: Int? = nil) -> HTTPReply {
    let validator = tag ?? lastModified
    if let known = request.headers["if-none-match"] ?? request.headers["if-modified-since"],
      known == validator
    {
      return HTTPReply([.bytes(HTTPReply.head(304, fields))])
    }
    guard let first = request.firstByte,
      request.headers["if-range"].map({ $0 == validator }) ?? true
    else { return part(0..<bytes.count, status: 200, cut: cut) }
    guard first < bytes.count else {
      return .status(416, headers: ["Content-Range": "bytes */\(bytes.count)"])
    }
    return part(first..<bytes.count, cut: cut)
  }

  /// A server that has nothing else.
  func server() throws -> HTTPServer { try HTTPServer { reply(to: $0) } }

  /// A part, whatever was asked for.
  func part(
    _ range: Range<Int>, status: Int = 206, cut: Int? = nil, changing: [String: String?] = [:]
  ) -> HTTPReply {
    var fields = fields
    fields["Content-Length"] = "\(range.count)"
    if status == 206 {
      fields["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(bytes.count)"
    }
    for (name, value) in changing { fields[name] = value }
    let body = bytes[range].prefix(cut ?? .max)
    return HTTPReply(
      [.bytes(HTTPReply.head(status, fields)), .bytes(Data(body))]
        + (cut == nil ? [] : [.cut]))
  }

  /// The first bytes, as they are known after a download from `server` broke off.
  func known(
    _ count: Int, from server: HTTPServer, at path: String = "/a", isWhole: Bool = false
  ) -> KnownOriginal {
    var terms = ResponseMetadata(
      fields: fields.merging(["Content-Length": "\(bytes.count)"]) { $1 }, received: Date())
    terms.origin = HTTPHost.origin(of: server.url(path))
    return KnownOriginal(terms: terms, bytes: Data(bytes.prefix(count)), isWhole: isWhole)
  }
}

extension HTTPServer.Request {
  /// The first byte of the range that was asked for.
  var firstByte: Int? {
    headers["range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
  }
}

extension HTTPOptions {
  /// Sends requests again without a pause.
  static func retrying(_ limit: Int) -> HTTPOptions {
    var options = HTTPOptions.patient
    options.retry = RetryPolicy(limit: limit)
    options.retry.firstDelay = .zero
    return options
  }
}

/// A load as a cache begins it.
func load(
  _ url: URL, known: KnownOriginal? = nil, slot: Download = Download(),
  from source: URLImageSource = URLImageSource(http: .patient), limit: Int = 50 << 20,
  progress: @escaping @Sendable (ImageSourceProgress) -> Void = { _ in }
) async throws -> ImageSourceResponse {
  var request = ImageSourceRequest(url: url, byteCountLimit: limit, progress: progress)
  request.known = known
  request.makeBuffer = { slot.begin($0, continuing: $1, byteCountLimit: limit) }
  return try await source.response(to: request)
}

extension ImageSourceResponse {
  /// The bytes of an arrival; `nil` for every other answer.
  var arrivedBytes: Data? {
    if case .arrived(let arrival) = content { arrival.bytes } else { nil }
  }

  var unchangedTerms: ResponseMetadata? {
    if case .unchanged(let terms) = content { terms } else { nil }
  }
}
