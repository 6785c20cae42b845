@_exported public import CoreGraphics
@_exported public import Foundation
public import ObjectiveC
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
  open var layer: CALayer?
  open var wantsLayer = false { didSet { if wantsLayer, layer == nil { layer = CALayer() } } }
}

@MainActor open class NSControl: NSView {}

@MainActor open class NSImageView: NSControl {
  open var image: NSImage?
}
