#if !canImport(ImageIO)
  /// The decoders behind traits of the package, for those traits that are enabled.
  func makeOptionalDecoders() -> [any ImageDecoder] {
    var decoders: [any ImageDecoder] = []
    decoders.reserveCapacity(5)
    #if GIF
      decoders.append(GIFDecoder())
    #endif
    #if AVIF
      decoders.append(AVIFDecoder())
    #endif
    #if HEIF
      decoders.append(HEIFDecoder())
    #endif
    #if SVG
      decoders.append(SVGDecoder())
    #endif
    #if Pixbuf
      decoders.append(PixbufDecoder())
    #endif
    return decoders
  }

  extension EncodedImageType {
    /// The trait of the package that its decoder needs.
    var trait: String? {
      switch self {
      case .gif: "GIF"
      case .avif: "AVIF"
      case .heif: "HEIF"
      case .svg: "SVG"
      case .tiff, .bmp, .ico: "Pixbuf"
      case .jpeg, .png, .webp, .pdf: nil
      }
    }
  }
#endif
