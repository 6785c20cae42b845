#if !canImport(ImageIO)
  /// The decoders behind traits of the package, for those traits that are enabled.
  let optionalDecoders: [(type: EncodedImageType, decoder: any ImageDecoder)] = gif + avif + heif

  /// The types that a trait of the package would decode, had it been enabled.
  let traitsLeftOut = Set<EncodedImageType>([.gif, .avif, .heif])
    .subtracting(optionalDecoders.map(\.type))

  #if GIF
    private let gif: [(type: EncodedImageType, decoder: any ImageDecoder)] = [(.gif, GIFDecoder())]
  #else
    private let gif: [(type: EncodedImageType, decoder: any ImageDecoder)] = []
  #endif

  #if AVIF
    private let avif: [(type: EncodedImageType, decoder: any ImageDecoder)] = [
      (.avif, AVIFDecoder())
    ]
  #else
    private let avif: [(type: EncodedImageType, decoder: any ImageDecoder)] = []
  #endif

  #if HEIF
    private let heif: [(type: EncodedImageType, decoder: any ImageDecoder)] = [
      (.heif, HEIFDecoder())
    ]
  #else
    private let heif: [(type: EncodedImageType, decoder: any ImageDecoder)] = []
  #endif
#endif
