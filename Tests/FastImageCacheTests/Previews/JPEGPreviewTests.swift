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

    private func pixels(_ image: CachedImage) -> [UInt8] {
      image.withPixels { span in span.withUnsafeBytes { Array($0) } }
    }

    @Test(
      "has every byte of the picture once it is settled",
      arguments: [100, 90, 75, 50] as [Int32], [1, 2] as [UInt32])
    func settled(quality: Int32, sampling: UInt32) async throws {
      let data = jpeg(PixelSize(width: 803, height: 601), quality: quality, sampling: sampling)
      let (previews, picture) = try await follow(data, in: .large)
      #expect(previews.last?.isSettled == true)
      #expect(previews.filter(\.isSettled).count == 1)
      #expect(previews.last?.pixels == picture)
    }

    @Test("is not called settled where the rest of the family needs a larger decode")
    func family() async throws {
      let data = jpeg(PixelSize(width: 403, height: 301), quality: 90, sampling: 1)
      let (previews, _) = try await follow(data, in: .dot)
      #expect(!previews.isEmpty && previews.allSatisfy { !$0.isSettled })
    }

    private typealias Preview = (pixels: [UInt8], isSettled: Bool)

    /// The previews of a file whose bytes come slowly, and its picture.
    private func follow(
      _ data: Data, in format: ImageFormat
    ) async throws -> (previews: [Preview], picture: [UInt8]) {
      let (clock, resources, seen) = (ManualClock(), LoadResources(), Counter())
      let decoder = try CountingDecoder(data)
      let terms = OriginalTerms(fields: ["Content-Length": "\(data.count)"], received: Date())
      let source = ClosureImageSource { request, _ in
        let arrival = request.begin(terms)
        while arrival.byteCount < data.count {
          try arrival.append(data.dropFirst(arrival.byteCount).prefix(200))
          clock.advance(by: .seconds(1000))
          while resources.workers.counts != (0, 0), !Task.isCancelled { await Task.yield() }
          await seen.reaches(decoder.drawn.value)
        }
        return .arrived(arrival)
      }
      let fixture = try await Fixture([.large, .dot], from: source) {
        ($0.clock, $0.resources, $0.decoders) = (clock, resources, [decoder])
      }
      var options = LoadOptions.previewing
      options.previews.limit = 20
      var previews: [Preview] = []
      var picture: CachedImage?
      for await step in fixture.cache.progress(for: Photo("1"), format: format, options: options) {
        if let (image, preview) = step.preview {
          previews.append((pixels(image), preview.isSettled))
          seen.increment()
        }
        if let image = step.finished { picture = image }
      }
      return (previews, pixels(try #require(picture)))
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

  /// The library's own decoder of JPEG, with a count of the previews that it has drawn.
  private struct CountingDecoder: ProgressiveImageDecoder {
    let drawn = Counter()
    private let base: any ProgressiveImageDecoder

    init(_ data: Data) throws {
      base = try #require(
        try ImageDecoders.standard.decoder(for: data) as? any ProgressiveImageDecoder)
    }

    func recognizes(_ firstBytes: Data) -> Bool { base.recognizes(firstBytes) }

    func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
      try base.header(of: data)
    }

    func workingByteCount(for header: ImageHeader, minimumSize: PixelSize?) -> Int {
      base.workingByteCount(for: header, minimumSize: minimumSize)
    }

    func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
      try base.decode(data, request)
    }

    func makePreviewScanner() -> any PreviewScanner { base.makePreviewScanner() }

    func decodePreview(
      _ bytes: Data, at stage: PreviewStage, _ request: DecodeRequest
    ) throws(ImageDecodingError) -> Bitmap {
      let bitmap = try base.decodePreview(bytes, at: stage, request)
      drawn.increment()
      return bitmap
    }
  }
#endif
