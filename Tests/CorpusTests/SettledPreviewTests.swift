#if !canImport(ImageIO)
  import CommandSupport
  import Foundation
  import ImageCodecs
  import Pixels
  import Testing

  @Suite("A settled preview", .timeLimit(.minutes(10)))
  struct SettledPreviewTests {
    @Test("has every byte of the image, for each file of the corpus", arguments: Corpus.whole)
    func corpus(file: CorpusFile) throws {
      let decoder = try ImageDecoders.standard.decoder(for: file.bytes)
      try expectEqual(of: try decoder.decode(file.bytes, DecodeRequest()))
    }

    @Test("has every byte of the image, for landscapes", arguments: 0..<12)
    func landscapes(number: Int) throws {
      // No multiple of eight, nor of a sampled block.
      let size = PixelSize(width: 403 + number, height: 301 - number)
      try expectEqual(of: try Landscape(number: number).bitmap(size))
    }

    /// Compares both, at an eighth of the size, for files of several qualities.
    private func expectEqual(of bitmap: Bitmap) throws {
      let (width, height) = (bitmap.size.width, bitmap.size.height)
      let eighth = DecodeRequest(
        minimumSize: PixelSize(width: (width + 7) / 8, height: (height + 7) / 8))
      for quality in [0.3, 0.5, 0.75, 0.85, 0.9, 1] {
        let data = try bitmap.withPixels {
          try JPEGEncoder(quality: quality, isProgressive: true)
            .encode($0, layout: bitmap.layout)
        }
        let decoder = try #require(
          try ImageDecoders.standard.decoder(for: data) as? any ProgressiveImageDecoder)
        var scanner = decoder.makePreviewScanner(of: data.count)
        let stages = data.flatMap { scanner.receive(Data([$0])) }
        let whole = pixels(try decoder.decode(data, eighth))
        var settledCount = 0
        for stage in stages where stage.kind == .frame {
          let bytes = Data(data.prefix(stage.byteCount))
          let preview = try decoder.decodePreview(bytes, at: stage, eighth).bitmap
          guard eighth.isSettled(preview, at: stage, of: bitmap.size) else { continue }
          settledCount += 1
          #expect(pixels(preview) == whole, "\(bitmap.size), quality \(quality)")
        }
        #expect(settledCount > 0, "\(bitmap.size), quality \(quality)")
      }
    }

    /// The pixels without the padding of their rows.
    private func pixels(_ bitmap: Bitmap) -> [UInt8] {
      let used = bitmap.size.width * bitmap.layout.format.bytesPerPixel
      return bitmap.withUnsafeBytes { bytes in
        (0..<bitmap.size.height).flatMap { bytes[($0 * bitmap.layout.rowBytes)...].prefix(used) }
      }
    }
  }
#endif
