#if HEIF && !canImport(ImageIO)
  import Foundation
  import Pixels

  @testable import ImageCodecs

  /// Puts a HEIC file together whose image is a grid of equal cells, as phones write them; ISO/IEC 23008-12,
  /// section 6.6.2.3, and ISO/IEC 14496-12, section 8.11.
  struct HEIFGrid {
    /// The size of the image, of which cells may reach over the edges.
    var size: PixelSize
    var cellSize: PixelSize
    var columns: Int
    /// The size that the grid's own data name; the image's if `nil`.
    var statedSize: PixelSize?
    /// A HEIC file for each cell, in the order of rows.
    var cells: [Data]
    /// The names and first bytes of further properties of the image, in their order.
    var properties: [(name: String, value: UInt8)] = []

    /// An image of equal cells.
    init(repeating cell: Data, _ cellSize: PixelSize, columns: Int, rows: Int) {
      size = PixelSize(width: cellSize.width * columns, height: cellSize.height * rows)
      (self.cellSize, self.columns) = (cellSize, columns)
      cells = [Data](repeating: cell, count: columns * rows)
    }

    init(_ image: DrawnImage, cellSize: PixelSize) {
      (size, self.cellSize) = (image.size, cellSize)
      columns = (size.width + cellSize.width - 1) / cellSize.width
      let rows = (size.height + cellSize.height - 1) / cellSize.height
      let columns = columns
      cells = (0..<rows * columns).map { number in
        let (left, top) = (number % columns * cellSize.width, number / columns * cellSize.height)
        let cell = DrawnImage(cellSize.width, cellSize.height) { x, y in
          image[min(left + x, image.size.width - 1), min(top + y, image.size.height - 1)]
        }
        return Fixture.heif(cell)
      }
    }

    func data() throws(ImageDecodingError) -> Data {
      let parts = try cells.map { cell throws(ImageDecodingError) in try Self.parts(of: cell) }
      let gridID = parts.count + 1
      let stated = statedSize ?? size
      let grid =
        Data([0, 0, UInt8(parts.count / columns - 1), UInt8(columns - 1)])
        + number(stated.width, 2) + number(stated.height, 2)
      let types =
        (1..<gridID).map {
          box(
            "infe", number(2, 1) + number(0, 3) + number($0, 2) + number(0, 2) + Data("hvc1\0".utf8)
          )
        }
        + [
          box(
            "infe",
            number(2, 1) + number(0, 3) + number(gridID, 2) + number(0, 2) + Data("grid\0".utf8))
        ]
      let boxes =
        box("hvcC", parts[0].configuration) + extents(cellSize) + extents(size)
        + properties.map { box($0.name, Data([$0.value])) }.reduce(Data(), +)
      var associations = number(0, 4) + number(gridID, 4)
      for id in 1..<gridID { associations += number(id, 2) + Data([2, 0x81, 2]) }
      associations += number(gridID, 2) + Data([UInt8(1 + properties.count), 3])
      associations += Data(properties.indices.map { 0x84 + UInt8($0) })
      var references = number(0, 4)
      let cellIDs = (1..<gridID).map { number($0, 2) }.reduce(Data(), +)
      references += box("dimg", number(gridID, 2) + number(parts.count, 2) + cellIDs)

      let brand = box("ftyp", Data("heic\0\0\0\0mif1heic".utf8))
      func meta(mediaOffset: Int) -> Data {
        var places = Data([1, 0, 0, 0, 0x44, 0]) + number(gridID, 2)
        var offset = mediaOffset
        for (index, part) in parts.enumerated() {
          places += number(index + 1, 2) + number(0, 2) + number(0, 2) + number(1, 2)
          places += number(offset, 4) + number(part.image.count, 4)
          offset += part.image.count
        }
        places += number(gridID, 2) + number(1, 2) + number(0, 2) + number(1, 2)
        places += number(0, 4) + number(grid.count, 4)
        let handler = number(0, 8) + Data("pict".utf8) + number(0, 13)
        var body =
          number(0, 4) + box("hdlr", handler) + box("pitm", number(0, 4) + number(gridID, 2))
        body +=
          box("iloc", places)
          + box("iinf", number(0, 4) + number(gridID, 2) + types.reduce(Data(), +))
        body += box("iref", references)
        body += box("iprp", box("ipco", boxes) + box("ipma", associations))
        return box("meta", body + box("idat", grid))
      }
      let start = brand.count + meta(mediaOffset: 0).count + 8
      return brand + meta(mediaOffset: start) + box("mdat", parts.map(\.image).reduce(Data(), +))
    }

    /// The decoder's configuration and the coded bytes of a file with one image.
    private static func parts(
      of file: Data
    ) throws(ImageDecodingError) -> (configuration: Data, image: Data) {
      try file.lendBytes { bytes throws(ImageDecodingError) in
        let items = try ISOItems(bytes.bytes)
        let coded = items.items.values.first { $0.type == ISOItems.code("hvc1") }
        guard let extent = coded?.extents.first,
          let box = items.properties.first(where: { $0.type == ISOItems.code("hvcC") })
        else { throw .truncated }
        return (
          Data(UnsafeRawBufferPointer(rebasing: bytes[box.body])),
          Data(UnsafeRawBufferPointer(rebasing: bytes[extent]))
        )
      }
    }

    private func extents(_ size: PixelSize) -> Data {
      box("ispe", number(0, 4) + number(size.width, 4) + number(size.height, 4))
    }

    private func box(_ name: String, _ body: Data) -> Data {
      number(body.count + 8, 4) + Data(name.utf8) + body
    }

    private func number(_ value: Int, _ byteCount: Int) -> Data {
      Surgery.bigEndian(value, bytes: byteCount)
    }
  }
#endif
