/// The pause that a server asks for: RFC 9110 section 10.2.3.
enum RetryAfter: Hashable, Sendable {
  case delay(seconds: UInt32)
  case date(HTTPDate)

  /// Reads a field; `nil` where it is neither a number nor a date.
  init?(_ text: String, now: HTTPDate) {
    if let seconds = DeltaSeconds.read(text) {
      self = .delay(seconds: seconds)
    } else if let date = HTTPDate(text, now: now) {
      self = .date(date)
    } else {
      return nil
    }
  }

  /// The time that is left of it when the answer has just arrived.
  func delay(from now: HTTPDate) -> Duration {
    switch self {
    case .delay(let seconds): .seconds(seconds)
    case .date(let date): .seconds(max(0, date.seconds - now.seconds))
    }
  }
}
