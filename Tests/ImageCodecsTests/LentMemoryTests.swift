#if !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  /// Bitmaps get memory that other images were in, so whatever a decoder does not write would show
  /// somebody else's pixels.
  @Suite("A decoder with memory that was used before", .timeLimit(.minutes(10)))
  struct LentMemoryTests {
    private static let image = DrawnImage.confetti(301, 211)

    private static func jpeg(_ options: Fixture.JPEGOptions = .init()) -> Data {
      Fixture.jpeg(image, options)
    }

    private static func png(isInterlaced: Bool) -> Data {
      return Fixture.png(image, .init(isInterlaced: isInterlaced))
    }

    private static let files = formats + optional

    private static let formats: [(String, Data)] = [
      ("JPEG", jpeg()),
      ("JPEG with coarse colours", jpeg(.init(sampling: (2, 2)))),
      ("progressive JPEG", jpeg(.init(isProgressive: true))),
      ("JPEG of inks", Fixture.jpeg(image.size, image.rgba)),
      ("turned JPEG", Surgery.adding(exif: Surgery.exif(orientation: 6), toJPEG: jpeg())),
      ("PNG", png(isInterlaced: false)),
      ("interlaced PNG", png(isInterlaced: true)),
      ("WebP", Fixture.webp(image, isLossless: false)),
      ("lossless WebP", Fixture.webp(image)),
    ]

    /// The formats behind traits of the package.
    private static let optional: [(String, Data)] = {
      var files: [(String, Data)] = []
      #if GIF
        var gif = GIFFile(image.size, image.red, palette: [UInt8](repeating: 7, count: 768))
        files.append(("GIF", gif.data))
        gif.screen = PixelSize(width: 320, height: 230)
        files.append(("small frame of a GIF", gif.data))
      #endif
      #if AVIF
        var avif = Fixture.AVIFOptions(sampling: 420, isExact: false, hasAlpha: true)
        files.append(("AVIF", Fixture.avif(image, avif)))
        avif.rotation = 1
        files.append(("turned AVIF", Fixture.avif(image, avif)))
      #endif
      #if HEIF
        files.append(("HEIF", Fixture.heif(image)))
      #endif
      return files
    }()

    /// All bytes of a decode, rows' padding included, in memory that held `byte` where it is lent.
    private func decode(
      _ data: Data, over byte: UInt8, like layout: PixelLayout, atLeast size: PixelSize?
    ) throws -> [UInt8] {
      do {
        _ = try Bitmap(layout: layout) { $0.initializeMemory(as: UInt8.self, repeating: byte) }
      }
      return try ImageCodecsTests.decode(data, atLeast: size).withUnsafeBytes { Array($0) }
    }

    /// A progressive decode writes only the coefficients that are not zero.
    @Test("finds zeros where a larger image's coefficients were")
    func coefficients() throws {
      let use = SpareMemoryUse()
      defer { use.pause() }
      let options = Fixture.JPEGOptions(isProgressive: true)
      let large = DrawnImage.confetti(380, 300)
      let larger = Fixture.jpeg(large, options)
      let progressive = Fixture.jpeg(Self.image, options)
      let expected = try ImageCodecsTests.decode(Self.jpeg()).packedBytes
      for _ in 0..<5 {
        _ = try ImageCodecsTests.decode(larger)
        #expect(try ImageCodecsTests.decode(progressive).packedBytes == expected)
      }
    }

    @Test(
      "uses no byte of coefficients beyond those that were lent",
      arguments: [(-1, false), (0, true)])
    func limitsCoefficients(change: Int, isEnough: Bool) throws {
      let data = Fixture.jpeg(Self.image, .init(isProgressive: true))
      let reader = try #require(fic_jpeg_reader_create())
      defer { fic_jpeg_reader_close(reader) }
      var header = fic_jpeg_header()
      let status: fic_status = data.withUnsafeBytes { bytes in
        let start = bytes.bindMemory(to: UInt8.self).baseAddress
        guard fic_jpeg_read_header(reader, start, bytes.count, &header) == .ok else {
          return .damaged
        }
        var memory = [UInt8](repeating: 0xab, count: Int(header.coefficient_bytes))
        return memory.withUnsafeMutableBytes {
          fic_jpeg_lend(reader, $0.baseAddress, $0.count + change)
          var (width, height) = (UInt32(0), UInt32(0))
          return fic_jpeg_start(reader, 8, false, false, 100, 1 << 30, &width, &height)
        }
      }
      #expect(status == (isEnough ? .ok : .tooLarge))
    }

    @Test(
      "leaves nothing of what was in it", arguments: files,
      [nil, PixelSize(width: 150, height: 105)])
    func writesEverything(_ file: (name: String, data: Data), size: PixelSize?) throws {
      let use = SpareMemoryUse()
      defer { use.pause() }
      let layout = try ImageCodecsTests.decode(file.data, atLeast: size).layout
      let first = try decode(file.data, over: 0x00, like: layout, atLeast: size)
      let second = try decode(file.data, over: 0xab, like: layout, atLeast: size)
      #expect(first == second, "\(file.name)")
    }
  }
#endif
