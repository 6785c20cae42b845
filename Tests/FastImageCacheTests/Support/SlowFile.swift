import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache

/// A file that comes in small pieces, with time for a preview after each: its previews and its image.
struct SlowFile {
  private(set) var previews: [(pixels: [UInt8], preview: ImagePreview)] = []
  private(set) var image: [UInt8] = []

  /// - Parameters:
  ///   - pieceByteCount: The size of a piece.
  ///   - kinds: The previews that are wanted.
  ///   - drawing: Draws them and the image.
  init(
    _ data: Data, in format: ImageFormat, pieceByteCount: Int = 200,
    _ kinds: PreviewPolicy.Kinds = .frames, drawing: Drawing = .stretch
  ) async throws {
    let (clock, resources, seen) = (ManualClock(), LoadResources(), Counter())
    let decoder = try CountingDecoder(data)
    let terms = ResponseMetadata(fields: ["Content-Length": "\(data.count)"], received: Date())
    let source = ClosureImageSource { request in
      let arrival = request.begin(terms)
      while arrival.byteCount < data.count {
        try arrival.append(data.dropFirst(arrival.byteCount).prefix(pieceByteCount))
        clock.advance(by: .seconds(1000))
        while resources.workers.counts != (0, 0), !Task.isCancelled { await Task.yield() }
        await seen.reaches(decoder.drawn.value)
      }
      return .arrived(arrival)
    }
    let fixture = try await Fixture([format == .dot ? .large : format, .dot], from: source) {
      ($0.clock, $0.resources, $0.decoders) = (clock, resources, [decoder])
    }
    var options = LoadOptions.previewing
    (options.previews.kinds, options.previews.limit) = (kinds, 20)
    var photo = Photo("1")
    photo.drawing = drawing
    for await step in fixture.cache.progress(for: photo, format: format, options: options) {
      if let (image, preview) = step.preview {
        previews.append((Self.pixels(image), preview))
        seen.increment()
      }
      if let image = step.finished { self.image = Self.pixels(image) }
    }
    try #require(!image.isEmpty)
  }

  private static func pixels(_ image: CachedImage) -> [UInt8] {
    image.withPixels { span in span.withUnsafeBytes { Array($0) } }
  }
}

/// The library's own decoder of a file, with a count of the previews that it has made and that show more than
/// the ones before.
private final class CountingDecoder: ProgressiveImageDecoder {
  let drawn = Counter()
  private let part = Lock(0.0)
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

  func makePreviewScanner(of byteCount: Int?) -> any PreviewScanner {
    base.makePreviewScanner(of: byteCount)
  }

  func decodePreview(
    _ bytes: Data, at stage: PreviewStage, _ request: DecodeRequest
  ) throws(ImageDecodingError) -> DecodedPreview {
    let preview = try base.decodePreview(bytes, at: stage, request)
    let showsMore = part.withLock { part in
      guard let newPart = preview.part else { return true }
      defer { part = max(part, newPart) }
      return newPart > part
    }
    if showsMore { drawn.increment() }
    return preview
  }
}
