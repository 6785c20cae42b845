#if canImport(ImageIO)
  import FastImageCache

  extension ExportedType {
    /// ImageIO writes no WebP.
    static let encodersOfSystem: [String: Encode] = [:]
  }
#endif
