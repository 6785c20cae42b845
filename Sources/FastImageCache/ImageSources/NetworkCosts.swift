/// Networks that cost somebody something, as systems tell them apart.
public struct NetworkCosts: OptionSet, Hashable, Sendable {
  /// One bit for each kind.
  public let rawValue: Int

  /// Networks on which the user saves data: Low Data Mode on Apple platforms.
  public static let constrained = NetworkCosts(rawValue: 1 << 0)

  /// Networks that the system takes for expensive, such as cellular ones and personal hotspots.
  public static let expensive = NetworkCosts(rawValue: 1 << 1)

  /// Creates a set of the kinds whose bits are set.
  public init(rawValue: Int) { self.rawValue = rawValue }
}
