@_exported public import CoreGraphics
@_exported public import Foundation
@_exported public import ObjectiveC

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
  open var isHidden = false
  open private(set) var subviews: [UIView] = []
  open var window: UIWindow? { _window }
  private weak var _window: UIWindow?

  public override init() { super.init() }
  public init(frame: CGRect) { super.init() }

  open private(set) weak var superview: UIView?
  open var translatesAutoresizingMaskIntoConstraints = true
  open var centerXAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
  open var centerYAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }

  open func addSubview(_ view: UIView) {
    subviews.append(view)
    view.superview = self
    view._move(to: window)
  }

  open func didMoveToWindow() {}

  /// Puts the view and those in it into a window, or takes them out.
  public func _move(to window: UIWindow?) {
    _window = window
    didMoveToWindow()
    for view in subviews { view._move(to: window) }
  }

  open class func transition(
    with view: UIView, duration: TimeInterval, options: UIView.AnimationOptions = [],
    animations: (() -> Void)?, completion: ((Bool) -> Void)? = nil
  ) {
    _transitions.append(duration)
    animations?()
    completion?(true)
  }
}

@MainActor open class UIWindow: UIView {
  open override var window: UIWindow? { self }
  open weak var windowScene: UIWindowScene?
}

@MainActor open class UIWindowScene: NSObject {}

@MainActor open class UIUpdateLink: NSObject {
  /// Those that were made, for tests.
  public static var _links: [UIUpdateLink] = []
  open var isEnabled = true
  open var requiresContinuousUpdates = false
  private var actions: [(UIUpdateLink, UIUpdateInfo) -> Void] = []

  public init(windowScene: UIWindowScene) {
    super.init()
    Self._links.append(self)
  }

  open func addAction(handler: @escaping (UIUpdateLink, UIUpdateInfo) -> Void) {
    actions.append(handler)
  }

  /// What UIKit does before each frame of the screen.
  public func _update() {
    if isEnabled { for action in actions { action(self, UIUpdateInfo()) } }
  }
}

@MainActor open class UIUpdateInfo: NSObject {}

@MainActor public enum UIAccessibility {
  public static var _isReduceMotionEnabled = false
  public static var isReduceMotionEnabled: Bool { _isReduceMotionEnabled }
  public nonisolated static let reduceMotionStatusDidChangeNotification = NSNotification.Name(
    "UIAccessibilityReduceMotionStatusDidChangeNotification")
}

@MainActor open class UIImageView: UIView {
  open var image: UIImage?
}

@MainActor open class UIActivityIndicatorView: UIView {
  public enum Style: Int, Sendable {
    case medium = 100
    case large = 101
  }
  open var style: UIActivityIndicatorView.Style
  open private(set) var isAnimating = false
  public init(style: UIActivityIndicatorView.Style) {
    self.style = style
    super.init(frame: .zero)
  }
  open func startAnimating() { isAnimating = true }
  open func stopAnimating() { isAnimating = false }
}
