import FastImageCache
import Foundation
import Locking

/// Notes how long the processor decodes previews for a cache.
final class PreviewRecord: Sendable {
  struct Work: Sendable {
    var previewCount = 0
    /// Of all previews.
    var time = Duration.zero
    /// Pixels of the last one.
    var width = 0
  }

  private let work = Lock(Work())

  /// What was noted since the last call.
  func take() -> Work {
    work.withLock { work in
      defer { work = Work() }
      return work
    }
  }

  /// The standard decoders that can preview, watched.
  var decoders: [any ImageDecoder] {
    ImageDecoders.standard.map { decoder in
      (decoder as? any ProgressiveImageDecoder).map { Watched(decoder: $0, record: self) }
        ?? decoder
    }
  }

  private struct Watched: ProgressiveImageDecoder {
    let decoder: any ProgressiveImageDecoder
    let record: PreviewRecord

    func recognizes(_ firstBytes: Data) -> Bool { decoder.recognizes(firstBytes) }

    func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
      try decoder.header(of: data)
    }

    func workingByteCount(for header: ImageHeader, minimumSize: PixelSize?) -> Int {
      decoder.workingByteCount(for: header, minimumSize: minimumSize)
    }

    func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
      try decoder.decode(data, request)
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
        $0.time += time
        $0.width = preview.bitmap.size.width
      }
      return preview
    }
  }
}
