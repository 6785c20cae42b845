/// What the requests of one load say of the time for which its original is kept; pure.
struct SharedOriginalLifetime: Hashable, Sendable {
  /// The longest of those that say something.
  private var longest: LoadOptions.OriginalLifetime?
  /// Whether one leaves it to the store.
  private var leavesToStore = false

  mutating func add(_ lifetime: LoadOptions.OriginalLifetime?) {
    if let lifetime { longest = longest?.union(lifetime) ?? lifetime } else { leavesToStore = true }
  }

  /// The lifetime in a store; `nil` where it is the store's own.
  func lifetime(in store: OriginalStore.Lifetime) -> LoadOptions.OriginalLifetime? {
    guard leavesToStore else { return longest }
    return longest?.union(.init(store.maximumAge, renewsOnUse: store.renewsOnUse))
  }
}
