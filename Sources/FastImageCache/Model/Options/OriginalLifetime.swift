extension LoadOptions {
  /// How long one original is kept, in place of the ``OriginalStore/Lifetime`` of its store.
  public struct OriginalLifetime: Hashable, Sendable {
    /// Afterwards no request finds the original, whatever its server said. Its bytes stay on disk until the store needs
    /// the room.
    public var maximumAge: Duration

    /// Whether ``maximumAge`` begins anew with each use.
    public var renewsOnUse: Bool

    /// Creates a lifetime.
    public init(_ maximumAge: Duration, renewsOnUse: Bool = true) {
      (self.maximumAge, self.renewsOnUse) = (maximumAge, renewsOnUse)
    }

    /// As long as either of both says.
    func union(_ other: OriginalLifetime) -> OriginalLifetime {
      OriginalLifetime(
        max(maximumAge, other.maximumAge), renewsOnUse: renewsOnUse || other.renewsOnUse)
    }
  }
}
