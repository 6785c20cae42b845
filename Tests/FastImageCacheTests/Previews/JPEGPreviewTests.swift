#if !canImport(ImageIO)
  internal import CTestImages
  import Foundation
  import Locking
  import TestSupport
  import Testing

  @testable import FastImageCache

  @Suite("A preview of a progressive JPEG file", .timeLimit(.minutes(10)))
  struct JPEGPreviewTests {
    /// A picture of slopes, with edges at every 50 pixels.
    private func jpeg(_ size: PixelSize, quality: Int32, sampling: UInt32) -> Data {
      var pixels: [UInt8] = []
      for y in 0..<size.height {
        for x in 0..<size.width {
          let edge = (x / 50 + y / 50) % 2 * 60
          pixels += [UInt8(x * 150 / size.width + edge), UInt8(y * 190 / size.height), UInt8(edge)]
        }
      }
      var options = fic_test_jpeg()
      (options.width, options.height) = (UInt32(size.width), UInt32(size.height))
      (options.components, options.progressive, options.quality) = (3, true, quality)
      (options.h_sampling, options.v_sampling) = (sampling, sampling)
      let encoded = fic_test_encode_jpeg(options, pixels)
      return Data(bytesNoCopy: encoded.bytes, count: encoded.count, deallocator: .free)
    }

    @Test(
      "has every byte of the picture once it is settled",
      arguments: [100, 90, 75, 50] as [Int32], [1, 2] as [UInt32])
    func settled(quality: Int32, sampling: UInt32) async throws {
      let data = jpeg(PixelSize(width: 803, height: 601), quality: quality, sampling: sampling)
      let slow = try await SlowFile(data, in: .large)
      #expect(slow.previews.last?.preview.isSettled == true)
      #expect(slow.previews.filter(\.preview.isSettled).count == 1)
      #expect(slow.previews.last?.pixels == slow.picture)
    }

    @Test("is not called settled where the rest of the family needs a larger decode")
    func family() async throws {
      let data = jpeg(PixelSize(width: 403, height: 301), quality: 90, sampling: 1)
      let previews = try await SlowFile(data, in: .dot).previews
      #expect(!previews.isEmpty && previews.allSatisfy { !$0.preview.isSettled })
    }

    @Test("is made of a download")
    func download() async throws {
      let data = jpeg(PixelSize(width: 803, height: 601), quality: 90, sampling: 2)
      let gate = Gate()
      let server = try HTTPServer { _ in
        let half = data.count / 2
        return .chunked([.bytes(data.prefix(half)), .wait(gate), .bytes(data.dropFirst(half))])
      }
      let fixture = try await Fixture([.large], from: URLImageSource())
      var options = LoadOptions.previewing
      options.previews.delay = .zero
      var previewCount = 0
      var last: CachedImage?
      let photo = Photo("1", url: server.url("/1.jpg").absoluteString)
      for try await image in fixture.cache.updates(for: photo, format: .large, options: options) {
        if image.isPrivate { previewCount += 1 }
        gate.open()
        last = image
      }
      #expect(previewCount > 0 && last?.isPrivate == false)
    }
  }
#endif
