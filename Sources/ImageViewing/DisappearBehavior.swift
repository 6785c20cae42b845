/// What becomes of the load that a view waits for when the view leaves the screen.
///
/// The view lets its image go in any case.
public enum DisappearBehavior: Hashable, Sendable {
  /// The view gives it up; it ends unless another request waits for it.
  case cancel

  /// It goes on at low priority, and its image is stored. A request with a ``LoadOptions/priority`` of its own keeps
  /// that.
  case lowerPriority

  /// It goes on as it was, and its image is stored.
  case keepLoading
}
