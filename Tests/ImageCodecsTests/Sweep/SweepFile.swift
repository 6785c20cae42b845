#if !canImport(ImageIO)
  internal import CTestImages
  import Foundation
  import Pixels

  @testable import ImageCodecs

  /// A valid file of slopes and waves, whose kind and properties are chosen.
  struct SweepFile {
    let data: Data
    private let waves: fic_test_waves
    private let orientation: Int
    /// Levels of a sample that is stored for a wave of 16 bits; `nil` where inks stand for colours.
    private let level: ((UInt16) -> Int)?
    /// How far the colours of a full decode may be off.
    private let tolerance: Int

    init(
      _ kind: Kind, _ size: PixelSize, wavelength: Double, orientation: Int,
      _ choices: inout Choices
    ) {
      var waves = fic_test_waves(
        width: UInt32(size.width), height: UInt32(size.height), channels: 3, bit_depth: 8,
        wavelength: wavelength)
      let exif = Surgery.exif(orientation: orientation, isLittleEndian: choices.pick("II"))
      var level: ((UInt16) -> Int)? = { Int($0 >> 8) }
      switch kind {
      case .jpeg:
        waves.channels = choices.pick("components", [3, 1, 4])
        let options = Self.jpegOptions(&choices, isInk: waves.channels == 4)
        data = Surgery.adding(exif: exif, toJPEG: Fixture.jpeg(size, waves.painted, options))
        if waves.channels == 4 { level = nil }
        tolerance = 40
      case .png:
        let options = Self.pngOptions(&choices, &waves)
        data = Surgery.adding(
          chunk: "eXIf", exif, toPNG: Fixture.png(size, waves.painted, options))
        let (shift, largest) = (16 - waves.bit_depth, (1 << waves.bit_depth) - 1)
        level = { Int($0 >> shift) * 255 / Int(largest) }
        // A wave may be rounded to the next level, and alpha too.
        tolerance = 255 / Int(largest) + 3
      case .webp:
        waves.channels = 4
        let isLossless = choices.any("lossless", of: [false, true])
        let image = Data(
          owning: fic_test_encode_webp(waves.width, waves.height, waves.painted, isLossless, 90))
        // XMP would be 4, an animation 2.
        data = Surgery.extendedWebP(
          flags: 0x18, width: size.width, height: size.height,
          Surgery.webpChunks(image) + Surgery.riffChunk("EXIF", exif))
        tolerance = 40
      }
      (self.waves, self.orientation, self.level) = (waves, orientation, level)
    }

    enum Kind: CaseIterable { case jpeg, png, webp }

    private static func jpegOptions(_ choices: inout Choices, isInk: Bool) -> Fixture.JPEGOptions {
      var options = Fixture.JPEGOptions()
      options.isProgressive = choices.pick("progressive")
      options.hasScanPerComponent = choices.pick("scans")
      let samplings: [(UInt32, UInt32)] = [
        (2, 2), (1, 1), (2, 1), (1, 2), (4, 1), (1, 4), (4, 2), (2, 4), (3, 1),
      ]
      // Ten blocks at most share a unit.
      options.sampling = choices.pick("sampling", isInk ? Array(samplings.prefix(4)) : samplings)
      options.restartRows = choices.pick("restarts", [0, 1, 3])
      options.quality = choices.pick("quality", [90, 75, 100])
      if isInk {
        options.hasAdobeSegment = true
        options.isYCCK = choices.pick("YCCK")
      }
      return options
    }

    private static func pngOptions(
      _ choices: inout Choices, _ waves: inout fic_test_waves
    ) -> Fixture.PNGOptions {
      var options = Fixture.PNGOptions()
      options.isInterlaced = choices.pick("interlaced")
      options.colorType = choices.any("type", of: [2, 6, 3, 0, 4])
      waves.channels = [1, 0, 3, 1, 2, 0, 4][Int(options.colorType)]
      let depths: [UInt32] =
        switch options.colorType {
        case 0: [1, 2, 4, 8, 16]
        case 3: [1, 2, 4, 8]
        default: [8, 16]
        }
      waves.bit_depth = choices.any("depth", of: depths)
      options.bitDepth = Int32(waves.bit_depth)
      if options.colorType == 3 {
        let largest = (1 << waves.bit_depth) - 1
        options.palette = (0...largest).flatMap { level in
          [UInt8](repeating: UInt8(level * 255 / largest), count: 3)
        }
        if choices.pick("transparency") { options.transparency = [128] }
      }
      return options
    }

    /// Where a full decode shows other colours than were encoded; `nil` for nowhere.
    func fault(in bitmap: Bitmap) -> String? {
      guard let level else { return nil }
      let channelCount = bitmap.layout.format.bytesPerPixel
      for index in 0..<25 {
        let x = bitmap.size.width * (index % 5) / 5
        let y = bitmap.size.height * (index / 5) / 5
        let stored = DrawnImage.stored(
          orientation, x: x, y: y, in: PixelSize(width: Int(waves.width), height: Int(waves.height))
        )
        let samples = (0..<waves.channels).map {
          level(fic_test_wave(waves, $0, UInt32(stored.x), UInt32(stored.y)))
        }
        let hasAlpha = waves.channels % 2 == 0
        let colors = hasAlpha ? samples.dropLast().map { $0 * samples.last! / 255 } : samples
        let start = y * bitmap.layout.rowBytes + x * channelCount
        let shown = bitmap.withUnsafeBytes {
          $0[start..<start + min(channelCount, 3)].reversed().map(Int.init)
        }
        let expected = colors.count == shown.count ? colors : shown.map { _ in colors[0] }
        let isRight = zip(shown, expected).allSatisfy { abs($0 - $1) <= tolerance }
        if !isRight { return "(\(x), \(y)) is \(shown) and not \(expected)" }
      }
      return nil
    }
  }

  extension fic_test_waves {
    fileprivate var painted: [UInt8] {
      let rowBytes = (Int(width) * Int(channels) * Int(bit_depth) + 7) / 8
      return [UInt8](unsafeUninitializedCapacity: rowBytes * Int(height)) { bytes, count in
        fic_test_paint_waves(self, bytes.baseAddress)
        count = rowBytes * Int(height)
      }
    }
  }
#endif
