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
