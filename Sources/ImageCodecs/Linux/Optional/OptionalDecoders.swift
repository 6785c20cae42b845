#if !canImport(ImageIO)
  /// The decoders behind traits of the package, for those traits that are enabled.
  let optionalDecoders: [any ImageDecoder] = gif + avif + heif + svg + pixbuf

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

  #if GIF
    private let gif: [any ImageDecoder] = [GIFDecoder()]
  #else
    private let gif: [any ImageDecoder] = []
  #endif

  #if AVIF
    private let avif: [any ImageDecoder] = [AVIFDecoder()]
  #else
    private let avif: [any ImageDecoder] = []
  #endif

  #if HEIF
    private let heif: [any ImageDecoder] = [HEIFDecoder()]
  #else
    private let heif: [any ImageDecoder] = []
  #endif

  #if SVG
    private let svg: [any ImageDecoder] = [SVGDecoder()]
  #else
    private let svg: [any ImageDecoder] = []
  #endif

  #if Pixbuf
    private let pixbuf: [any ImageDecoder] = [PixbufDecoder()]
  #else
    private let pixbuf: [any ImageDecoder] = []
  #endif
#endif
