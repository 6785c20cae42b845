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

  extension JPEGDecoder: ColorSpaceReading {
    func colorSpace(of data: Data) throws(ImageDecodingError) -> ColorSpace? {
      try data.lendBytes { bytes throws(ImageDecodingError) in
        let kind = try JPEGReader(bytes).kind
        guard kind != .cmyk else { return nil }
        let profile = JPEGSegments(bytes.bytes).profile(bytes)
        return try ColorSpace(of: LCMSConversion.shared(profile: profile, kind: kind))
      }
    }
  }

  extension PNGDecoder: ColorSpaceReading {
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

  extension WebPDecoder: ColorSpaceReading {
    func colorSpace(of data: Data) throws(ImageDecodingError) -> ColorSpace? {
      try data.lendBytes { bytes throws(ImageDecodingError) in
        let profile = try WebPReader(bytes, mayBeCut: true).profile
        return try ColorSpace(of: LCMSConversion.shared(profile: profile, kind: .rgb))
      }
    }
  }

  #if GIF
    extension GIFDecoder: ColorSpaceReading {
      func colorSpace(of data: Data) -> ColorSpace? { .sRGB }
    }
  #endif

  #if AVIF
    extension AVIFDecoder: ColorSpaceReading {
      func colorSpace(of data: Data) throws(ImageDecodingError) -> ColorSpace? {
        try data.lendBytes { bytes throws(ImageDecodingError) in
          try ColorSpace(of: AVIFReader(bytes).conversion)
        }
      }
    }
  #endif

  #if HEIF
    extension HEIFDecoder: ColorSpaceReading {
      func colorSpace(of data: Data) throws(ImageDecodingError) -> ColorSpace? {
        try data.lendBytes { bytes throws(ImageDecodingError) in
          try ColorSpace(of: HEIFReader(bytes).conversion)
        }
      }
    }
  #endif
#endif
