import FastImageCache
import Foundation
import Locking

/// Notes at which size a cache decodes JPEG files, and how long the processor decodes previews.
final class DecodeRecord: Sendable {
  struct Work: Sendable {
    /// The width to which the last whole image was scaled, in pixels.
    var width = 0
    var previewCount = 0
    /// Of all previews.
    var previewTime = Duration.zero
    /// Pixels of the last one.
    var previewWidth = 0
  }

  private let work = Lock(Work())

  /// What was noted since the last call.
  func take() -> Work {
    work.withLock { work in
      defer { work = Work() }
      return work
    }
  }

  /// The standard decoders; those that can preview are watched.
  var decoders: [any ImageDecoder] {
    ImageDecoders.standard.map { decoder in
      (decoder as? any ProgressiveImageDecoder).map { Watched(decoder: $0, record: self) }
        ?? decoder
    }
  }

  /// The scale at which a cache decodes a file, in eighths, as a decoder between the two sees it.
  static func eighths(
    of file: URL, _ size: PixelSize, _ format: ImageFormat, _ setting: BenchSetting
  ) async throws -> Int {
    let record = DecodeRecord()
    return try await setting.withCache(
      "scale-\(size.width)-\(format.name)", formats: [format],
      .with { $0.decoders = record.decoders }
    ) { cache in
      _ = try await cache.image(for: BenchImage(0, file: file), format: format)
      return max((record.take().width * 8 + size.width / 2) / size.width, 1)
    }
  }

  private struct Watched: ProgressiveImageDecoder {
    let decoder: any ProgressiveImageDecoder
    let record: DecodeRecord

    func recognizes(_ firstBytes: Data) -> Bool { decoder.recognizes(firstBytes) }

    func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
      try decoder.header(of: data)
    }

    func workingByteCount(for header: ImageHeader, minimumSize: PixelSize?) -> Int {
      decoder.workingByteCount(for: header, minimumSize: minimumSize)
    }

    func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
      let bitmap = try decoder.decode(data, request)
      // Parts that are not drawn may have been left out.
      record.work.withLock { $0.width = Int(bitmap.edges.width.rounded(.up)) }
      return bitmap
    }

    func makePreviewScanner(of byteCount: Int?) -> any PreviewScanner {
      decoder.makePreviewScanner(of: byteCount)
    }

    func decodePreview(
      _ bytes: Data, at stage: PreviewStage, _ request: DecodeRequest
    ) throws(ImageDecodingError) -> DecodedPreview {
      let start = ProcessorTime.ofThread
      let preview = try decoder.decodePreview(bytes, at: stage, request)
      let time = ProcessorTime.ofThread - start
      record.work.withLock {
        $0.previewCount += 1
        $0.previewTime += time
        $0.previewWidth = preview.bitmap.size.width
      }
      return preview
    }
  }
}
