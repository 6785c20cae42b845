#if HEIF && !canImport(ImageIO)
  internal import CTestImages
  import Foundation
  import Pixels

  extension Fixture {
    struct HEIFOptions {
      var isAV1 = false
      var isExact = true
      var depth: UInt32 = 8
      var hasAlpha = false
      var primaries: Int32 = 1
      var transfer: Int32 = 13
      var orientation: UInt32 = 1
      var profile: Data?
    }

    static func heif(_ image: DrawnImage, _ options: HEIFOptions = HEIFOptions()) -> Data {
      let profile = Array(options.profile ?? Data())
      return profile.withUnsafeBufferPointer { profile in
        let settings = fic_test_heif(
          width: UInt32(image.size.width), height: UInt32(image.size.height),
          av1: options.isAV1, exact: options.isExact, depth: options.depth,
          alpha: options.hasAlpha,
          primaries: options.primaries, transfer: options.transfer,
          orientation: options.orientation,
          profile: profile.isEmpty ? nil : profile.baseAddress, profile_count: profile.count)
        return Data(owning: fic_test_encode_heif(settings, image.rgba))
      }
    }
  }
#endif
