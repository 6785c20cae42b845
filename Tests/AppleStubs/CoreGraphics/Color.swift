// Names and cases are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, TypeNamesShouldBeCapitalized

@_exported public import Foundation

// Core Foundation's types are bridged on Apple platforms; here aliases let the same casts pass.
public typealias CFData = Data
public typealias CFMutableData = NSMutableData
public typealias CFString = String
public typealias CFDictionary = [AnyHashable: Any]
public typealias CFNumber = NSNumber
public typealias CFTypeRef = AnyObject

/// Colours are not converted between spaces: all that have three components count as sRGB.
public final class CGColorSpace {
  public static let sRGB: CFString = "kCGColorSpaceSRGB"
  public static let displayP3: CFString = "kCGColorSpaceDisplayP3"
  public static let genericGrayGamma2_2: CFString = "kCGColorSpaceGenericGrayGamma2_2"
  public static let linearGray: CFString = "kCGColorSpaceLinearGray"

  public let name: CFString?
  public let model: CGColorSpaceModel
  public var numberOfComponents: Int { model == .monochrome ? 1 : 3 }

  fileprivate init(_ name: CFString?, _ model: CGColorSpaceModel) {
    (self.name, self.model) = (name, model)
  }

  public convenience init?(name: CFString) {
    switch name {
    case Self.sRGB, Self.displayP3: self.init(name, .rgb)
    case Self.genericGrayGamma2_2, Self.linearGray: self.init(name, .monochrome)
    default: return nil
    }
  }

  public init?(iccData: CFTypeRef) { nil }
}

public enum CGColorSpaceModel: Int32, Sendable {
  case unknown = -1
  case monochrome, rgb, cmyk, lab, deviceN, indexed, pattern, XYZ
}

public func CGColorSpaceCreateDeviceRGB() -> CGColorSpace { CGColorSpace(nil, .rgb) }
public func CGColorSpaceCreateDeviceGray() -> CGColorSpace { CGColorSpace(nil, .monochrome) }

public enum CGColorRenderingIntent: Int32, Sendable {
  case defaultIntent, absoluteColorimetric, relativeColorimetric, perceptual, saturation
}

public final class CGColor {
  /// Red, green, blue and alpha.
  let rgba: [Double]

  private init(_ red: CGFloat, _ green: CGFloat, _ blue: CGFloat, _ alpha: CGFloat) {
    rgba = [red, green, blue, alpha].map { Double($0) }
  }

  public convenience init(srgbRed red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
    self.init(red, green, blue, alpha)
  }
  public convenience init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
    self.init(red, green, blue, alpha)
  }
  public convenience init(gray: CGFloat, alpha: CGFloat) { self.init(gray, gray, gray, alpha) }
  public convenience init?(colorSpace space: CGColorSpace, components: UnsafePointer<CGFloat>) {
    if space.numberOfComponents == 1 {
      self.init(gray: components[0], alpha: components[1])
    } else {
      self.init(components[0], components[1], components[2], components[3])
    }
  }
}
