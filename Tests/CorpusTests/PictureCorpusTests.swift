import Foundation
import ImageCodecs
import Pixels
import TestSupport
import Testing

@Suite("A decoder, given a file of the corpus,", .timeLimit(.minutes(15)))
struct PictureCorpusTests {
  @Test("decodes every row that there is to decode", arguments: Corpus.whole)
  func decodesWhole(file: CorpusFile) throws {
    let size = try #require(try sizeOfPicture(in: file.bytes, minimumSize: nil))

    #expect(size.width > 1 && size.height > 1)
  }

  @Test("throws where there is no whole picture", arguments: Corpus.refused)
  func refuses(file: CorpusFile) throws {
    #expect(throws: ImageDecodingError.self) {
      try sizeOfPicture(in: file.bytes, minimumSize: nil)
    }
    #expect(throws: ImageDecodingError.self) {
      try sizeOfPicture(in: file.bytes, minimumSize: PixelSize(width: 3, height: 2))
    }
  }

  @Test("survives random damage", arguments: Corpus.whole + Corpus.refused)
  func survivesDamage(file: CorpusFile) throws {
    var random = SplitMix64(state: UInt64(file.bytes.count))
    for _ in 0..<100 {
      var bytes = file.bytes
      bytes.damage(by: &random)
      // Either a typed error or a picture of the size that the header announced.
      do {
        _ = try sizeOfPicture(in: bytes, minimumSize: nil)
      } catch {
        #expect(error is ImageDecodingError)
      }
    }
  }

  /// Decodes as a cache would and checks that the header told the truth.
  private func sizeOfPicture(in data: Data, minimumSize: PixelSize?) throws -> PixelSize? {
    var limits = DecodingLimits()
    limits.pixelCount = 1 << 20
    limits.workingByteCount = 16 << 20
    let firstBytes = data.prefix(64)
    guard let decoder = ImageDecoders.standard.first(where: { $0.recognizes(firstBytes) }) else {
      throw ImageDecodingError.unknownType
    }
    let header = try decoder.header(of: data)
    let bitmap = try decoder.decode(data, DecodeRequest(minimumSize: minimumSize, limits: limits))
    if minimumSize == nil { #expect(bitmap.size == header.size) }
    return bitmap.size
  }
}
