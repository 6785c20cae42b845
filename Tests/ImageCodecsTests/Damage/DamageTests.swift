#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import TestSupport
  import Testing

  @testable import ImageCodecs

  /// One small file of each sort.
  enum Sample: String, CaseIterable {
    case baselineJPEG, progressiveJPEG, grayJPEG, inkJPEG, turnedJPEG
    case png, interlacedPNG, palettePNG
    case lossyWebP, losslessWebP, alphaWebP, extendedWebP
    #if GIF
      case gif, interlacedGIF
    #endif
    #if AVIF
      case avif, alphaAVIF
    #endif
    #if HEIF
      case heif, alphaHEIF
    #endif

    var data: Data {
      let image = DrawnImage.slopes(40, 33)
      var jpeg = Fixture.JPEGOptions(quality: 80)
      var png = Fixture.PNGOptions()
      switch self {
      case .baselineJPEG:
        jpeg.sampling = (2, 2)
        return Fixture.jpeg(image, jpeg)
      case .progressiveJPEG:
        jpeg.isProgressive = true
        jpeg.profile = Fixture.displayP3
        return Fixture.jpeg(image, jpeg)
      case .grayJPEG:
        return Fixture.jpeg(image.size, image.red, jpeg)
      case .inkJPEG:
        jpeg.hasAdobeSegment = true
        jpeg.isYCCK = true
        return Fixture.jpeg(image.size, image.rgba, jpeg)
      case .turnedJPEG:
        return Surgery.adding(
          exif: Surgery.exif(orientation: 6), toJPEG: Fixture.jpeg(image, jpeg))
      case .png:
        png.profile = Fixture.displayP3
        return Fixture.png(image, png)
      case .interlacedPNG:
        png.isInterlaced = true
        return Fixture.png(image, png)
      case .palettePNG:
        png.colorType = 3
        png.palette = (0..<768).map { UInt8($0 % 251) }
        png.transparency = [9, 99]
        return Fixture.png(image.size, image.red, png)
      case .lossyWebP:
        return Fixture.webp(image, isLossless: false)
      case .losslessWebP:
        return Fixture.webp(DrawnImage.confetti(20, 17))
      case .alphaWebP:
        return Fixture.webp(
          DrawnImage(40, 33) { x, y in (x * 6, y * 7, 80, x * y % 256) }, isLossless: false)
      case .extendedWebP:
        let chunks =
          Surgery.riffChunk("ICCP", Fixture.displayP3) + Surgery.webpChunks(Fixture.webp(image))
          + Surgery.riffChunk("EXIF", Surgery.exif(orientation: 8))
        return Surgery.extendedWebP(flags: 0x28, width: 40, height: 33, chunks)
      #if GIF
        case .gif, .interlacedGIF:
          let palette = (0..<768).map { UInt8($0 % 251) }
          var file = GIFFile(image.size, image.red, palette: palette)
          file.frames[0].isInterlaced = self == .interlacedGIF
          file.frames[0].transparent = 30
          return file.data
      #endif
      #if AVIF
        case .avif: return Fixture.avif(image)
        case .alphaAVIF:
          return Fixture.avif(
            DrawnImage.confetti(20, 17),
            .init(sampling: 420, isExact: false, hasAlpha: true, rotation: 1))
      #endif
      #if HEIF
        case .heif: return Fixture.heif(image)
        case .alphaHEIF:
          return Fixture.heif(image, .init(isExact: false, hasAlpha: true, orientation: 6))
      #endif
      }
    }
  }

  @Suite("A damaged file", .timeLimit(.minutes(10)))
  struct DamageTests {
    @Test(
      "that is cut short gives an error or the whole image, and in the middle an error",
      arguments: Sample.allCases)
    func cutShort(sample: Sample) throws {
      let data = sample.data
      let whole = try decode(data)
      for count in 0..<data.count {
        // A fresh copy of exactly that size, so that reading past its end is reading elsewhere.
        let cut = Data(Array(data.prefix(count)))
        do {
          let bitmap = try decode(cut)
          #expect(
            largestDifference(bitmap.packedBytes, whole.packedBytes) == 0,
            "after \(count) of \(data.count) bytes")
        } catch {
          #expect(error != .cancelled && error != .outOfMemory)
        }
      }
      #expect(throws: ImageDecodingError.self) { try decode(data.prefix(data.count * 2 / 3)) }
    }

    @Test("with wrong bytes anywhere does no harm", arguments: Sample.allCases)
    func wrongBytes(sample: Sample) throws {
      let data = sample.data
      var limits = DecodingLimits()
      limits.sideLength = 4096
      limits.workingByteCount = 32 << 20
      var random = SplitMix64(state: 42)
      var outcomes: [Bool: Int] = [:]
      for round in 0..<150 {
        var damaged = data
        for _ in 0...round % 4 {
          damaged[Int(random.next() % UInt64(data.count))] = UInt8(
            truncatingIfNeeded: random.next())
        }
        let minimum = round % 2 == 0 ? nil : PixelSize(width: 9, height: 7)
        // What matters is that this returns; whether with an image, only the format can tell.
        let bitmap = try? decode(damaged, atLeast: minimum, limits: limits)
        if let bitmap { #expect(bitmap.size.width <= 4096) }
        outcomes[bitmap == nil, default: 0] += 1
      }
      #expect(outcomes[true, default: 0] > 0)
    }

    @Test("with metadata longer than it says is whole")
    func longMetadata() throws {
      let data = Sample.baselineJPEG.data
      let whole = try decode(data)
      let segment = Data([0xFF, 0xEB]) + Surgery.bigEndian(10, bytes: 2) + Data(count: 300)
      let longer = data.prefix(2) + segment + data.dropFirst(2)
      #expect(try largestDifference(decode(longer).packedBytes, whole.packedBytes) == 0)
    }
  }
#endif
