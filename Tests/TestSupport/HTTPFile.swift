public import Foundation

/// A file as a web server serves it, with validators, conditions and ranges (RFC 9110 sections 13 and
/// 14).
public struct HTTPFile: Sendable {
  public var body: Data
  public var entityTag: String?
  public var lastModified: String?
  /// Fields of all answers, beside those that the server knows by itself.
  public var headers: [String: String]

  public init(
    _ body: Data, entityTag: String? = nil, lastModified: String? = nil,
    headers: [String: String] = [:]
  ) {
    (self.body, self.entityTag, self.lastModified) = (body, entityTag, lastModified)
    self.headers = headers
  }

  /// The answer to one request.
  public func reply(to request: HTTPServer.Request) -> HTTPReply {
    if isUnmodified(for: request.headers) {
      // No length: this answer has no body whatever its fields say.
      return HTTPReply([.bytes(HTTPReply.head(304, fields))])
    }
    guard let first = rangeStart(in: request.headers) else {
      return .ok(body, headers: fields)
    }
    guard first < body.count else {
      let headers = fields.merging(["Content-Range": "bytes */\(body.count)"]) { $1 }
      return .status(416, headers: headers)
    }
    var headers = fields
    headers["Content-Range"] = "bytes \(first)-\(body.count - 1)/\(body.count)"
    return .status(206, headers: headers, body: Data(body.dropFirst(first)))
  }

  private var fields: [String: String] {
    var fields = headers
    fields["ETag"] = entityTag
    fields["Last-Modified"] = lastModified
    return fields
  }

  private func isUnmodified(for request: [String: String]) -> Bool {
    if let tags = request["if-none-match"] {
      let known = tags.components(separatedBy: ",").map { Self.opaque($0) }
      return tags == "*" || entityTag.map { known.contains(Self.opaque($0)) } ?? false
    }
    return lastModified != nil && request["if-modified-since"] == lastModified
  }

  private static func opaque(_ tag: String) -> String {
    let tag = tag.trimmingCharacters(in: .whitespaces)
    return tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag
  }

  /// The first byte that is asked for; `nil` where the answer is the whole file.
  private func rangeStart(in request: [String: String]) -> Int? {
    guard let range = request["range"], range.hasPrefix("bytes="), range.hasSuffix("-"),
      let first = Int(range.dropFirst(6).dropLast())
    else { return nil }
    guard let validator = request["if-range"] else { return first }
    let isStrongTag = validator.hasPrefix("\"") && validator == entityTag
    return isStrongTag || validator == lastModified ? first : nil
  }
}
