import Foundation

/// The meaning of an answer's head: the request and the head in, the next action out.
enum HTTPDecision: Sendable {
  case redirect(to: URL)
  /// The original from its first byte on.
  case whole(ResponseMetadata)
  /// Bytes of the original that the known ones are the beginning of.
  case part(ResponseMetadata, Range<Int>, after: KnownOriginal)
  /// The known original is the present one.
  case unchanged(ResponseMetadata)
  case failure(HTTPFailure)

  /// The body is the original: RFC 9110 section 15.3, RFC 3229 section 10.4.1.
  private static let successes: Set<Int> = [200, 201, 202, 203, 226]
  private static let redirects: Set<Int> = [301, 302, 303, 307, 308]
  /// The server, or one between, may answer otherwise in a moment: RFC 9110 section 15.
  private static let passing: Set<Int> = [408, 429, 500, 502, 503, 504]
  /// Statuses that no condition of a request brings about: they concern the original, the account or the
  /// way to the server.
  private static let unconditional: Set<Int> = [
    401, 403, 404, 407, 408, 410, 429, 451, 502, 503, 504,
  ]

  init(on head: HTTPHead, to condition: HTTPCondition) {
    switch (head.status, condition) {
    case (let status, _) where Self.redirects.contains(status) && head.fields["location"] != nil:
      self = Self.redirect(head)
    case (let status, .rest) where Self.successes.contains(status) && Self.isPart(head):
      self = .failure(.contradiction(.httpStatus(status)))
    case (let status, _) where Self.successes.contains(status):
      self = .whole(Self.terms(head))
    case (206, .rest(let known, let first)):
      self = Self.part(head, known, first) ?? .failure(.contradiction(.httpStatus(206)))
    case (206, _) where Self.isWhole(head):
      self = .whole(Self.terms(head))
    case (304, .ifChanged(let known)):
      let newer = Self.terms(head)
      self =
        EntityTag.differ(newer.entityTag, known.terms.entityTag)
        ? .failure(HTTPFailure(error: .httpStatus(304), remedy: .all))
        : .unchanged(known.terms.confirmed(by: newer))
    case (let status, _):
      // A server that is out of order says nothing about the bytes that are known.
      let keepsBytes =
        if case .rest = condition { Self.passing.contains(status) } else {
          ![404, 410].contains(status)
        }
      self = .failure(
        HTTPFailure(
          error: .httpStatus(status), remedy: Self.remedy(for: head, to: condition),
          dropsBytes: !keepsBytes))
    }
  }

  /// Signed addresses, firewalls and servers of apps refuse ranges, and conditions that they do not know,
  /// with any status. So such a status counts only as the answer to a plain request.
  private static func remedy(for head: HTTPHead, to condition: HTTPCondition) -> HTTPFailure.Remedy
  {
    switch condition {
    case .rest: .all
    case .ifChanged where !unconditional.contains(head.status): .all
    // Whatever was not asked for is among these: a part (206), no news (304).
    case .ifChanged, .all:
      passing.contains(head.status) ? .again(notBefore: head.retryDelay) : .none
    }
  }

  private static func redirect(_ head: HTTPHead) -> HTTPDecision {
    let location = head.fields["location", default: ""]
    guard let target = RedirectTarget.url(location, relativeTo: head.url) else {
      let text = "The server redirects to '\(location)', which is no URL."
      return .failure(HTTPFailure(error: .network(text)))
    }
    return .redirect(to: target)
  }

  private static func terms(_ head: HTTPHead) -> ResponseMetadata {
    var fields = head.fields
    // It says something with status 206 alone: RFC 9110 section 14.4.
    if head.status != 206 { fields["content-range"] = nil }
    var terms = ResponseMetadata(fields: fields, received: head.received)
    terms.origin = HTTPHost.origin(of: head.url)
    // Nothing says how long the original of such an answer is the present one: RFC 9111 section 3.
    if [201, 202, 226].contains(head.status), terms.cacheControl?.maxAge == nil,
      terms.cacheControl?.isPublic != true, terms.expires == nil
    {
      terms.cacheControl = CacheControl("no-store")
    }
    return terms
  }

  /// Whether an answer of a whole has only a part of it, as some servers send the rest.
  private static func isPart(_ head: HTTPHead) -> Bool {
    guard let range = head.contentRange else { return false }
    return range.first > 0 || range.total.map { range.last + 1 < $0 } ?? false
  }

  /// Whether a part is all of the original.
  private static func isWhole(_ head: HTTPHead) -> Bool {
    guard let range = head.contentRange, range.first == 0, let total = range.total,
      range.last + 1 == total
    else { return false }
    return !head.isMultipart && head.contentLength.map { $0 == total } ?? true
  }

  /// The part that came, if nothing about it contradicts what is known.
  private static func part(
    _ head: HTTPHead, _ known: KnownOriginal, _ first: Int
  ) -> HTTPDecision? {
    let newer = terms(head)
    guard !newer.hasContentCoding, !head.isMultipart,
      let range = head.contentRange, let total = range.total, total == known.terms.byteCount,
      range.first <= first, range.last >= known.bytes.count || range.last == total - 1,
      head.contentLength.map({ $0 == range.last - range.first + 1 }) ?? true,
      isSameVersion(head, known)
    else { return nil }
    return .part(known.terms.confirmed(by: newer), range.first..<range.last + 1, after: known)
  }

  private static func isSameVersion(_ head: HTTPHead, _ known: KnownOriginal) -> Bool {
    if let before = known.terms.entityTag.flatMap({ EntityTag($0) }) {
      return head.entityTag.map(before.isStronglyEqual) ?? false
    }
    if EntityTag.differ(known.terms.entityTag, head.fields["etag"]) { return false }
    return head.fields["last-modified"].map { $0 == known.terms.lastModified } ?? true
  }
}

/// Why one request brought nothing, and what may help.
struct HTTPFailure: Error, Hashable, Sendable {
  enum Remedy: Hashable, Sendable {
    case none
    /// The same again; not earlier than the server said.
    case again(notBefore: Duration? = nil)
    /// The same again; the server serves others on the same connection meanwhile.
    case resend
    /// The bytes that did not come, at once: all that were announced came, and they were too few.
    case rest
    /// All bytes, without a condition, at once.
    case all
  }

  let error: ImageSourceError
  var remedy = Remedy.none
  /// Whether bytes that have arrived so far are of no use.
  var dropsBytes = false

  /// The answer contradicts what is known.
  static func contradiction(_ error: ImageSourceError) -> HTTPFailure {
    HTTPFailure(error: error, remedy: .all, dropsBytes: true)
  }
}
