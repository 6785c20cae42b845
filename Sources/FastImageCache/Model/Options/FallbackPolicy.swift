/// The images of an entity that may stand in for the one that is missing.
///
/// ```swift
/// var policy = FallbackPolicy(smallestScale: 0.5)
/// policy.allowsOtherVersions = true
/// ```
public struct FallbackPolicy: Hashable, Sendable {
  /// The smallest size of an image of another format, as a part of the wanted size.
  public var smallestScale = 0.25

  /// Whether images of other versions may be shown. An avatar may have been changed for a reason.
  public var allowsOtherVersions = false

  /// Whether images of other proportions may be shown: of a format that cuts, for example.
  public var allowsOtherProportions = false

  /// False for ``none``.
  private(set) var allowsStandIns = true

  /// Creates a policy that allows images of the same version and proportions.
  ///
  /// - Parameter smallestScale: The smallest size of an image of another format, as a part of the wanted
  ///   size.
  public init(smallestScale: Double = 0.25) { self.smallestScale = smallestScale }

  /// Allows the wanted image itself and no other, whatever is changed in it.
  public static let none: FallbackPolicy = {
    var policy = FallbackPolicy()
    policy.allowsStandIns = false
    return policy
  }()
}
