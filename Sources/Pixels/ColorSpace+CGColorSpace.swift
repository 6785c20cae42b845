#if canImport(CoreGraphics)
  package import CoreGraphics

  extension ColorSpace {
    /// CoreGraphics' space of the same name; `nil` if it does not know it.
    package var cgColorSpace: CGColorSpace? {
      switch self {
      case .sRGB: CGColorSpace(name: CGColorSpace.sRGB)
      case .displayP3: CGColorSpace(name: CGColorSpace.displayP3)
      }
    }
  }
#endif
