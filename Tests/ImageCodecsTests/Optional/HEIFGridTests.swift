#if HEIF && !canImport(ImageIO)
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  @Suite("A HEIF picture that is a grid", .timeLimit(.minutes(10)))
  struct HEIFGridTests {
    private let picture = Picture.slopes(180, 100)
    private let cellSize = PixelSize(width: 64, height: 64)

    @Test("is put together, without what reaches over its edges")
    func isPutTogether() throws {
      let data = try HEIFGrid(picture, cellSize: cellSize).data()
      #expect(try header(of: data).size == picture.size)
      let bitmap = try decode(data)
      #expect(bitmap.size == picture.size)
      #expect(largestDifference(bitmap.packedBytes, picture.opaqueBGRX) <= 2)
    }

    @Test("is refused when its own data name another size", arguments: [(9000, 9000), (180, 9000)])
    func refusesSizes(width: Int, height: Int) throws {
      var grid = HEIFGrid(picture, cellSize: cellSize)
      grid.statedSize = PixelSize(width: width, height: height)
      #expect(throws: ImageDecodingError.self) { try decode(grid.data()) }
    }

    @Test("is refused when a cell is missing, or is itself a grid")
    func refusesCells() throws {
      let data = try HEIFGrid(picture, cellSize: cellSize).data()
      var fewer = data
      let references = try #require(fewer.range(of: Data("dimg".utf8))).upperBound
      fewer[references + 3] -= 1
      #expect(throws: ImageDecodingError.self) { try decode(fewer) }
      var nested = data
      // The last cell's number becomes the grid's own.
      nested[references + 4 + 6 * 2 - 1] = 7
      #expect(
        throws: ImageDecodingError.unsupported("HEIF: pictures that are made of each other")
      ) { try decode(nested) }
    }

    @Test("is refused when its cells have more pixels than it announces")
    func refusesManyCells() throws {
      var grid = HEIFGrid(Picture.slopes(64, 64), cellSize: PixelSize(width: 64, height: 64))
      grid.cells = [Data](repeating: grid.cells[0], count: 250)
      grid.columns = 10
      #expect(
        throws: ImageDecodingError.damaged(
          "HEIF: a picture inside has more pixels than the file announces.")
      ) { try decode(grid.data()) }
    }
  }
#endif
