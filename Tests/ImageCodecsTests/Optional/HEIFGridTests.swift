#if HEIF && !canImport(ImageIO)
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  @Suite("A HEIF image that is a grid", .timeLimit(.minutes(10)))
  struct HEIFGridTests {
    private let image = DrawnImage.slopes(180, 100)
    private let cellSize = PixelSize(width: 64, height: 64)

    @Test("is put together, without what reaches over its edges")
    func isPutTogether() throws {
      let data = try HEIFGrid(image, cellSize: cellSize).data()
      #expect(try header(of: data).size == image.size)
      let bitmap = try decode(data)
      #expect(bitmap.size == image.size)
      #expect(largestDifference(bitmap.packedBytes, image.opaqueBGRX) <= 2)
    }

    /// Quarter turns against the clock and the mirroring before or after them, with the turn of EXIF that looks
    /// the same. libheif itself makes the ones in another order.
    private static let turns: [([(String, UInt8)], exif: Int)] = [
      ([("irot", 1)], 8), ([("irot", 2)], 3), ([("irot", 3)], 6), ([("imir", 0)], 4),
      ([("imir", 1)], 2), ([("irot", 1), ("imir", 0)], 5), ([("irot", 1), ("imir", 1)], 7),
      ([("irot", 2), ("imir", 0)], 2), ([("irot", 2), ("imir", 1)], 4),
      ([("irot", 3), ("imir", 0)], 7), ([("irot", 3), ("imir", 1)], 5),
      ([("imir", 0), ("irot", 1)], 7), ([("imir", 1), ("irot", 3)], 7),
      ([("irot", 1), ("irot", 1)], 3),
    ]

    @Test("is turned upright by all of its turns", arguments: turns)
    func isTurned(properties: [(String, UInt8)], exif: Int) throws {
      var grid = HEIFGrid(image, cellSize: cellSize)
      grid.properties = properties.map { (name: $0.0, value: $0.1) }
      let data = try grid.data()
      let expected = image.turned(exif)
      #expect(try header(of: data).size == expected.size)
      #expect(largestDifference(try decode(data).packedBytes, expected.opaqueBGRX) <= 2)
    }

    @Test(
      "of 48 megapixels is within the limits where a thumbnail is asked for", arguments: [0, 3])
    func isWithinLimits(turn: UInt8) throws {
      let side = PixelSize(width: 512, height: 512)
      var grid = HEIFGrid(
        repeating: Fixture.heif(DrawnImage.slopes(512, 512), .init(isExact: false)), side,
        columns: 16, rows: 12)
      grid.size = PixelSize(width: 8064, height: 6048)
      if turn > 0 { grid.properties = [(name: "irot", value: turn)] }
      let data = try grid.data()
      let header = try header(of: data)
      let pixels = 8064 * 6048
      #expect(header.wholeImageByteCount == pixels * 3)
      let thumbnail = HEIFDecoder().workingByteCount(
        for: header, minimumSize: PixelSize(width: 400, height: 400))
      #expect(thumbnail < 160 << 20)
      try DecodingLimits().check(
        header, encodedByteCount: data.count, workingByteCount: thumbnail)
      let whole = HEIFDecoder().workingByteCount(for: header, minimumSize: nil)
      #expect(whole >= pixels * 7)
      expectTooLarge(naming: "\(pixels * 3) at whatever size") {
        try DecodingLimits().check(header, encodedByteCount: data.count, workingByteCount: whole)
      }
    }

    @Test("is averaged for a small result within the memory of its planes")
    func isReduced() throws {
      let side = PixelSize(width: 64, height: 64)
      let cell = Fixture.heif(DrawnImage(64, 64) { _, _ in (200, 100, 50, 255) })
      let data = try HEIFGrid(repeating: cell, side, columns: 16, rows: 12).data()
      var limits = DecodingLimits()
      limits.workingByteCount = 8 << 20
      let small = PixelSize(width: 64, height: 48)
      let bitmap = try decode(data, atLeast: small, limits: limits)
      #expect(bitmap.size == small)
      let expected = DrawnImage(64, 48) { _, _ in (200, 100, 50, 255) }
      #expect(largestDifference(bitmap.packedBytes, expected.opaqueBGRX) <= 2)
      #expect(throws: ImageDecodingError.self) { try decode(data, limits: limits) }
    }

    @Test("is refused when a cell is larger than its own size says")
    func refusesLargeCells() throws {
      let cell = Fixture.heif(DrawnImage.slopes(1200, 600))
      var grid = HEIFGrid(
        repeating: cell, PixelSize(width: 64, height: 64), columns: 1, rows: 1)
      grid.size = PixelSize(width: 1200, height: 600)
      #expect(
        throws: ImageDecodingError.damaged(
          "HEIF: an image inside has more pixels than the file announces.")
      ) { try decode(grid.data()) }
    }

    @Test("is refused when its own data name another size", arguments: [(9000, 9000), (180, 9000)])
    func refusesSizes(width: Int, height: Int) throws {
      var grid = HEIFGrid(image, cellSize: cellSize)
      grid.statedSize = PixelSize(width: width, height: height)
      #expect(throws: ImageDecodingError.self) { try decode(grid.data()) }
    }

    @Test("is refused when a cell is missing, or is itself a grid")
    func refusesCells() throws {
      let data = try HEIFGrid(image, cellSize: cellSize).data()
      var fewer = data
      let references = try #require(fewer.range(of: Data("dimg".utf8))).upperBound
      fewer[references + 3] -= 1
      #expect(throws: ImageDecodingError.self) { try decode(fewer) }
      var nested = data
      // The last cell's number becomes the grid's own.
      nested[references + 4 + 6 * 2 - 1] = 7
      #expect(
        throws: ImageDecodingError.unsupported("HEIF: images that are made of each other")
      ) { try decode(nested) }
    }

    @Test("is refused when its cells have more pixels than it announces")
    func refusesManyCells() throws {
      var grid = HEIFGrid(DrawnImage.slopes(64, 64), cellSize: PixelSize(width: 64, height: 64))
      grid.cells = [Data](repeating: grid.cells[0], count: 250)
      grid.columns = 10
      #expect(
        throws: ImageDecodingError.damaged(
          "HEIF: an image inside has more pixels than the file announces.")
      ) { try decode(grid.data()) }
    }
  }
#endif
