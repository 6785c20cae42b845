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
