import Foundation

/// The script of a ``ScriptedImageSource``, and the events of its loads.
///
/// Invariant: a URL is held exactly if `holdsAll` differs from whether it is among `exceptions`.
struct LoadScript: Sendable {
  struct Counts: Sendable {
    var loads = 0
    var cancellations = 0
  }

  private var counts: [URL: Counts] = [:]
  private var holdsAll: Bool
  private var exceptions: Set<URL> = []

  init(holdsAll: Bool = false) { self.holdsAll = holdsAll }

  func isHeld(_ url: URL) -> Bool { holdsAll != exceptions.contains(url) }

  /// - Parameter url: `nil` for all URLs, those of which nothing was said before too.
  mutating func hold(_ url: URL?, _ isHeld: Bool) {
    guard let url else {
      holdsAll = isHeld
      exceptions = []
      return
    }
    if holdsAll == isHeld { exceptions.remove(url) } else { exceptions.insert(url) }
  }

  /// - Parameter url: `nil` for all URLs together.
  func counts(of url: URL?) -> Counts {
    if let url { return counts[url] ?? Counts() }
    return counts.values.reduce(into: Counts()) { sum, counts in
      sum.loads += counts.loads
      sum.cancellations += counts.cancellations
    }
  }

  mutating func noteLoad(of url: URL) { counts[url, default: Counts()].loads += 1 }

  mutating func noteCancellation(of url: URL) {
    counts[url, default: Counts()].cancellations += 1
  }
}
