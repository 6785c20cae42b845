/// Decides whether a load whose request failed sends another one, and when; it performs nothing itself.
///
/// Invariants:
/// 1. A load sends at most `2 + limit + freeLimit` requests, redirects apart, and what libcurl sends again by itself.
/// 2. It asks at most once for all bytes again because an answer contradicted what is known.
/// 3. Only bytes beyond the most that the load ever had are new.
struct RetryPlan: Sendable {
  enum Decision: Hashable, Sendable {
    case fail
    /// The server answers, or has brought much: that is no burden to it.
    case goOn(after: Duration)
    /// If the host can bear a repetition.
    case retry(after: Duration)
  }

  /// How many new bytes make a request count as a success that broke off.
  static let freeByteCount = 64 << 10
  /// How many requests of a load may break off so.
  static let freeLimit = 20
  /// The longest pause that a server may ask for.
  static let longestWait = Duration.seconds(30)
  /// Above this no delay is doubled any more; it would be 145 hours by default.
  private static let mostDoublings = 20

  private let policy: RetryPolicy
  private var mostByteCount: Int
  private var countedCount = 0
  private var freeCount = 0
  private var hasAskedForAll = false

  /// - Parameter byteCount: The number of first bytes that are known.
  init(_ policy: RetryPolicy, byteCount: Int) {
    self.policy = policy
    mostByteCount = byteCount
  }

  /// - Parameters:
  ///   - byteCount: The number of bytes of the original that are there now.
  ///   - fraction: A random number from 0 to 1.
  mutating func decide(
    after remedy: HTTPFailure.Remedy, byteCount: Int, fraction: Double
  ) -> Decision {
    let newByteCount = byteCount - mostByteCount
    mostByteCount = max(mostByteCount, byteCount)
    switch remedy {
    case .none:
      return .fail
    case .all:
      guard !hasAskedForAll else { return .fail }
      hasAskedForAll = true
      return .goOn(after: .zero)
    case .rest:
      return count(newByteCount) == .none ? .fail : .goOn(after: .zero)
    case .resend, .again:
      let wait = remedy.earliest
      // By the count before this repetition, so that the first delay is not doubled.
      let pause = max(wait, delay(after: countedCount) * fraction)
      guard policy.limit > 0, wait <= Self.longestWait else { return .fail }
      return switch count(newByteCount) {
      case .none: .fail
      case .free: .goOn(after: pause)
      case .counted: remedy == .resend ? .goOn(after: pause) : .retry(after: pause)
      }
    }
  }

  private enum Room {
    case none
    case free
    case counted
  }

  /// Takes one more request out of the limits.
  private mutating func count(_ newByteCount: Int) -> Room {
    if newByteCount >= Self.freeByteCount, freeCount < Self.freeLimit {
      freeCount += 1
      return .free
    }
    guard countedCount < policy.limit else { return .none }
    countedCount += 1
    return .counted
  }

  private func delay(after count: Int) -> Duration {
    let doubled = policy.firstDelay * (1 << min(count, Self.mostDoublings))
    return max(.zero, min(doubled, policy.largestDelay))
  }
}

extension HTTPFailure.Remedy {
  /// How long the server wants to be left alone.
  fileprivate var earliest: Duration {
    if case .again(let wait?) = self { wait } else { .zero }
  }
}

/// Bounds the repetitions to each host, so that a host that fails is not asked many times as often as
/// one that answers.
///
/// Invariant: a host gets at most `freeCount` repetitions, and one more for each ten loads.
struct RetryBudget: Sendable {
  private struct Count {
    var loads = 0
    var retries = 0
  }

  static let freeCount = 10
  /// Hosts that are remembered; beyond them all are forgotten, and each begins anew.
  static let hostLimit = 1000

  private var counts: [HTTPHost: Count] = [:]

  var hostCount: Int { counts.count }

  /// A load begins with this host.
  mutating func begin(_ host: HTTPHost) {
    if counts.count >= Self.hostLimit, counts[host] == nil { counts = [:] }
    counts[host, default: Count()].loads += 1
  }

  /// Takes one repetition, if one is left.
  mutating func takeRetry(_ host: HTTPHost) -> Bool {
    var count = counts[host, default: Count()]
    guard count.retries < Self.freeCount + count.loads / 10 else { return false }
    count.retries += 1
    counts[host] = count
    return true
  }
}
