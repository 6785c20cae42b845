/// Networks that a request does not use, as systems tell them apart.
struct NetworkCosts: OptionSet, Hashable, Sendable {
  let rawValue: Int

  /// Networks on which the user saves data: Low Data Mode on Apple platforms.
  static let constrained = NetworkCosts(rawValue: 1 << 0)

  /// Networks that the system takes for expensive, such as cellular ones and personal hotspots.
  static let expensive = NetworkCosts(rawValue: 1 << 1)

  mutating func set(_ cost: NetworkCosts, _ isMember: Bool) {
    if isMember { insert(cost) } else { remove(cost) }
  }
}
