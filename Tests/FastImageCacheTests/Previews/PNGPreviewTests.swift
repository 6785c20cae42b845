#if !canImport(ImageIO)
  internal import CTestImages
  import Foundation
  import TestSupport
  import Testing

  @testable import FastImageCache

  @Suite("A preview of an interlaced PNG file", .timeLimit(.minutes(10)))
  struct PNGPreviewTests {
    /// A smooth image of three curves.
    private func png(_ size: PixelSize, isInterlaced: Bool = true) -> Data {
      var pixels: [UInt8] = []
      for y in 0..<size.height {
        for x in 0..<size.width {
          let (across, down) = (Double(x) / Double(size.width), Double(y) / Double(size.height))
          let colors = [across + down / 4, down, across * down].map { 120 + 100 * sin($0 * 5) }
          pixels += colors.map { UInt8($0) }
        }
      }
      var options = fic_test_png()
      (options.width, options.height) = (UInt32(size.width), UInt32(size.height))
      (options.color_type, options.bit_depth, options.interlaced) = (2, 8, isInterlaced)
      options.transparent_color = (-1, 0, 0)
      let encoded = fic_test_encode_png(options, pixels)
      return Data(bytesNoCopy: encoded.bytes, count: encoded.count, deallocator: .free)
    }

    @Test("shows the whole frame where it will be, each finer than the one before")
    func finer() async throws {
      let slow = try await SlowFile(png(PixelSize(width: 83, height: 61)), in: .large)
      let differences = slow.previews.map { preview in
        zip(preview.pixels, slow.image).reduce(0.0) { $0 + abs(Double($1.0) - Double($1.1)) }
          / Double(slow.image.count)
      }
      #expect(slow.previews.map(\.preview.kind) == [.frame(1), .frame(2), .frame(3)])
      #expect(slow.previews.allSatisfy { !$0.preview.isSettled })
      #expect(zip(differences, differences.dropFirst()).allSatisfy { $0 >= $1 })
      // An image that is shifted by a pixel differs by more.
      #expect(differences.allSatisfy { $0 < 0.7 }, "\(differences)")
    }

    @Test("is not made of a file that has its rows one after the other")
    func plain() async throws {
      let data = png(PixelSize(width: 83, height: 61), isInterlaced: false)
      #expect(try await SlowFile(data, in: .large).previews.isEmpty)
    }
  }
#endif
