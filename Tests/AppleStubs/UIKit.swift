@_exported public import CoreGraphics
@_exported public import Foundation
public import ObjectiveC

/// `@unchecked Sendable` is Apple's promise, which holds here: nothing changes after `init`.
open class UIImage: NSObject, @unchecked Sendable {
  public enum Orientation: Int, Sendable {
    case up, down, left, right, upMirrored, downMirrored, leftMirrored, rightMirrored
  }

  open private(set) var cgImage: CGImage?
  public let scale: CGFloat
  public let imageOrientation: UIImage.Orientation

  public init(cgImage: CGImage, scale: CGFloat, orientation: UIImage.Orientation) {
    (self.cgImage, self.scale, imageOrientation) = (cgImage, scale, orientation)
  }

  open var size: CGSize {
    CGSize(
      width: CGFloat(cgImage?.width ?? 0) / scale, height: CGFloat(cgImage?.height ?? 0) / scale)
  }
}

@MainActor open class UIView: NSObject, @preconcurrency _Associating {
  public struct AnimationOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let allowUserInteraction = UIView.AnimationOptions(rawValue: 1 << 1)
    public static let transitionCrossDissolve = UIView.AnimationOptions(rawValue: 5 << 20)
  }

  /// The seconds of each transition so far, in their order; for tests.
  public static var _transitions: [TimeInterval] = []
  public var _associated: [UnsafeRawPointer: Any] = [:]

  open class func transition(
    with view: UIView, duration: TimeInterval, options: UIView.AnimationOptions = [],
    animations: (() -> Void)?, completion: ((Bool) -> Void)? = nil
  ) {
    _transitions.append(duration)
    animations?()
    completion?(true)
  }
}

@MainActor open class UIImageView: UIView {
  open var image: UIImage?
}

@MainActor open class UICollectionReusableView: UIView {
  open func prepareForReuse() {}
}

@MainActor open class UICollectionViewCell: UICollectionReusableView {}
