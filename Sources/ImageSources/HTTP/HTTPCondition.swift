import Foundation

/// The condition of a request, and so what it asks a server for.
enum HTTPCondition: Sendable {
  /// The whole original.
  case all
  /// The whole original, if it is another than the known one.
  case ifChanged(KnownOriginal)
  /// The original from this byte on, if the known bytes are still its first ones.
  case rest(KnownOriginal, from: Int)

  /// How many known bytes are fetched again where only a date tells versions apart: the answer need not
  /// repeat the date (RFC 9110 section 15.3.7), so that these bytes are the only proof.
  private static let overlapByteCount = 256

  /// Asks for no more than is needed.
  ///
  /// - Parameter resumes: Whether first bytes may be continued.
  init(for known: KnownOriginal?, resumes: Bool) {
    guard let known else {
      self = .all
      return
    }
    if known.isWhole {
      let hasValidator = known.terms.entityTag != nil || known.terms.lastModified != nil
      self = hasValidator ? .ifChanged(known) : .all
      return
    }
    guard resumes, known.terms.mayBeContinued, let total = known.terms.byteCount,
      known.bytes.count <= total
    else {
      self = .all
      return
    }
    // At least one byte is asked for, since a range without bytes is refused.
    let end = min(known.bytes.count, total - 1)
    let isTagged = known.terms.strongValidator == known.terms.entityTag
    let first = isTagged ? end : end - Self.overlapByteCount
    self = first > 0 ? .rest(known, from: first) : .all
  }

  /// The number of first bytes that need not be fetched again.
  var firstByteCount: Int {
    if case .rest(let known, _) = self { known.bytes.count } else { 0 }
  }

  /// The headers that go to one address.
  ///
  /// A validator would tell another host which image was loaded. At another path the server compares
  /// it with another image's: one that is older than the date counts as unchanged.
  func sent(to url: URL) -> HTTPCondition {
    switch self {
    case .all: .all
    case .ifChanged(let known), .rest(let known, _):
      known.terms.origin == HTTPHost.origin(of: url) ? self : .all
    }
  }

  /// The fields that make the request conditional.
  var fields: [String: String] {
    switch self {
    case .all: [:]
    case .ifChanged(let known):
      if let tag = known.terms.entityTag {
        ["If-None-Match": tag]
      } else {
        known.terms.lastModified.map { ["If-Modified-Since": $0] } ?? [:]
      }
    case .rest(let known, let first):
      known.terms.strongValidator.map { ["Range": "bytes=\(first)-", "If-Range": $0] } ?? [:]
    }
  }

  /// Names, in lower case, of the fields that only a condition may set: the answers to others' conditions
  /// would be misread.
  static let reservedNames: Set<String> = [
    "range", "if-range", "if-none-match", "if-modified-since",
  ]
}
