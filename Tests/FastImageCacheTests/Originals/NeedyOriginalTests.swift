import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A kept original without memory for its image", .timeLimit(.minutes(10)))
struct NeedyOriginalTests {
  /// Decodes PNG, unless a closure throws before.
  private struct NeedyDecoder: ImageDecoder {
    /// Given whether only the header is read.
    let begin: @Sendable (_ isHeader: Bool) throws(ImageDecodingError) -> Void
    private let decoder = ImageDecoders.standard.first { $0.recognizes(NeedyOriginalTests.png) }!

    init(begin: @escaping @Sendable (_ isHeader: Bool) throws(ImageDecodingError) -> Void) {
      self.begin = begin
    }

    func recognizes(_ firstBytes: Data) -> Bool { decoder.recognizes(firstBytes) }

    func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
      try begin(true)
      return try decoder.header(of: data)
    }

    func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
      try begin(false)
      return try decoder.decode(data, request)
    }
  }

  fileprivate static let png = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

  @Test("stays, and answers once there is", arguments: [true, false])
  func stays(needsHeader: Bool) async throws {
    let (source, originals, isShort) = (EncodedSource(), MemoryOriginals(), Lock(false))
    let decoder = NeedyDecoder { isHeader throws(ImageDecodingError) in
      if isHeader == needsHeader, isShort.withLock({ $0 }) { throw .outOfMemory }
    }
    let fixture = try await Fixture(from: source, originals: originals) {
      $0.decoders = [decoder]
    }
    _ = try await fixture.cache.image(for: Photo("7"), format: .row)
    await originals.written.reaches(1)
    try await fixture.cache.removeImage(for: Photo("7"), format: .row)
    isShort.withLock { $0 = true }
    await #expect(throws: ImageCacheError.self) {
      try await fixture.cache.image(for: Photo("7"), format: .row)
    }
    isShort.withLock { $0 = false }
    let image = try await fixture.cache.image(for: Photo("7"), format: .row)
    #expect(image.solidNumber == 7 && source.started.value == 1)
  }
}
