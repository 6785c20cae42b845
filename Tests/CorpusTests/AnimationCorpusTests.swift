#if !canImport(ImageIO)
  import Foundation
  import ImageCodecs
  import Pixels
  import Testing

  /// Compares with the frames of other decoders, which `Tests/Corpora/animations/make` composes. The environment
  /// variable `ANIMATIONS` names another folder of its files.
  @Suite("A decoder, given an animation of the corpus,", .timeLimit(.minutes(10)))
  struct AnimationCorpusTests {
    /// The largest difference of a byte, colours multiplied by alpha.
    ///
    /// apngdis blends colours that are not multiplied, and rounds them with each blended frame. Pillow's libwebp and
    /// libavif multiply behind that.
    private static let tolerances = ["webp": 1, "png": 3, "gif": 0, "avif": 1]

    private static let folder =
      ProcessInfo.processInfo.environment["ANIMATIONS"].map { URL(fileURLWithPath: $0) }
      ?? URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Corpora/animations")

    private static func files(_ kind: String) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: folder.path)
        .filter { $0.hasSuffix(".\(kind)") && !$0.hasSuffix(".frames.png") }.sorted()
    }

    private func read(_ name: String) throws -> Data {
      try Data(contentsOf: Self.folder.appendingPathComponent(name))
    }

    @Test(
      "reads the frames, loops and delays that others read",
      arguments: ["webp", "png", "gif", "avif"])
    func readsFrames(kind: String) throws {
      let names = try Self.files(kind)
      #expect(names.count >= 5)
      var largest = 0
      for name in names {
        let data = try read(name)
        let decoder = ImageDecoders.standard.first { $0.recognizes(data.prefix(64)) }
        guard let decoder = decoder as? any AnimationDecoder else {
          #expect(["gif", "avif"].contains(kind))
          return
        }
        let header = try #require(
          try decoder.animation(of: data, within: DecodingLimits()), "\(name)")
        let numbers = try String(decoding: read(name + ".txt"), as: UTF8.self)
          .split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        #expect(header.loopCount ?? 0 == Int(numbers[0]), "\(name)")
        #expect(
          header.frameDurations.map { Int($0 / .microseconds(1)) }
            == numbers.dropFirst().map { Int(($0 * 1000).rounded()) }, "\(name)")

        let sheet = try decode(read(name + ".frames.png"))
        let reader = try decoder.frames(of: data, DecodeRequest())
        var count = 0
        while let frame = try reader.next() {
          let rows = frame.size.height
          try #require(
            sheet.size == PixelSize(width: frame.size.width, height: rows * header.frameCount))
          let difference = largestDifference(frame, sheet, from: count * rows)
          largest = max(largest, difference)
          #expect(difference <= Self.tolerances[kind] ?? 0, "\(name), frame \(count)")
          count += 1
        }
        #expect(count == header.frameCount, "\(name)")
      }
      if ProcessInfo.processInfo.environment["ANIMATIONS"] != nil {
        print("\(kind): \(names.count) files, largest difference \(largest)")
      }
    }

    private func decode(_ data: Data) throws -> Bitmap {
      try ImageDecoders.standard.decoder(for: data).decode(data, DecodeRequest())
    }

    private func largestDifference(_ frame: Bitmap, _ sheet: Bitmap, from row: Int) -> Int {
      frame.withUnsafeBytes { pixels in
        sheet.withUnsafeBytes { others in
          (0..<frame.size.height).reduce(0) { largest, y in
            let line = pixels[(y * frame.layout.rowBytes)...].prefix(frame.size.width * 4)
            let other = others[((row + y) * sheet.layout.rowBytes)...]
            return max(largest, zip(line, other).map { abs(Int($0) - Int($1)) }.max() ?? 0)
          }
        }
      }
    }
  }
#endif
