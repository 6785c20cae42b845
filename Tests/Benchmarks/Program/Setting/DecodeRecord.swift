import FastImageCache
import Foundation
import Locking

/// Notes at which size a cache's decoders are used.
final class DecodeRecord: Sendable {
  private let last = Lock((width: 0, byteCount: 0))

  /// The width to which the last picture was scaled, in pixels; 0 before the first.
  var lastWidth: Int { last.withLock { $0.width } }

  /// The bytes of the last bitmap; 0 before the first.
  var lastByteCount: Int { last.withLock { $0.byteCount } }

  /// The standard decoders, watched.
  var decoders: [any ImageDecoder] {
    ImageDecoders.standard.map { Watched(decoder: $0, record: self) }
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
      _ = try await cache.image(for: BenchPicture(0, file: file), format: format)
      return max((record.lastWidth * 8 + size.width / 2) / size.width, 1)
    }
  }

  private struct Watched: ImageDecoder {
    let decoder: any ImageDecoder
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
      record.last.withLock {
        $0 = (Int(bitmap.edges.width.rounded(.up)), bitmap.layout.byteCount)
      }
      return bitmap
    }
  }
}
