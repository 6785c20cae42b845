#if !canImport(ImageIO)
  import Foundation
  import Pixels

  extension ColorSpace {
    /// The space of colours that this conversion leads from; without a conversion sRGB.
    fileprivate init?(of conversion: LCMSConversion?) throws(ImageDecodingError) {
      guard let conversion else {
        self = .sRGB
        return
      }
      guard conversion.kind == .rgb else { return nil }
      guard conversion.prepare(for: .displayP3) else { throw .outOfMemory }
      guard conversion.isOfDisplayP3 else { return nil }
      self = .displayP3
    }
  }

  extension JPEGDecoder: SystemDecoder {
    var types: [EncodedImageType] { [.jpeg] }

    func colorSpace(of data: Data) throws(ImageDecodingError) -> ColorSpace? {
      try data.lendBytes { bytes throws(ImageDecodingError) in
        let kind = try JPEGReader(bytes).kind
        guard kind != .cmyk else { return nil }
        let profile = JPEGSegments(bytes.bytes).profile(bytes)
        return try ColorSpace(of: LCMSConversion.shared(profile: profile, kind: kind))
      }
    }
  }

  extension PNGDecoder: SystemDecoder {
    var types: [EncodedImageType] { [.png] }

    func colorSpace(of data: Data) throws(ImageDecodingError) -> ColorSpace? {
      try data.lendBytes { bytes throws(ImageDecodingError) in
        let chunks = try PNGChunks(bytes.bytes)
        guard chunks.pixels != nil else { throw .truncated }
        let reader = try PNGReader(bytes, chunks, DecodingLimits(), isCut: true)
        return try ColorSpace(
          of: chunks.colors.conversion(profile: reader.profile, kind: reader.profileKind))
      }
    }
  }

  extension WebPDecoder: SystemDecoder {
    var types: [EncodedImageType] { [.webp] }

    func colorSpace(of data: Data) throws(ImageDecodingError) -> ColorSpace? {
      try data.lendBytes { bytes throws(ImageDecodingError) in
        let profile = try WebPReader(bytes, mayBeCut: true).profile
        return try ColorSpace(of: LCMSConversion.shared(profile: profile, kind: .rgb))
      }
    }
  }

  #if GIF
    extension GIFDecoder: SystemDecoder {
      var types: [EncodedImageType] { [.gif] }

      func colorSpace(of data: Data) -> ColorSpace? { .sRGB }
    }
  #endif

  #if AVIF
    extension AVIFDecoder: SystemDecoder {
      var types: [EncodedImageType] { [.avif] }

      func colorSpace(of data: Data) throws(ImageDecodingError) -> ColorSpace? {
        try data.lendBytes { bytes throws(ImageDecodingError) in
          try ColorSpace(of: AVIFReader(bytes).conversion)
        }
      }
    }
  #endif

  #if HEIF
    extension HEIFDecoder: SystemDecoder {
      var types: [EncodedImageType] { [.heif] }

      func colorSpace(of data: Data) throws(ImageDecodingError) -> ColorSpace? {
        try data.lendBytes { bytes throws(ImageDecodingError) in
          try ColorSpace(of: HEIFReader(bytes).conversion)
        }
      }
    }
  #endif

  #if Pixbuf
    extension PixbufDecoder: SystemDecoder {
      var types: [EncodedImageType] { [.tiff, .bmp, .ico] }

      func colorSpace(of data: Data) throws(ImageDecodingError) -> ColorSpace? {
        try data.lendBytes { bytes throws(ImageDecodingError) in
          switch try Contents(bytes.bytes) {
          case .image(let file): try ColorSpace(of: file.conversion(bytes.bytes))
          case .png(let place): try PNGDecoder().colorSpace(of: Data(bytes[place]))
          }
        }
      }
    }
  #endif
#endif
