#if !canImport(ImageIO)
  import FastImageCache

  extension ExportedType {
    /// Lossless, as PNG.
    static let encodersOfSystem: [String: Encode] = [
      "webp": { try $0.data(encodedBy: .losslessWebP) }
    ]
  }
#endif
