#if !canImport(ImageIO)
  internal import CTestImages
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  extension Data {
    init(owning bytes: fic_test_bytes) {
      self.init(bytesNoCopy: bytes.bytes, count: bytes.count, deallocator: .free)
    }
  }

  extension Bitmap {
    /// The pixels in the colours of a space, without the padding of their rows.
    func shownBytes(in space: ColorSpace = .sRGB) -> [UInt8] {
      var bytes = packedBytes
      guard let conversion = conversion(to: space) else { return bytes }
      #expect(conversion.prepare(for: space))
      bytes.withUnsafeMutableBytes { buffer in
        guard let start = buffer.baseAddress else { return }
        conversion.convert(
          start, pixelCount: size.width * size.height, format: layout.format, to: space)
      }
      return bytes
    }
  }

  /// Encoded images of kinds that the product only reads.
  enum Fixture {
    struct JPEGOptions {
      var isProgressive = false
      var isYCCK = false
      var hasAdobeSegment = false
      var isStoredAsRGB = false
      var sampling: (across: UInt32, down: UInt32)? = (1, 1)
      var restartRows: UInt32 = 0
      var hasScanPerComponent = false
      var isArithmetic = false
      var quality: Int32 = 100
      var profile: Data?
    }

    /// - Parameter pixels: One, three (red, green, blue) or four (inks, stored as given) bytes each.
    static func jpeg(
      _ size: PixelSize, _ pixels: [UInt8], _ options: JPEGOptions = JPEGOptions()
    ) -> Data {
      let profile = Array(options.profile ?? Data())
      return profile.withUnsafeBufferPointer { profile in
        let settings = fic_test_jpeg(
          width: UInt32(size.width), height: UInt32(size.height),
          components: UInt32(pixels.count / (size.width * size.height)),
          progressive: options.isProgressive, ycck: options.isYCCK,
          adobe: options.hasAdobeSegment, rgb: options.isStoredAsRGB,
          h_sampling: options.sampling?.across ?? 0, v_sampling: options.sampling?.down ?? 0,
          restart_rows: options.restartRows, scan_per_component: options.hasScanPerComponent,
          arithmetic: options.isArithmetic, quality: options.quality,
          profile: profile.isEmpty ? nil : profile.baseAddress,
          profile_count: profile.count)
        return Data(owning: fic_test_encode_jpeg(settings, pixels))
      }
    }

    struct PNGOptions {
      var colorType: Int32 = 6
      var bitDepth: Int32 = 8
      var isInterlaced = false
      var palette: [UInt8] = []
      var transparency: [UInt8] = []
      var transparentColor: [Int32]?
      var profile: Data?
    }

    static func jpeg(_ image: DrawnImage, _ options: JPEGOptions = JPEGOptions()) -> Data {
      jpeg(image.size, image.rgb, options)
    }

    static func png(_ image: DrawnImage, _ options: PNGOptions = PNGOptions()) -> Data {
      png(image.size, image.rgba, options)
    }

    /// - Parameter rows: Packed as in the file.
    static func png(
      _ size: PixelSize, _ rows: [UInt8], _ options: PNGOptions = PNGOptions()
    ) -> Data {
      let profile = Array(options.profile ?? Data())
      let color = (options.transparentColor ?? [-1]) + [0, 0, 0]
      return profile.withUnsafeBufferPointer { profile in
        options.palette.withUnsafeBufferPointer { palette in
          options.transparency.withUnsafeBufferPointer { transparency in
            let settings = fic_test_png(
              width: UInt32(size.width), height: UInt32(size.height),
              color_type: options.colorType, bit_depth: options.bitDepth,
              interlaced: options.isInterlaced,
              palette: palette.isEmpty ? nil : palette.baseAddress,
              palette_count: UInt32(palette.count / 3),
              transparency: transparency.isEmpty ? nil : transparency.baseAddress,
              transparency_count: UInt32(transparency.count),
              transparent_color: (color[0], color[1], color[2]),
              profile: profile.isEmpty ? nil : profile.baseAddress, profile_count: profile.count)
            return Data(owning: fic_test_encode_png(settings, rows))
          }
        }
      }
    }

    static func webp(_ image: DrawnImage, isLossless: Bool = true, quality: Float = 90) -> Data {
      Data(
        owning: fic_test_encode_webp(
          UInt32(image.size.width), UInt32(image.size.height), image.rgba, isLossless,
          quality))
    }

    /// Display P3: SMPTE RP 431-2's primaries, D65, sRGB's curve.
    static let displayP3 = rgbProfile([0.68, 0.32, 0.265, 0.69, 0.15, 0.06, 0.3127, 0.329], 0)

    /// Adobe RGB (1998), section 4.2.
    static let adobeRGB = rgbProfile(
      [0.64, 0.33, 0.21, 0.71, 0.15, 0.06, 0.3127, 0.329], 2.19921875)

    static let sRGB = Data(owning: fic_test_srgb_profile())
    static let linearGray = Data(owning: fic_test_gray_profile(1))
    static let grayOfSRGB = Data(owning: fic_test_gray_profile(0))
    static let cmyk = Data(owning: fic_test_cmyk_profile())

    /// What Little CMS's exact arithmetic makes of one pixel: red, green, blue.
    static func toSRGB(_ source: [UInt8], profile: Data) -> [UInt8] {
      var result = [UInt8](repeating: 0, count: 3)
      fic_test_to_srgb(Array(profile), profile.count, source, &result)
      return result
    }

    /// The content of an iCCP chunk.
    static func deflated(profile: Data) -> Data {
      Data("name\0\0".utf8) + deflated(head: Array(profile), zeros: 0)
    }

    /// `head` and then so many zeros, deflated.
    static func deflated(head: [UInt8] = [], zeros: Int) -> Data {
      Data(owning: fic_test_deflate_zeros(zeros, head, head.count))
    }

    private static func rgbProfile(_ chromaticities: [Double], _ gamma: Double) -> Data {
      Data(owning: fic_test_rgb_profile(chromaticities, gamma))
    }
  }
#endif
