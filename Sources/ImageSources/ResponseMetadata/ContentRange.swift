/// Which bytes of the original an answer has: RFC 9110 section 14.4.
struct ContentRange: Hashable, Sendable {
  let first: Int
  let last: Int
  /// The number of bytes of the whole original; `nil` where the server does not know it.
  let total: Int?

  /// Reads a field; `nil` where it has no bytes, contradicts itself, or has a number from `Int.max` on, so that
  /// `last + 1` is always a number.
  init?(_ text: String) {
    var reader = FieldReader(text)
    guard reader.take("bytes "), let first = reader.length(), reader.take("-"),
      let last = reader.length(), first <= last, reader.take("/")
    else { return nil }
    (self.first, self.last) = (first, last)
    if reader.take("*") {
      total = nil
    } else {
      guard let total = reader.length(), last < total else { return nil }
      self.total = total
    }
    if !reader.isAtEnd { return nil }
  }
}
