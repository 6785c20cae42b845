public import Foundation

/// A file as a web server serves it, with validators, conditions and ranges (RFC 9110 sections 13 and
/// 14), and as a broken one does.
public struct HTTPFile: Sendable {
  /// Something that a server does wrong; those about parts change answers with status 206 only.
  public enum Fault: Hashable, Sendable {
    /// Answers with the whole file, whatever range is asked for.
    case ignoresRanges
    /// Sends a part although `If-Range` names another version.
    case ignoresIfRange
    /// Answers with status 304 whatever is asked.
    case alwaysUnmodified
    /// Begins parts so many bytes late, or early where it is negative.
    case partBegins(late: Int)
    /// Sends at most so many bytes of a part.
    case partEnds(after: Int)
    /// Says that parts begin so many bytes later than they do.
    case claimsPart(late: Int)
    /// Names another total in parts, in these words.
    case claimsTotal(String)
    /// Names another `ETag` in parts, or none.
    case claimsEntityTag(String?)
    /// Says that parts are compressed.
    case claimsCoding
    /// Sends a part as one of several: RFC 9110 section 14.6.
    case multipart
  }

  public var body: Data
  public var entityTag: String?
  public var lastModified: String?
  /// Fields of all answers, beside those that the server knows by itself.
  public var headers: [String: String]
  public var faults: Set<Fault>

  public init(
    _ body: Data, entityTag: String? = nil, lastModified: String? = nil,
    headers: [String: String] = [:], faults: Set<Fault> = []
  ) {
    (self.body, self.entityTag, self.lastModified) = (body, entityTag, lastModified)
    (self.headers, self.faults) = (headers, faults)
  }

  /// The answer to one request.
  public func reply(to request: HTTPServer.Request) -> HTTPReply {
    if faults.contains(.alwaysUnmodified) || isUnmodified(for: request.headers) {
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
    return part(from: first)
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
    guard !faults.contains(.ignoresRanges), let range = request["range"],
      range.hasPrefix("bytes="), range.hasSuffix("-"),
      let first = Int(range.dropFirst(6).dropLast())
    else { return nil }
    guard let validator = request["if-range"], !faults.contains(.ignoresIfRange) else {
      return first
    }
    let isStrongTag = validator.hasPrefix("\"") && validator == entityTag
    return isStrongTag || validator == lastModified ? first : nil
  }

  private func part(from wanted: Int) -> HTTPReply {
    var (first, claimed, total) = (wanted, wanted, "\(body.count)")
    var end = body.count
    var headers = fields
    var isMultipart = false
    for fault in faults {
      switch fault {
      case .partBegins(let late): (first, claimed) = (first + late, claimed + late)
      case .claimsPart(let late): claimed += late
      case .claimsTotal(let text): total = text
      case .claimsEntityTag(let tag): headers["ETag"] = tag
      case .claimsCoding: headers["Content-Encoding"] = "gzip"
      case .multipart: isMultipart = true
      case .partEnds, .ignoresRanges, .ignoresIfRange, .alwaysUnmodified: break
      }
    }
    for case .partEnds(let count) in faults { end = min(end, first + count) }
    let range = "bytes \(claimed)-\(claimed + end - first - 1)/\(total)"
    var content = Data(body.dropFirst(first).prefix(end - first))
    if isMultipart {
      headers["Content-Type"] = "multipart/byteranges; boundary=END"
      content =
        Data("--END\r\nContent-Range: \(range)\r\n\r\n".utf8) + content + Data("\r\n--END--".utf8)
    } else {
      headers["Content-Range"] = range
    }
    return .status(206, headers: headers, body: content)
  }
}
