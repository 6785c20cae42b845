#if canImport(SwiftUI) || canImport(UIKit) || canImport(AppKit)
  // A client has what all toolkits share, such as `reloadViews(of:)`, by importing this module.
  @_exported public import ImageViewing
#endif
