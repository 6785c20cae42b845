#if !canImport(ImageIO)
  import CTestProbes
  import Foundation
  import Pixels
  import TestSupport
  import Testing

  @testable import ImageCodecs

  @Suite("An encoder", .timeLimit(.minutes(10)))
  struct EncoderTests {
    private func bitmap(_ bytes: [UInt8], _ size: PixelSize, _ format: PixelFormat) throws -> Bitmap
    {
      let layout = try #require(
        PixelLayout(size: size, format: format, rowBytes: bytes.count / size.height))
      return try Bitmap(copying: bytes, layout: layout)
    }

    @Test("of PNG and of WebP undoes the multiplication by alpha")
    func keepsTransparentPixels() throws {
      let image = DrawnImage.confetti(21, 13)
      let pixels = try bitmap(image.premultipliedBGRA, image.size, .bgra32)
      // libwebp, which decodes too, rounds another way when it multiplies.
      for (data, tolerance) in [
        (try PNGEncoder().encode(pixels), 0), (try WebPEncoder.losslessWebP.encode(pixels), 1),
      ] {
        #expect(try decode(data).layout.format == .bgra32)
        let bytes = try decode(data).packedBytes
        #expect(largestDifference(bytes, image.premultipliedBGRA) <= tolerance)
      }
    }

    @Test("spreads all thirty-two levels evenly, as drawing does")
    func spreadsLevels() throws {
      let levels = Array(UInt16(0)..<32)
      let packed = levels.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
      let data = try PNGEncoder().encode(bitmap(packed, PixelSize(width: 32, height: 1), .bgr16))
      let blue = try stride(from: 0, to: 128, by: 4).map { try decode(data).packedBytes[$0] }
      #expect(blue == levels.map { UInt8((Double($0) * 255 / 31).rounded()) })
    }

    @Test("of JPEG comes to any length")
    func encodesLongJPEG() throws {
      var random = SplitMix64(state: 5)
      let size = PixelSize(width: 500, height: 400)
      let noise = (0..<200_000).map { _ in UInt8(truncatingIfNeeded: random.next() >> 32) }
      let data = try JPEGEncoder(quality: 1).encode(bitmap(noise, size, .gray8))
      #expect(data.count > 128 << 10)
      #expect(try largestDifference(decode(data).packedBytes, noise) <= 4)
    }

    @Test(
      "of JPEG that gets no more memory says so, and gives back what it has, once",
      .enabled(if: probe_counts_allocations() == 1))
    func runsOutOfMemory() async {
      await #expect(processExitsWith: .exitCode(7)) {
        var random = SplitMix64(state: 5)
        let size = PixelSize(width: 248, height: 248)
        guard let layout = PixelLayout(size: size, format: .gray8) else { exit(1) }
        let bitmap = try Bitmap(layout: layout) { bytes in
          for index in bytes.indices { bytes[index] = random.next() >> 63 == 0 ? 0 : 255 }
        }
        let encoder = JPEGEncoder(quality: 1)
        // More than the first block holds, of coefficients that take less than the second.
        guard try encoder.encode(bitmap).count > 64 << 10 else { exit(2) }
        probe_refuse_allocations(128 << 10)
        do throws(ImageEncodingError) {
          _ = try encoder.encode(bitmap)
          exit(3)
        } catch {
          exit(error == .outOfMemory ? 7 : 4)
        }
      }
    }

    @Test("ignores the padding of rows")
    func skipsPadding() throws {
      let layout = try #require(
        PixelLayout(size: PixelSize(width: 1, height: 2), format: .bgrx32, rowBytes: 8))
      let padded = try Bitmap(
        copying: [1, 2, 3, 255, 99, 99, 99, 99, 4, 5, 6, 255, 99, 99, 99, 99], layout: layout)
      let data = try PNGEncoder().encode(padded)
      #expect(try decode(data).packedBytes == [1, 2, 3, 255, 4, 5, 6, 255])
    }

    @Test("of JPEG comes close to the pixels")
    func encodesJPEG() throws {
      let image = DrawnImage.slopes(64, 48)
      let data = try JPEGEncoder(quality: 0.95).encode(
        bitmap(image.opaqueBGRX, image.size, .bgrx32))
      #expect(largestDifference(try decode(data).packedBytes, image.opaqueBGRX) <= 10)
      let gray = try JPEGEncoder(quality: 0.95).encode(bitmap(image.red, image.size, .gray8))
      #expect(try decode(gray).layout.format == .gray8)
      #expect(largestDifference(try decode(gray).packedBytes, image.red) <= 4)
    }

    @Test("of JPEG makes smaller files for less quality")
    func obeysQuality() throws {
      let image = DrawnImage.confetti(64, 48)
      let pixels = try bitmap(image.opaqueBGRX, image.size, .bgrx32)
      let counts = try [0, 0.3, 0.6, 0.9, 1].map {
        try JPEGEncoder(quality: $0).encode(pixels).count
      }
      #expect(counts == counts.sorted() && Set(counts).count == counts.count)
    }

    @Test("of JPEG writes the same image in several scans when told so")
    func encodesProgressiveJPEG() throws {
      let image = DrawnImage.slopes(64, 48)
      for pixels in [
        try bitmap(image.opaqueBGRX, image.size, .bgrx32),
        try bitmap(image.red, image.size, .gray8),
      ] {
        let baseline = try JPEGEncoder(quality: 0.8).encode(pixels)
        let progressive = try JPEGEncoder(quality: 0.8, isProgressive: true).encode(pixels)
        #expect(try decode(progressive).packedBytes == decode(baseline).packedBytes)
        func hasFrames(_ data: Data) -> Bool {
          var watch = JPEGScanWatch(settles: true)
          return watch.receive(data).contains { $0.kind == .frame }
        }
        #expect(hasFrames(progressive) && !hasFrames(baseline))
      }
    }

    @Test("of WebP keeps opaque and gray pixels exactly where nothing is to be lost")
    func keepsPixelsInWebP() throws {
      let image = DrawnImage.confetti(21, 13)
      let data = try WebPEncoder.losslessWebP.encode(bitmap(image.opaqueBGRX, image.size, .bgrx32))
      #expect(data.starts(with: Array("RIFF".utf8)))
      #expect(try decode(data).layout.format == .bgrx32)
      #expect(try largestDifference(decode(data).packedBytes, image.opaqueBGRX) == 0)
      let gray = try WebPEncoder.losslessWebP.encode(bitmap(image.red, image.size, .gray8))
      let blue = try decode(gray).packedBytes.enumerated().filter { $0.offset % 4 == 0 }
      #expect(blue.map(\.element) == image.red)
    }

    @Test("of WebP comes close to the pixels, and makes smaller files for less quality")
    func encodesLossyWebP() throws {
      let image = DrawnImage.slopes(64, 48)
      let pixels = try bitmap(image.opaqueBGRX, image.size, .bgrx32)
      let files = try [0, 0.5, 1].map { try WebPEncoder(quality: $0).encode(pixels) }
      #expect(files.map(\.count) == files.map(\.count).sorted())
      #expect(files[0].count < files[2].count)
      #expect(largestDifference(try decode(files[2]).packedBytes, image.opaqueBGRX) <= 10)
    }

    @Test("of WebP refuses a side that the format does not have, in a sentence")
    func refusesLargeWebP() throws {
      let wide = try bitmap(
        [UInt8](repeating: 0, count: 16_384), PixelSize(width: 16_384, height: 1), .gray8)
      #expect(
        throws: ImageEncodingError.failed("a WebP image has at most 16383 pixels a side")
      ) { try WebPEncoder().encode(wide) }
    }

    @Test(
      "of WebP that gets no more memory than some never calls the image damaged",
      .enabled(if: probe_counts_allocations() == 1))
    func blamesMemoryInWebP() async {
      await #expect(processExitsWith: .exitCode(7)) {
        let size = PixelSize(width: 248, height: 248)
        guard let layout = PixelLayout(size: size, format: .bgra32) else { exit(1) }
        var random = SplitMix64(state: 5)
        let bitmap = try Bitmap(layout: layout) { bytes in
          for index in bytes.indices {
            bytes[index] = UInt8(truncatingIfNeeded: random.next() >> 32)
          }
        }
        var refusals = 0
        for encoder in [WebPEncoder(), .losslessWebP] {
          // Rows, and the arrays of Swift, are smaller.
          for limit in stride(from: 4 << 10, to: 512 << 10, by: 4 << 10) {
            probe_refuse_allocations(limit)
            do throws(ImageEncodingError) {
              _ = try encoder.encode(bitmap)
            } catch {
              guard error == .outOfMemory else { exit(2) }
              refusals += 1
            }
            probe_refuse_allocations(.max)
          }
        }
        exit(refusals > 0 ? 7 : 3)
      }
    }

    @Test("takes an infinite quality for the nearer bound, and no number for its own default")
    func boundsQuality() throws {
      let image = DrawnImage.confetti(21, 13)
      let pixels = try bitmap(image.opaqueBGRX, image.size, .bgrx32)
      for (quality, meant) in [(.infinity, 1), (-.infinity, 0), (.nan, 0.9)] as [(Double, Double)] {
        #expect(
          try JPEGEncoder(quality: quality).encode(pixels)
            == JPEGEncoder(quality: meant).encode(pixels))
      }
      for (quality, meant) in [(.infinity, 1), (-.infinity, 0), (.nan, 0.8)] as [(Double, Double)] {
        #expect(
          try WebPEncoder(quality: quality).encode(pixels)
            == WebPEncoder(quality: meant).encode(pixels))
      }
    }
  }

  extension ImageEncoder {
    fileprivate func encode(_ bitmap: Bitmap) throws(ImageEncodingError) -> Data {
      try bitmap.withPixels { pixels throws(ImageEncodingError) in
        try encode(pixels, layout: bitmap.layout)
      }
    }
  }
#endif
