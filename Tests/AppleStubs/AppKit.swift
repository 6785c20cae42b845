@_exported public import CoreGraphics
@_exported public import Foundation
@_exported public import ObjectiveC
@_exported public import QuartzCore

/// `@unchecked Sendable` is Apple's; here nothing changes after `init`.
open class NSImage: NSObject, @unchecked Sendable {
  open private(set) var size: NSSize
  /// What `cgImage(forProposedRect:context:hints:)` finds.
  public let _cgImage: CGImage

  public init(cgImage: CGImage, size: NSSize) { (_cgImage, self.size) = (cgImage, size) }
}

@MainActor open class NSView: NSObject, @preconcurrency _Associating {
  public var _associated: [UnsafeRawPointer: Any] = [:]
  open var isHidden = false
  open private(set) var subviews: [NSView] = []
  open var window: NSWindow? { _window }
  private weak var _window: NSWindow?

  public override init() { super.init() }
  public init(frame frameRect: NSRect) { super.init() }

  open var translatesAutoresizingMaskIntoConstraints = true
  open var centerXAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
  open var centerYAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }

  open func addSubview(_ view: NSView) {
    subviews.append(view)
    view._move(to: _window)
  }

  open func viewDidMoveToWindow() {}

  /// Puts the view and those in it into a window, or takes them out.
  public func _move(to window: NSWindow?) {
    _window = window
    viewDidMoveToWindow()
    for view in subviews { view._move(to: window) }
  }

  open var layer: CALayer?
  open var wantsLayer = false { didSet { if wantsLayer, layer == nil { layer = CALayer() } } }
}

@MainActor open class NSWindow: NSObject, @preconcurrency _Associating {
  public struct OcclusionState: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let visible = NSWindow.OcclusionState(rawValue: 1 << 1)
  }

  public nonisolated static let didChangeOcclusionStateNotification = NSNotification.Name(
    "NSWindowDidChangeOcclusionStateNotification")
  public var _associated: [UnsafeRawPointer: Any] = [:]
  open var occlusionState: NSWindow.OcclusionState { _isVisible ? .visible : [] }
  public var _isVisible = true {
    didSet {
      NotificationCenter.default.post(
        name: Self.didChangeOcclusionStateNotification, object: self)
    }
  }
}

@MainActor open class NSWorkspace: NSObject {
  public class var shared: NSWorkspace { _shared }
  private static let _shared = NSWorkspace()
  open var accessibilityDisplayShouldReduceMotion: Bool { _reducesMotion }
  public var _reducesMotion = false
  public let notificationCenter = NotificationCenter()
  public nonisolated static let accessibilityDisplayOptionsDidChangeNotification =
    NSNotification.Name("NSWorkspaceAccessibilityDisplayOptionsDidChangeNotification")
}

@MainActor open class NSControl: NSView {
  public enum ControlSize: UInt, Sendable { case regular, small, mini, large }
}

@MainActor open class NSProgressIndicator: NSView {
  public enum Style: UInt, Sendable { case bar, spinning }
  open var style = NSProgressIndicator.Style.bar
  open var controlSize = NSControl.ControlSize.regular
  open var isDisplayedWhenStopped = true
  public private(set) var _isAnimating = false
  open func startAnimation(_ sender: Any?) { _isAnimating = true }
  open func stopAnimation(_ sender: Any?) { _isAnimating = false }
}

@MainActor open class NSImageView: NSControl {
  open var image: NSImage?
}
