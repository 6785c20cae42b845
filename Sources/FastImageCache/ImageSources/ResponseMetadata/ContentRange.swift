/// Which bytes of the original an answer has: RFC 9110 section 14.4.
enum ContentRange: Hashable, Sendable {
  /// The bytes from `first` to `last`, both counted; `total` is `nil` where the server does not know it.
  case part(first: Int, last: Int, total: Int?)
  /// None, since the range that was asked for lies behind the end.
  case unsatisfied(total: Int?)

  /// Reads a field; `nil` where it contradicts itself, or has a number from `Int.max` on, so that
  /// `last + 1` is always a number.
  init?(_ text: String) {
    var reader = FieldReader(text)
    // `*/*` is none of the standard's forms; some servers send it with status 416.
    if reader.take("*/*"), reader.isAtEnd {
      self = .unsatisfied(total: nil)
      return
    }
    guard reader.take("bytes ") else { return nil }
    if reader.take("*/") {
      guard let total = reader.length(), reader.isAtEnd else { return nil }
      self = .unsatisfied(total: total)
      return
    }
    guard let first = reader.length(), reader.take("-"), let last = reader.length(), first <= last,
      reader.take("/")
    else { return nil }
    var total: Int?
    if !reader.take("*") {
      total = reader.length()
      guard let total, last < total else { return nil }
    }
    guard reader.isAtEnd else { return nil }
    self = .part(first: first, last: last, total: total)
  }

  /// The number of bytes of the whole original.
  var total: Int? {
    switch self {
    case .part(_, _, let total), .unsatisfied(let total): total
    }
  }
}
