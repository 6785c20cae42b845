#if !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation

  /// The colours of an image that names them by numbers instead of a profile.
  ///
  /// Brighter colours than white, of images with a high dynamic range, are cut.
  struct CodedColors {
    enum Curve: Equatable {
      /// g, a, b, c and d of ICC.1:2022, section 10.18, function 3.
      case parametric([Double])
      case pq, hlg

      static let sRGB = parametric([2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045])

      static func power(_ exponent: Double) -> Self { parametric([exponent, 1, 0, 0, 0]) }
    }

    static let sRGB = [0.64, 0.33, 0.3, 0.6, 0.15, 0.06, 0.3127, 0.329]

    /// x and y of red, green, blue and white.
    private let chromaticities: [Double]
    private let curve: Curve

    init(_ chromaticities: [Double], _ curve: Curve) {
      self.chromaticities = chromaticities
      self.curve = curve
    }

    /// Numbers of ITU-T H.273, tables 2 and 3, as browsers show AVIF and HEIF. The curves of television count as
    /// sRGB's: the screens that both are made for differ by their surroundings only. So do unknown numbers.
    init(primaries: Int, transfer: Int) {
      chromaticities = Self.chromaticities(primaries) ?? Self.sRGB
      curve = [4, 5, 8, 16, 18].contains(transfer) ? Self.curve(transfer) ?? .sRGB : .sRGB
    }

    /// The same numbers as Chromium shows PNG, with the curve of a television set; `nil` for unknown ones.
    init?(shownPrimaries primaries: Int, transfer: Int) {
      guard let chromaticities = Self.chromaticities(primaries), let curve = Self.curve(transfer)
      else { return nil }
      self.init(chromaticities, curve)
    }

    /// The conversion of pixels; `nil` where the colours count as sRGB, also since they make no sense.
    ///
    /// Making a profile takes 0.2 to 0.5 ms, as long as the decode of a small image.
    func conversion(kind: LCMSConversion.Kind) throws(ImageDecodingError) -> LCMSConversion? {
      let isGray = kind != .rgb
      guard curve != .sRGB || (!isGray && chromaticities != Self.sRGB) else { return nil }
      let (curveKind, parameters) = fields
      let numbers = (isGray ? [] : chromaticities) + parameters + [Double(curveKind.rawValue)]
      let key = numbers.withUnsafeBytes { Data($0) }
      return try .shared(key, kind) { () throws(ImageDecodingError) in
        try makeProfile(isGray: isGray, named: nil)
      }
    }

    /// An ICC profile of these colours; equal colours and names make equal bytes.
    ///
    /// - Parameters:
    ///   - isGray: Whether it is for gray pixels, of which the curve is all that matters.
    ///   - name: What programs show for it, in ASCII.
    /// - Returns: `nil` for lights that do not span a space. Throws `outOfMemory`.
    func makeProfile(
      isGray: Bool = false, named name: String?
    ) throws(ImageDecodingError) -> Data? {
      var bytes: UnsafeMutablePointer<UInt8>?
      var count = 0
      let (curveKind, parameters) = fields
      let status = fic_color_make_profile(
        isGray ? nil : chromaticities, curveKind, parameters, name, &bytes, &count)
      if status == .outOfMemory { throw .outOfMemory }
      return bytes.map { Data(bytesNoCopy: $0, count: count, deallocator: .free) }
    }

    private var fields: (fic_color_curve, [Double]) {
      switch curve {
      case .parametric(let parameters): (.parametric, parameters)
      case .pq: (.pq, [])
      case .hlg: (.hlg, [])
      }
    }

    private static func curve(_ transfer: Int) -> Curve? {
      switch transfer {
      case 1, 6, 11, 14, 15: .power(2.4)
      case 4: .power(2.2)
      case 5: .power(2.8)
      case 7: .parametric([1 / 0.45, 1 / 1.1115, 0.1115 / 1.1115, 0.25, 4 * 0.0228])
      case 8: .power(1)
      case 13: .sRGB
      case 16: .pq
      // The brightest light stands for 52.37 of 48 cd/m2.
      case 17: .parametric([2.6, pow(52.37 / 48, 1 / 2.6), 0, 0, 0])
      case 18: .hlg
      default: nil
      }
    }

    private static func chromaticities(_ primaries: Int) -> [Double]? {
      switch primaries {
      case 1: sRGB
      case 4: [0.67, 0.33, 0.21, 0.71, 0.14, 0.08, 0.31, 0.316]
      case 5: [0.64, 0.33, 0.29, 0.6, 0.15, 0.06, 0.3127, 0.329]
      case 6, 7: [0.63, 0.34, 0.31, 0.595, 0.155, 0.07, 0.3127, 0.329]
      case 8: [0.681, 0.319, 0.243, 0.692, 0.145, 0.049, 0.31, 0.316]
      case 9: [0.708, 0.292, 0.17, 0.797, 0.131, 0.046, 0.3127, 0.329]
      case 10: [1, 0, 0, 1, 0, 0, 1.0 / 3, 1.0 / 3]
      case 11: [0.68, 0.32, 0.265, 0.69, 0.15, 0.06, 0.314, 0.351]
      case 12: [0.68, 0.32, 0.265, 0.69, 0.15, 0.06, 0.3127, 0.329]
      case 22: [0.63, 0.34, 0.295, 0.605, 0.155, 0.077, 0.3127, 0.329]
      default: nil
      }
    }
  }

  extension LCMSConversion {
    private static let profileLimit = 4 << 20

    /// The conversion of blue, green and red from a file's profile, or from the colours that it names.
    static func ofColors(
      profile start: UnsafePointer<UInt8>?, count: Int, primaries: UInt16, transfer: UInt16
    ) throws(ImageDecodingError) -> LCMSConversion? {
      guard let start, (1...profileLimit).contains(count) else {
        return try CodedColors(primaries: Int(primaries), transfer: Int(transfer))
          .conversion(kind: .rgb)
      }
      let profile = Data(bytes: start, count: count)
      // ICC.1:2022, section 7.2.6: the kind of colours.
      let isGray = profile.count >= 20 && profile[16..<20].elementsEqual("GRAY".utf8)
      return try shared(profile: profile, kind: isGray ? .grayAsColor : .rgb)
    }
  }
#endif
