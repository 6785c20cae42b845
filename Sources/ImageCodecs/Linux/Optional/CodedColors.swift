#if !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation

  /// The colours of a picture that names them by numbers of ITU-T H.273 instead of a profile.
  ///
  /// The curves of television count as sRGB's, as browsers have it: the screens that both are made for differ
  /// by their surroundings only. Brighter colours than white, of pictures with a high dynamic range, are cut.
  struct CodedColors {
    /// The number of the red, green and blue light and of white; table 2.
    var primaries: Int
    /// The number of the curve; table 3.
    var transfer: Int

    /// An ICC profile that says the same; `nil` where the colours count as sRGB.
    var profile: Data? {
      get throws(ImageDecodingError) {
        guard curve != .sRGB || chromaticities != Self.sRGB else { return nil }
        guard let profile = makeProfile(named: nil) else { throw .outOfMemory }
        return profile
      }
    }

    /// An ICC profile of these colours, `nil` for want of memory; equal colours and names make equal bytes.
    ///
    /// - Parameter name: What programs show for it, in ASCII.
    func makeProfile(named name: String?) -> Data? {
      var bytes: UnsafeMutablePointer<UInt8>?
      var count = 0
      guard fic_color_make_profile(chromaticities, curve, name, &bytes, &count) == .ok, let bytes
      else { return nil }
      return Data(bytesNoCopy: bytes, count: count, deallocator: .free)
    }

    private var curve: fic_color_curve {
      switch transfer {
      case 4: .gamma22
      case 5: .gamma28
      case 8: .linear
      case 16: .pq
      case 18: .hlg
      default: .sRGB
      }
    }

    private static let sRGB = [0.64, 0.33, 0.3, 0.6, 0.15, 0.06, 0.3127, 0.329]

    /// x and y of red, green, blue and white.
    private var chromaticities: [Double] {
      switch primaries {
      case 4: [0.67, 0.33, 0.21, 0.71, 0.14, 0.08, 0.31, 0.316]
      case 5: [0.64, 0.33, 0.29, 0.6, 0.15, 0.06, 0.3127, 0.329]
      case 6, 7: [0.63, 0.34, 0.31, 0.595, 0.155, 0.07, 0.3127, 0.329]
      case 8: [0.681, 0.319, 0.243, 0.692, 0.145, 0.049, 0.31, 0.316]
      case 9: [0.708, 0.292, 0.17, 0.797, 0.131, 0.046, 0.3127, 0.329]
      case 11: [0.68, 0.32, 0.265, 0.69, 0.15, 0.06, 0.314, 0.351]
      case 12: [0.68, 0.32, 0.265, 0.69, 0.15, 0.06, 0.3127, 0.329]
      case 22: [0.63, 0.34, 0.295, 0.605, 0.155, 0.077, 0.3127, 0.329]
      default: Self.sRGB
      }
    }
  }

  extension LCMSConversion {
    private static let profileLimit = 4 << 20

    /// The conversion of blue, green and red from a file's profile, or from the colours that it names.
    static func ofColors(
      profile start: UnsafePointer<UInt8>?, count: Int, coded: CodedColors
    ) throws(ImageDecodingError) -> LCMSConversion? {
      guard let start, (1...profileLimit).contains(count) else {
        return try shared(profile: coded.profile, kind: .rgb)
      }
      let profile = Data(bytes: start, count: count)
      // ICC.1:2022, section 7.2.6: the kind of colours.
      let isGray = profile.count >= 20 && profile[16..<20].elementsEqual("GRAY".utf8)
      return try shared(profile: profile, kind: isGray ? .grayAsColor : .rgb)
    }
  }
#endif
