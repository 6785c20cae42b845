#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import TestSupport
  import Testing

  @testable import ImageCodecs

  @Suite("A cancelled decode", .timeLimit(.minutes(10)))
  struct CancellationTests {
    enum Kind: CaseIterable {
      case baselineJPEG, progressiveJPEG, png, reducedPNG, tinyPNG, interlacedPNG, lossyWebP
      case losslessWebP
      #if GIF
        case gif, interlacedGIF
      #endif

      var data: Data {
        // What repeats itself would be a few bytes, decoded in one step.
        var random = SplitMix64(state: 7)
        let image = DrawnImage(160, 320) { _, _ in
          let bits = Int(random.next() >> 32)
          return (bits & 255, bits >> 8 & 255, bits >> 16 & 255, bits >> 24)
        }
        switch self {
        case .baselineJPEG, .progressiveJPEG:
          return Fixture.jpeg(image, .init(isProgressive: self == .progressiveJPEG))
        case .png, .reducedPNG, .tinyPNG, .interlacedPNG:
          return Fixture.png(image, .init(isInterlaced: self == .interlacedPNG))
        case .lossyWebP: return Fixture.webp(image, isLossless: false, quality: 100)
        case .losslessWebP: return Fixture.webp(image)
        #if GIF
          case .gif, .interlacedGIF:
            var file = GIFFile(
              image.size, image.red, palette: [UInt8](repeating: 0, count: 768))
            file.frames[0].isInterlaced = self == .interlacedGIF
            return file.data
        #endif
        }
      }

      var minimumSize: PixelSize? {
        switch self {
        case .reducedPNG: PixelSize(width: 80, height: 160)
        case .tinyPNG: PixelSize(width: 1, height: 2)
        default: nil
        }
      }
    }

    @Test("ends at the question that was answered with yes", arguments: Kind.allCases)
    func ends(kind: Kind) throws {
      let data = kind.data
      let all = Counter()
      _ = try decode(data, atLeast: kind.minimumSize) {
        all.increment()
        return false
      }
      let questions = all.value
      #expect(questions >= 4)
      for answer in [1, questions / 2, questions] {
        let asked = Counter()
        #expect(throws: ImageDecodingError.cancelled) {
          try decode(data, atLeast: kind.minimumSize) {
            asked.increment() >= answer
          }
        }
        #expect(asked.value == answer)
      }
    }
  }
#endif
