import FastImageCache
import Foundation
import ImageCodecs
import ImageDrawing

/// Pictures that are furthest from their photographs, and charts, as they are drawn from several decodes.
struct FidelityPage {
  /// The size that a picture is decoded for, and whether the decoder goes by margins of its own.
  private struct Rule {
    let name: String
    let request: (_ drawn: PixelSize, _ fullSize: PixelSize) -> DecodeRequest

    /// A rule of today.
    init(_ name: String, _ margin: DecodeMargin) {
      self.name = name
      request = { drawn, fullSize in
        var request = DecodeRequest(minimumSize: margin.minimumSize(for: drawn, of: fullSize))
        request.hasMargin = true
        return request
      }
    }

    /// The rule before decision 0035.
    init(_ name: String, times factor: Int) {
      self.name = name
      request = { drawn, fullSize in
        DecodeRequest(
          minimumSize: PixelSize(
            width: min(drawn.width * factor, fullSize.width),
            height: min(drawn.height * factor, fullSize.height)))
      }
    }
  }

  private static var rules: [Rule] {
    [
      Rule("twice the size (before)", times: 2), Rule("balanced", .balanced),
      Rule("finest", .finest),
    ]
  }
  private static let photographCount = 4
  /// Just above twice the size at 1/4, and 12 megapixels.
  private static let chartSides = [1600, 3000]

  let page: PicturePage

  init(_ record: FidelityRecord, _ effort: Effort) throws {
    var rows = try record.ranking(.balanced).prefix(Self.photographCount).map { part in
      try Self.row(part.name, record.pictures.data(of: part))
    }
    let sides = effort.readsPhotographs ? Self.chartSides : [Self.chartSides[0] / 4]
    for (chart, side) in TestChart.allCases.flatMap({ chart in sides.map { (chart, $0) } }) {
      rows.append(
        try Self.row(
          "\(chart.rawValue), \(side)x\(side)",
          chart.bitmap(side: side).jpegData(quality: 0.9)))
    }
    page = PicturePage(
      title: "Parts of JPEG files at 200 x 200, and their difference from all pixels, times 8",
      columns: ["all pixels"] + Self.rules.map(\.name)
        + Self.rules.map { "\($0.name), difference" },
      rows: rows)
  }

  private static func row(_ name: String, _ data: Data) throws -> PicturePage.Row {
    let size = FidelityRecord.size
    let decoder = try ImageDecoders.standard.decoder(for: data)
    let full = try decoder.decode(data, DecodeRequest())
    let exact = FidelityRecord.reduction(of: full, to: size)
    let drawn = Drawing.aspectFill.minimumSourceSize(source: full.size, slot: size, upTo: false)
    var (pictures, differences): ([PicturePage.Tile], [PicturePage.Tile]) = ([], [])
    for rule in rules {
      let decoded = try decoder.decode(data, rule.request(drawn, full.size))
      let shown = try bitmap { bytes, layout in
        try Drawing.aspectFill.draw(
          decoded, into: bytes, layout: layout, scale: 1, upTo: false, isCancelled: { false })
      }
      let eighths = 8 * decoded.size.width / full.size.width
      let decibels = FidelityRecord.decibels(of: shown, from: exact)
      pictures.append(
        .init(
          bitmap: shown,
          label: "\(eighths)/8, \(String(format: "%.1f", decibels)) dB"))
      differences.append(
        .init(
          bitmap: try picture { number in
            let (row, byte) = number.quotientAndRemainder(dividingBy: 4 * size.width)
            let own = shown.withUnsafeBytes { $0[row * shown.layout.rowBytes + byte] }
            return 128 + 8 * (Double(own) - exact[number])
          }, label: ""))
    }
    let reference = PicturePage.Tile(bitmap: try picture { exact[$0] }, label: "")
    return PicturePage.Row(name: name, tiles: [reference] + pictures + differences)
  }

  /// - Parameter level: Of the number of a byte, without padding of rows.
  private static func picture(_ level: (Int) -> Double) throws -> Bitmap {
    try bitmap { bytes, layout in
      for y in 0..<layout.size.height {
        for x in 0..<layout.size.width * 4 {
          let level = level(y * layout.size.width * 4 + x).rounded()
          bytes[y * layout.rowBytes + x] = UInt8(min(max(level, 0), 255))
        }
      }
    }
  }

  private static func bitmap(
    _ fill: (UnsafeMutableRawBufferPointer, PixelLayout) throws -> Void
  ) throws -> Bitmap {
    let layout = PixelLayout(for: FidelityRecord.size, format: .bgrx32)
    return try Bitmap(layout: layout) { try fill($0, layout) }
  }
}
