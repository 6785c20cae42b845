#if !canImport(ImageIO)
  import Foundation

  extension PNGColors {
    /// The conversion of a file's pixels. What comes first in this order counts, as in Chromium: numbers of
    /// ITU-T H.273, a profile, sRGB, then gamma with or without chromaticities. Chromaticities alone say nothing.
    ///
    /// - Parameters:
    ///   - profile: The file's own, if it can be read.
    ///   - kind: The kind of profile that fits the pixels.
    func conversion(
      profile: Data?, kind: LCMSConversion.Kind
    ) throws(ImageDecodingError) -> LCMSConversion? {
      if let coded = code.flatMap({ CodedColors(shownPrimaries: $0, transfer: $1) }) {
        return try coded.conversion(kind: kind)
      }
      if let profile { return try .shared(profile: profile, kind: kind) }
      return try measured?.conversion(kind: kind)
    }

    /// The colours of the chunks with gamma and chromaticities.
    private var measured: CodedColors? {
      guard !isSRGB, let gamma else { return nil }
      // No profile can have a larger exponent, with which all but white is black.
      let exponent = min(100_000 / Double(gamma), 32_000)
      guard let numbers = chromaticities else {
        // As libpng has it: a gamma so near to that of screens is sRGB's.
        guard abs(2.2 / exponent - 1) >= 0.05 else { return nil }
        return CodedColors(CodedColors.sRGB, .power(exponent))
      }
      guard numbers.allSatisfy({ $0 <= 100_000 }), numbers[1] > 0 else { return nil }
      let points = numbers.map { Double($0) / 100_000 }
      return CodedColors(Array(points[2...] + points[..<2]), .power(exponent))
    }
  }
#endif
