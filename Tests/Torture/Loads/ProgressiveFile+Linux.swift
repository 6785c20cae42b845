#if os(Linux)
  internal import CTestImages
  import FastImageCache
  import Foundation

  extension LoadImage {
    /// A progressive JPEG file of ten scans.
    func file() throws -> Data {
      let pixels = Array(repeatElement(color, count: Self.size.width * Self.size.height).joined())
      var options = fic_test_jpeg()
      (options.width, options.height) = (UInt32(Self.size.width), UInt32(Self.size.height))
      (options.components, options.progressive, options.quality) = (3, true, 100)
      (options.h_sampling, options.v_sampling) = (1, 1)
      let encoded = fic_test_encode_jpeg(options, pixels)
      return Data(bytesNoCopy: encoded.bytes, count: encoded.count, deallocator: .free)
    }
  }
#endif
