/// The pictures of an entity that may stand in for the one that is missing.
///
/// ```swift
/// var policy = VariantPolicy(smallestScale: 0.5)
/// policy.allowsOtherVersions = true
/// ```
public struct VariantPolicy: Hashable, Sendable {
  /// The smallest size of a picture of another format, as a part of the wanted size.
  public var smallestScale = 0.25

  /// Whether pictures of other versions may be shown. An avatar may have been changed for a reason.
  public var allowsOtherVersions = false

  /// Whether pictures of other proportions may be shown: of a format that cuts, for example.
  public var allowsOtherProportions = false

  /// False for ``none``.
  private(set) var allowsStandIns = true

  /// Creates a policy that allows pictures of the same version and proportions.
  ///
  /// - Parameter smallestScale: The smallest size of a picture of another format, as a part of the wanted
  ///   size.
  public init(smallestScale: Double = 0.25) { self.smallestScale = smallestScale }

  /// Allows the wanted picture itself and no other, whatever is changed in it.
  public static let none: VariantPolicy = {
    var policy = VariantPolicy()
    policy.allowsStandIns = false
    return policy
  }()
}
