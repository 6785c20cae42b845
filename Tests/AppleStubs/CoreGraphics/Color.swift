// Names and cases are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, TypeNamesShouldBeCapitalized

@_exported public import Foundation

// Core Foundation's types are bridged on Apple platforms; here aliases let the same casts pass.
public typealias CFData = Data
public typealias CFMutableData = NSMutableData
public typealias CFString = String
public typealias CFDictionary = [AnyHashable: Any]
public typealias CFTypeRef = AnyObject

/// Display P3 is converted; all others that have three components count as sRGB.
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

extension CGColorSpace {
  var isDisplayP3: Bool { name == Self.displayP3 }

  /// Red, green and blue, from 0 to 1, of this space as another has them, cut where it does not.
  func converted(_ rgb: [Double], to other: CGColorSpace) -> [Double] {
    guard model == .rgb, other.model == .rgb, isDisplayP3 != other.isDisplayP3 else { return rgb }
    // CSS Color 4, section 17.
    let rows: [[Double]] =
      isDisplayP3
      ? [
        [1.2249402, -0.2249402, 0], [-0.0420570, 1.0420570, 0],
        [-0.0196376, -0.0786360, 1.0982736],
      ]
      : [
        [0.8224620, 0.1775380, 0], [0.0331942, 0.9668058, 0], [0.0170826, 0.0723974, 0.9105199],
      ]
    let light = rgb.map { $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4) }
    return rows.map { row in
      let value = min(max(zip(row, light).map { $0 * $1 }.reduce(0, +), 0), 1)
      return value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
    }
  }

  /// The same of blue, green, red and premultiplied alpha.
  func converted(bgra: [UInt8], to other: CGColorSpace) -> [UInt8] {
    guard model == .rgb, other.model == .rgb, isDisplayP3 != other.isDisplayP3 else { return bgra }
    var result = bgra
    for start in stride(from: 0, to: bgra.count, by: 4) where bgra[start + 3] > 0 {
      let alpha = Double(bgra[start + 3])
      let rgb = (0..<3).map { min(Double(bgra[start + 2 - $0]) / alpha, 1) }
      for (channel, value) in converted(rgb, to: other).enumerated() {
        result[start + 2 - channel] = UInt8((value * alpha).rounded())
      }
    }
    return result
  }
}

public final class CGColor {
  /// Red, green, blue and alpha.
  let rgba: [Double]
  let space: CGColorSpace

  private init(
    _ red: CGFloat, _ green: CGFloat, _ blue: CGFloat, _ alpha: CGFloat,
    _ space: CGColorSpace = CGColorSpaceCreateDeviceRGB()
  ) {
    rgba = [red, green, blue, alpha].map { Double($0) }
    self.space = space
  }

  /// Red, green, blue and alpha as another space has them.
  func rgba(in other: CGColorSpace) -> [Double] {
    space.converted(Array(rgba.prefix(3)), to: other) + [rgba[3]]
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
      self.init(components[0], components[1], components[2], components[3], space)
    }
  }
}
