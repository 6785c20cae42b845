/// Networks that a request does not use, as systems tell them apart.
package struct NetworkCosts: OptionSet, Hashable, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }

  /// Networks on which the user saves data: Low Data Mode on Apple platforms.
  package static let constrained = NetworkCosts(rawValue: 1 << 0)

  /// Networks that the system takes for expensive, such as cellular ones and personal hotspots.
  package static let expensive = NetworkCosts(rawValue: 1 << 1)

  package mutating func set(_ cost: NetworkCosts, _ isMember: Bool) {
    if isMember { insert(cost) } else { remove(cost) }
  }
}
