// Names and cases are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, TypeNamesShouldBeCapitalized

public import Foundation

public enum objc_AssociationPolicy: UInt, Sendable {
  case OBJC_ASSOCIATION_RETAIN_NONATOMIC = 1
}

/// An object that other objects can be associated with. The runtime of Apple platforms takes any object;
/// here the views' classes have the room, so that it goes with them.
public protocol _Associating: AnyObject {
  var _associated: [UnsafeRawPointer: Any] { get set }
}

public func objc_getAssociatedObject(_ object: Any, _ key: UnsafeRawPointer) -> Any? {
  (object as? any _Associating)?._associated[key]
}

public func objc_setAssociatedObject(
  _ object: Any, _ key: UnsafeRawPointer, _ value: Any?, _ policy: objc_AssociationPolicy
) {
  (object as? any _Associating)?._associated[key] = value
}

// MARK: Layout

// UIKit and AppKit declare the same, so it is here once.

@MainActor open class NSLayoutAnchor<AnchorType: AnyObject>: NSObject {
  open func constraint(equalTo anchor: NSLayoutAnchor<AnchorType>) -> NSLayoutConstraint {
    NSLayoutConstraint()
  }
}
@MainActor open class NSLayoutXAxisAnchor: NSLayoutAnchor<NSLayoutXAxisAnchor> {}
@MainActor open class NSLayoutYAxisAnchor: NSLayoutAnchor<NSLayoutYAxisAnchor> {}
@MainActor open class NSLayoutConstraint: NSObject {
  open class func activate(_ constraints: [NSLayoutConstraint]) {}
}
