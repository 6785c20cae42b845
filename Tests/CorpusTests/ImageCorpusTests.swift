import Foundation
import ImageCodecs
import Pixels
import TestSupport
import Testing

@Suite("A decoder, given a file of the corpus,", .timeLimit(.minutes(10)))
struct ImageCorpusTests {
  @Test("decodes every row that there is to decode", arguments: Corpus.whole)
  func decodesWhole(file: CorpusFile) throws {
    let bitmap = try image(in: file.bytes, minimumSize: nil)

    #expect(bitmap.size.width > 1 && bitmap.size.height > 1)
    guard let step = Self.levelsPerRow[bitmap.size] else { return }
    let levels = levels(of: bitmap)
    for (row, level) in levels.enumerated() {
      #expect(abs(level - levels[0] - row * step) < 40, "row \(row) of \(levels)")
    }
  }

  /// The difference of ``levels(of:)`` from row to row in the gradient that most images show,
  /// also turned; the others are too small for a gradient.
  private static let levelsPerRow = [
    PixelSize(width: 24, height: 16): 15, PixelSize(width: 16, height: 24): 10,
  ]

  /// Green and red of each row's first pixel.
  private func levels(of bitmap: Bitmap) -> [Int] {
    bitmap.withUnsafeBytes { bytes in
      (0..<bitmap.size.height).map { row in
        let pixel = bytes[(row * bitmap.layout.rowBytes)...].prefix(4)
        return pixel.dropFirst().prefix(2).reduce(0) { $0 + Int($1) }
      }
    }
  }

  @Test("decodes an image with a long side, whole and small", arguments: Corpus.long)
  func decodesLong(file: CorpusFile) throws {
    let decoder = try #require(
      ImageDecoders.standard.first { $0.recognizes(file.bytes.prefix(64)) })
    let size = try decoder.header(of: file.bytes).size
    #expect(max(size.width, size.height) > 16_384)
    #expect(try decoder.decode(file.bytes, DecodeRequest()).size == size)
    let minimum = PixelSize(
      width: max(1, size.width / 100), height: max(1, size.height / 100))
    let small = try decoder.decode(file.bytes, DecodeRequest(minimumSize: minimum)).size
    #expect(small.width >= minimum.width && small.height >= minimum.height)
  }

  /// libjpeg loses its place where an odd number of rows is kept of this photograph.
  @Test("decodes the middle of a photograph for formats of every shape", arguments: 1...16)
  func decodesMiddle(sixteenths: Int) throws {
    let file = try #require(Corpus.whole.first { $0.description == "jpeg-portrait-682x1024.jpg" })
    let decoder = try ImageDecoders.standard.decoder(for: file.bytes)
    for width in [60, 90, 180, 200, 300, 340] {
      let count = 682 * sixteenths / 16 + width % 2
      let first = (1024 - count) / 2
      var request = DecodeRequest(minimumSize: PixelSize(width: 2 * width, height: 3 * width))
      let whole = try decoder.decode(file.bytes, request)
      request.region = ImageRegion(columns: 0..<682, rows: first..<first + count)
      let part = try decoder.decode(file.bytes, request)
      let (rowBytes, above) = (whole.layout.rowBytes, Int(-part.edges.y))
      #expect(part.layout.rowBytes == rowBytes && part.size.height <= count + 2)
      let isEqual = whole.withUnsafeBytes { whole in
        part.withUnsafeBytes { $0.elementsEqual(whole[(above * rowBytes)...].prefix($0.count)) }
      }
      #expect(isEqual, "\(count) rows, \(width) wide")
    }
  }

  @Test("throws where there is no whole image", arguments: Corpus.refused)
  func refuses(file: CorpusFile) throws {
    #expect(throws: ImageDecodingError.self) {
      try image(in: file.bytes, minimumSize: nil)
    }
    #expect(throws: ImageDecodingError.self) {
      try image(in: file.bytes, minimumSize: PixelSize(width: 3, height: 2))
    }
  }

  @Test("survives random damage", arguments: Corpus.whole + Corpus.refused)
  func survivesDamage(file: CorpusFile) throws {
    var random = SplitMix64(state: UInt64(file.bytes.count))
    for _ in 0..<100 {
      var bytes = file.bytes
      bytes.damage(by: &random)
      // Either a typed error or an image of the size that the header announced.
      do {
        _ = try image(in: bytes, minimumSize: nil)
      } catch {
        #expect(error is ImageDecodingError)
      }
    }
  }

  /// Decodes as a cache would and checks that the header told the truth.
  private func image(in data: Data, minimumSize: PixelSize?) throws -> Bitmap {
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
    return bitmap
  }
}
