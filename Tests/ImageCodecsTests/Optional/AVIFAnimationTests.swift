#if AVIF && !canImport(ImageIO)
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  @Suite("An AVIF sequence", .timeLimit(.minutes(10)))
  struct AVIFAnimationTests {
    private let image = DrawnImage.confetti(38, 30)
    private let black = DrawnImage(38, 30) { _, _ in (0, 0, 0, 255) }

    private func avif(
      _ change: (inout Fixture.AVIFOptions) -> Void = { _ in }
    ) -> Data {
      var options = Fixture.AVIFOptions(frameCount: 4)
      change(&options)
      return Fixture.avif(image, options)
    }

    @Test("has frames, of which the first is the still")
    func readsFrames() throws {
      let data = avif()
      let header = try #require(try animation(of: data))
      #expect(header.frameCount == 4)
      #expect(header.loopCount == nil)
      #expect(!header.isCut)
      #expect(header.frameDurations == Array(repeating: .seconds(1), count: 4))
      let bitmaps = try frames(of: data)
      #expect(bitmaps.count == 4)
      #expect(try bitmaps[0].packedBytes == decode(data).packedBytes)
      #expect(try bitmaps[0].layout == decode(data).layout)
      #expect(bitmaps[0].packedBytes == image.opaqueBGRX)
      for bitmap in bitmaps.dropFirst() { #expect(bitmap.packedBytes == black.opaqueBGRX) }
    }

    @Test("has alpha, and the colours of its file")
    func readsAlpha() throws {
      let data = avif { ($0.hasAlpha, $0.profile) = (true, Fixture.displayP3) }
      for bitmap in try frames(of: data) {
        #expect(bitmap.layout.format == .bgra32)
        #expect(bitmap.colorConversion != nil)
      }
      let first = try frames(of: data)[0].packedBytes
      #expect(largestDifference(first, image.premultipliedBGRA) <= 1)
    }

    @Test("is turned upright")
    func turns() throws {
      let bitmaps = try frames(of: avif { $0.rotation = 1 })
      #expect(bitmaps[0].packedBytes == image.turned(8).opaqueBGRX)
      #expect(bitmaps.map(\.size) == Array(repeating: image.size.transposed, count: 4))
    }

    @Test("is none of a still")
    func ignoresStills() throws {
      let data = avif { $0.frameCount = 0 }
      #expect(try animation(of: data) == nil)
      #expect(throws: ImageDecodingError.self) { try frames(of: data) }
    }

    @Test("keeps the limits")
    func keepsLimits() throws {
      let data = avif()
      let byteCount = try #require(try animation(of: data)).workingByteCount
      let pixelCount = image.size.width * image.size.height
      let cases: [(WritableKeyPath<DecodingLimits, Int>, Int, String)] = [
        (\.frameCount, 4, "4 frames"),
        (\.animationPixelCount, 4 * pixelCount, "\(4 * pixelCount) in all"),
        (\.encodedByteCount, data.count, "\(data.count) bytes"),
        (\.workingByteCount, byteCount, "\(byteCount) bytes"),
        (\.pixelCount, pixelCount, "38x30"), (\.sideLength, 38, "38x30"),
      ]
      for (limit, number, name) in cases {
        var limits = DecodingLimits()
        limits[keyPath: limit] = number
        #expect(try animation(of: data, limits: limits)?.frameCount == 4)
        #expect(try frames(of: data, limits: limits).count == 4)
        limits[keyPath: limit] = number - 1
        expectTooLarge(naming: name, "\(number - 1)") { try animation(of: data, limits: limits) }
        #expect(throws: ImageDecodingError.self) { try frames(of: data, limits: limits) }
      }
    }

    @Test("reads the frames that came whole")
    func readsCutFiles() throws {
      let data = avif()
      let all = try frames(of: data).map(\.packedBytes)
      var counts: Set<Int> = []
      for length in stride(from: 16, to: data.count, by: 1) {
        let cut = Data(data.prefix(length))
        let header: AnimationHeader?
        do throws(ImageDecodingError) { header = try animation(of: cut) } catch {
          #expect(counts.isEmpty, "\(length) bytes: \(error)")
          continue
        }
        let count = try #require(header, "\(length) bytes").frameCount
        #expect(header?.isCut == (count < all.count))
        guard counts.insert(count).inserted else { continue }
        #expect(try frames(of: cut).map(\.packedBytes) == Array(all.prefix(count)))
      }
      #expect(counts.isSuperset(of: [1, 2, 3]))
    }

    @Test("is cancelled before a frame and within one")
    func isCancelled() throws {
      try expectCancellation(of: avif(), atLeast: 12)
    }
  }
#endif
