#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  @Suite("The colours of a PNG file", .timeLimit(.minutes(10)))
  struct PNGColorTests {
    private static let colors: [[UInt8]] = [
      [0, 0, 0], [255, 255, 255], [128, 128, 128], [200, 100, 50], [90, 140, 110], [60, 70, 160],
      [130, 120, 40], [31, 31, 31],
    ]
    private static let sRGB = [31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000]
    private static let displayP3 = [31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000]

    private static func gamma(_ value: Int) -> Data {
      Surgery.pngChunk("gAMA", Surgery.bigEndian(value, bytes: 4))
    }

    private static func chromaticities(_ values: [Int]) -> Data {
      Surgery.pngChunk("cHRM", values.reduce(Data()) { $0 + Surgery.bigEndian($1, bytes: 4) })
    }

    private static func code(_ numbers: [UInt8]) -> Data { Surgery.pngChunk("cICP", Data(numbers)) }

    private static func profile(_ profile: Data) -> Data {
      Surgery.pngChunk("iCCP", Fixture.deflated(profile: profile))
    }

    private static let standard = Surgery.pngChunk("sRGB", Data([0]))

    private func png(_ chunks: Data, behindPixels: Bool = false, type: Int32 = 2) -> Data {
      let rows = Self.colors.flatMap { color -> [UInt8] in
        switch type {
        case 0: [color[1]]
        case 4: [color[1], 255]
        case 6: color + [255]
        default: color
        }
      }
      let data = Fixture.png(PixelSize(width: 8, height: 1), rows, .init(colorType: type))
      return Surgery.adding(chunks, behindPixels: behindPixels, toPNG: data)
    }

    /// Red, green and blue as they are shown, in a space.
    private func shown(_ data: Data, in space: ColorSpace = .sRGB) throws -> [[UInt8]] {
      let bitmap = try decode(data)
      let bytes = bitmap.shownBytes(in: space)
      guard bitmap.layout.format != .gray8 else { return bytes.map { [$0, $0, $0] } }
      return (0..<8).map { Array(bytes[4 * $0..<4 * $0 + 3].reversed()) }
    }

    /// The colours that a power of the numbers makes, by IEC 61966-2-1.
    private func power(_ exponent: Double, _ colors: [[UInt8]] = colors) -> [[UInt8]] {
      colors.map { color in
        color.map { number in
          let light = pow(Double(number) / 255, exponent)
          let curved = light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
          return UInt8((curved * 255).rounded())
        }
      }
    }

    private func expect(
      _ data: Data, _ expected: [[UInt8]], _ comment: Comment? = nil
    ) throws {
      let shown = try shown(data)
      let isEqual = zip(shown, expected).allSatisfy { largestDifference($0, $1) <= 1 }
      #expect(isEqual, "\(comment ?? ""): \(shown)")
    }

    @Test(
      "follow from gamma alone",
      arguments: [1, 1000, 10_000, 31_250, 43_000, 48_000, 55_556, 100_000, 220_000, 1 << 31])
    func gammaAlone(value: Int) throws {
      let expected = power(100_000 / Double(value))
      #expect(zip(expected, Self.colors).contains { largestDifference($0, $1) > 4 })
      for type: Int32 in [2, 6] { try expect(png(Self.gamma(value), type: type), expected) }
      let grays = power(100_000 / Double(value), Self.colors.map { [$0[1], $0[1], $0[1]] })
      for type: Int32 in [0, 4] { try expect(png(Self.gamma(value), type: type), grays) }
    }

    @Test("stay as they are with a gamma that is a screen's, or none")
    func neutralGamma() throws {
      for value in [0, 43_200, 45_455, 47_700] {
        #expect(try decode(png(Self.gamma(value))).colorConversion == nil, "\(value)")
      }
      // Chromium takes it for a power, too: it is another curve than sRGB's where it is dark.
      try expect(png(Self.gamma(45_455) + Self.chromaticities(Self.sRGB)), power(100_000 / 45_455))
    }

    @Test("are those of sRGB where chromaticities make no sense, or stand alone")
    func absurdChromaticities() throws {
      var files = [Self.chromaticities(Self.displayP3)]
      func change(_ index: Int, _ value: Int, _ linear: Bool = true) {
        var numbers = Self.sRGB
        numbers[index] = value
        files.append(Self.gamma(100_000) + Self.chromaticities(numbers))
      }
      change(2, 164_000)
      change(6, -256)
      change(1, 0)
      files.append(Self.gamma(100_000) + Self.chromaticities([Int](repeating: 0, count: 8)))
      let redIsGreen = Self.sRGB[..<4] + Self.sRGB[2..<4] + Self.sRGB[6...]
      files.append(Self.gamma(100_000) + Self.chromaticities(Array(redIsGreen)))
      for (index, chunks) in files.enumerated() {
        try expect(png(chunks), Self.colors, "\(index)")
      }
    }

    /// What Chromium 156 shows for 200, 100, 50.
    private static let chromium: [(code: [UInt8], color: [UInt8])] = [
      ([12, 13], [215, 93, 31]), ([9, 13], [241, 76, 29]), ([4, 13], [232, 93, 30]),
      ([5, 13], [203, 100, 51]), ([6, 13], [196, 102, 49]), ([8, 13], [222, 92, 32]),
      ([10, 13], [255, 0, 61]), ([11, 13], [211, 93, 32]), ([22, 13], [202, 102, 49]),
      ([1, 1], [197, 91, 39]), ([1, 4], [201, 100, 46]), ([1, 5], [189, 76, 26]),
      ([1, 6], [197, 91, 39]), ([1, 7], [206, 115, 68]), ([1, 8], [229, 168, 122]),
      ([1, 14], [197, 91, 39]), ([1, 17], [200, 87, 34]),
      // Nothing is known by these numbers.
      ([1, 13], [200, 100, 50]), ([2, 13], [200, 100, 50]), ([1, 2], [200, 100, 50]),
      ([0, 0], [200, 100, 50]), ([255, 255], [200, 100, 50]),
    ]

    @Test("are named by numbers", arguments: chromium)
    func codes(code: [UInt8], color: [UInt8]) throws {
      let shown = try shown(png(Self.code(code + [0, 1])))
      #expect(largestDifference(shown[3], color) <= 1)
      #expect(shown[0] == [0, 0, 0] && shown[1] == [255, 255, 255])
    }

    @Test(
      "of a high dynamic range keep the brightness of their reference white", arguments: [16, 18])
    func highDynamicRange(transfer: UInt8) throws {
      // ITU-R BT.2408, table 1: 58 % of PQ's numbers, 75 % of HLG's.
      let white = transfer == 16 ? 148 : 191
      let size = PixelSize(width: 4, height: 1)
      let rows = [0, white - 4, white, 255].flatMap { [UInt8($0), UInt8($0), UInt8($0)] }
      let bitmap = try decode(
        Surgery.adding(
          Self.code([9, transfer, 0, 1]), toPNG: Fixture.png(size, rows, .init(colorType: 2))))
      #expect(bitmap.colorConversion != nil)
      let bytes = bitmap.shownBytes()
      let grays = (0..<4).map { bytes[4 * $0] }
      #expect(grays[0] == 0 && (235...250).contains(grays[1]) && grays[2] >= 253 && grays[3] == 255)
    }

    @Test("of gray pixels follow from the curve of their numbers alone", arguments: [Int32(0), 4])
    func grayCodes(type: Int32) throws {
      let grays = Self.colors.map { [$0[1], $0[1], $0[1]] }
      try expect(png(Self.code([12, 8, 0, 1]), type: type), power(1, grays))
      #expect(try decode(png(Self.code([12, 13, 0, 1]), type: type)).colorConversion == nil)
      try expect(
        png(Self.gamma(100_000) + Self.chromaticities(Self.displayP3), type: type), power(1, grays))
    }

    @Test("in Display P3 by numbers stay as they are for a format in Display P3")
    func wide() throws {
      let code = png(Self.code([12, 13, 0, 1]))
      #expect(try shown(code, in: .displayP3) == Self.colors)
      let expected = try shown(png(Self.profile(Fixture.displayP3)))
      try expect(code, expected)
    }

    @Test("are those of the chunk that comes first in the order of PNG, wherever it stands")
    func priority() throws {
      let adobe = Self.profile(Fixture.adobeRGB)
      let p3 = Self.code([12, 13, 0, 1])
      let linear = Self.gamma(100_000)
      let (wide, measured) = (try shown(png(p3)), Self.chromaticities(Self.displayP3))
      let ofAdobe = try shown(png(adobe))
      let ofLinearP3 = try shown(png(linear + measured))
      #expect(Set([wide, ofAdobe, ofLinearP3, power(1), Self.colors]).count == 5)
      let cases: [([Data], [[UInt8]])] = [
        ([p3, adobe, Self.standard, linear, measured], wide),
        ([adobe, Self.standard, linear, measured], ofAdobe),
        ([Self.standard, linear, measured], Self.colors), ([linear, measured], ofLinearP3),
        // What cannot be read is left out.
        ([Self.code([12, 13, 0, 0]), adobe], ofAdobe),
        ([Self.code([2, 2, 0, 1]), linear], power(1)),
        ([Self.code([12, 13, 1, 1]), linear], power(1)),
        ([Self.code([12, 13, 0]), linear], power(1)),
        ([Surgery.pngChunk("iCCP", Data("name\0\0not".utf8)), linear], power(1)),
        ([Surgery.pngChunk("sRGB", Data([4])), linear], power(1)),
        ([Surgery.pngChunk("sRGB", Data()), linear], power(1)),
        ([Surgery.damagedChunk("sRGB", Data([0])), linear], power(1)),
        ([Surgery.pngChunk("gAMA", Data([0, 1, 0x86]))], Self.colors),
        ([linear, Surgery.pngChunk("cHRM", Data(count: 33))], power(1)),
      ]
      for (index, (chunks, expected)) in cases.enumerated() {
        for order in [chunks, chunks.reversed()] {
          try expect(png(order.reduce(Data(), +)), expected, "\(index)")
        }
      }
      // Of several of one kind the first that can be read counts.
      try expect(png(Self.gamma(0) + linear + Self.gamma(45_455)), power(1))
      try expect(png(Self.gamma(45_455) + linear), Self.colors)
      try expect(png(p3 + Self.code([1, 13, 0, 1])), wide)
      for chunk in [p3, adobe, linear] {
        try expect(png(chunk, behindPixels: true), Self.colors)
      }
    }

    @Test("are converted in previews, too")
    func previews() throws {
      let image = PNGPassTests.noise(64, 64, isOpaque: true)
      for isInterlaced in [false, true] {
        let data = Surgery.adding(
          Self.gamma(100_000),
          toPNG: Fixture.png(image.size, image.rgb, .init(colorType: 2, isInterlaced: isInterlaced))
        )
        let preview = try PNGDecoder().decodePreview(
          data.prefix(data.count / 2),
          at: PreviewStage(isInterlaced ? .frame : .rows, byteCount: data.count / 2),
          DecodeRequest(minimumSize: PixelSize(width: 8, height: 8)))
        #expect(preview.bitmap.colorConversion != nil)
      }
    }
  }
#endif
