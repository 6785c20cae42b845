import Foundation

/// The meaning of an answer's head: the request and the head in, the next action out.
enum HTTPVerdict: Sendable {
  case redirect(to: URL)
  /// The original from its first byte on.
  case whole(OriginalTerms)
  /// Bytes of the original that the known ones are the beginning of.
  case part(OriginalTerms, Range<Int>, after: KnownOriginal)
  /// The known original is the present one.
  case unchanged(OriginalTerms)
  case failure(HTTPFailure)

  private static let redirects: Set<Int> = [301, 302, 303, 307, 308]
  /// The server, or one between, may answer otherwise in a moment: RFC 9110 section 15.
  private static let passing: Set<Int> = [408, 429, 500, 502, 503, 504]

  init(on head: HTTPHead, to ask: HTTPAsk) {
    switch (head.status, ask) {
    case (let status, _) where Self.redirects.contains(status):
      self = Self.redirect(head)
    case (200, _): self = .whole(Self.terms(head))
    case (206, .rest(let known, let first)):
      self = Self.part(head, known, first) ?? .failure(.contradiction(.httpStatus(206)))
    case (304, .ifChanged(let known)):
      let isOther = Self.differ(head.entityTag, known.terms.entityTag.flatMap { EntityTag($0) })
      self =
        isOther
        ? .failure(HTTPFailure(error: .httpStatus(304), remedy: .all))
        : .unchanged(known.terms.confirmed(by: Self.terms(head)))
    case (304, .rest), (412, .rest), (416, .rest):
      self = .failure(.contradiction(.httpStatus(head.status)))
    case (let status, _):
      // Whatever was not asked for is among these: a part (206), no news (304).
      let remedy: HTTPFailure.Remedy =
        Self.passing.contains(status) ? .again(notBefore: head.retryDelay) : .none
      self = .failure(
        HTTPFailure(
          error: .httpStatus(status), remedy: remedy, dropsBytes: [404, 410].contains(status)))
    }
  }

  private static func redirect(_ head: HTTPHead) -> HTTPVerdict {
    guard let location = head.fields["location"] else {
      return .failure(HTTPFailure(error: .httpStatus(head.status)))
    }
    guard let target = URL(string: location, relativeTo: head.url)?.absoluteURL else {
      let text = "The server redirects to '\(location)', which is no URL."
      return .failure(HTTPFailure(error: .network(text)))
    }
    return .redirect(to: target)
  }

  private static func terms(_ head: HTTPHead) -> OriginalTerms {
    var fields = head.fields
    // It says something with status 206 alone: RFC 9110 section 14.4.
    if head.status == 200 { fields["content-range"] = nil }
    var terms = OriginalTerms(fields: fields, received: head.received)
    terms.origin = HTTPHost.origin(of: head.url)
    return terms
  }

  /// The part that came, if nothing about it contradicts what is known.
  private static func part(
    _ head: HTTPHead, _ known: KnownOriginal, _ first: Int
  ) -> HTTPVerdict? {
    let newer = terms(head)
    guard !newer.hasContentCoding,
      head.fields["content-type"]?.lowercased().hasPrefix("multipart/") != true,
      let range = head.fields["content-range"].flatMap({ ContentRange($0) }),
      case .part(let begin, let last, let total?) = range, total == known.terms.byteCount,
      begin <= first, last >= known.bytes.count || last == total - 1,
      head.contentLength.map({ $0 == last - begin + 1 }) ?? true, isSameVersion(head, known)
    else { return nil }
    return .part(known.terms.confirmed(by: newer), begin..<last + 1, after: known)
  }

  private static func isSameVersion(_ head: HTTPHead, _ known: KnownOriginal) -> Bool {
    if let text = known.terms.entityTag {
      guard let before = EntityTag(text), let now = head.entityTag else { return false }
      return before.isStronglyEqual(to: now)
    }
    return head.fields["last-modified"].map { $0 == known.terms.lastModified } ?? true
  }

  private static func differ(_ first: EntityTag?, _ second: EntityTag?) -> Bool {
    guard let first, let second else { return false }
    return !first.isWeaklyEqual(to: second)
  }
}
