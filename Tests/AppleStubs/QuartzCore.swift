public import Foundation

public struct CATransitionType: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public static let fade = CATransitionType(rawValue: "fade")
}

open class CAAnimation: NSObject {
  open var duration: CFTimeInterval = 0
}

open class CATransition: CAAnimation {
  open var type = CATransitionType.fade
}

open class CALayer: NSObject {
  /// The animations so far, in their order; for tests.
  public var _animations: [CAAnimation] = []
  open func add(_ anim: CAAnimation, forKey key: String?) { _animations.append(anim) }
}

public typealias CFTimeInterval = Double
