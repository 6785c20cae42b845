#if AVIF && !canImport(ImageIO)
  internal import CTestImages
  import Foundation
  import Pixels

  extension Fixture {
    struct AVIFOptions {
      var depth: UInt32 = 8
      var sampling: UInt32 = 444
      var isExact = true
      var hasAlpha = false
      var isPremultiplied = false
      var primaries: Int32 = 1
      var transfer: Int32 = 13
      var rotation: Int32?
      var mirroring: Int32?
      var crop: (x: UInt32, y: UInt32, size: PixelSize)?
      var cells: (columns: UInt32, rows: UInt32) = (0, 0)
      var frameCount: UInt32 = 0
      var profile: Data?
    }

    static func avif(_ image: DrawnImage, _ options: AVIFOptions = AVIFOptions()) -> Data {
      let profile = Array(options.profile ?? Data())
      let crop = options.crop.map {
        ($0.x, $0.y, UInt32($0.size.width), UInt32($0.size.height))
      }
      return profile.withUnsafeBufferPointer { profile in
        let settings = fic_test_avif(
          width: UInt32(image.size.width), height: UInt32(image.size.height),
          depth: options.depth, sampling: options.sampling, exact: options.isExact,
          alpha: options.hasAlpha, premultiplied: options.isPremultiplied,
          primaries: options.primaries, transfer: options.transfer,
          rotation: options.rotation ?? -1, mirroring: options.mirroring ?? -1,
          crop: crop ?? (0, 0, 0, 0), columns: options.cells.columns, rows: options.cells.rows,
          frames: options.frameCount, profile: profile.isEmpty ? nil : profile.baseAddress,
          profile_count: profile.count)
        return Data(owning: fic_test_encode_avif(settings, image.rgba))
      }
    }
  }
#endif
