/// When a request to a web server that failed is sent again.
///
/// Sent again are requests whose connection failed or was silent or slow for too long, whose answer was
/// cut, and those answered with status 408, 429, 500, 502, 503 or 504. What has arrived is not fetched
/// again where the server's answers allow it (``HTTPOptions/resumes``).
///
/// Three things bound the repetitions besides ``limit``. A server that wants to be left alone for more
/// than 30 seconds (`Retry-After`) is. To each host a source sends ten repetitions, and beyond them one
/// for each ten loads that began. A repetition that brought 64 KiB of new bytes does not count, up to 20
/// in a load. A stream of HTTP/2 that the server has reset counts for its load alone, and not for the host.
public struct RetryPolicy: Hashable, Sendable {
  /// How many repetitions of one load may bring less than 64 KiB; 2 by default, and at least none.
  public var limit: Int

  /// The longest pause before the first repetition; 0.5 seconds by default. Each further pause may be
  /// twice as long. A pause takes a random part of that time, so that many loads do not come back at
  /// once.
  public var firstDelay = Duration.milliseconds(500)

  /// The longest of all pauses that the server has not asked for; 10 seconds by default.
  public var largestDelay = Duration.seconds(10)

  /// Creates a policy.
  ///
  /// - Parameter limit: How many repetitions of one load may bring next to nothing.
  public init(limit: Int = 2) { self.limit = limit }

  /// Sends every request once.
  public static let never = RetryPolicy(limit: 0)
}
