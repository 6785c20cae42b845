#if !canImport(ImageIO)
  import Foundation

  extension Fixture {
    /// A profile of inks whose only way to colours is a pipeline that names one stage many times; ICC.1:2022,
    /// sections 7, 9.2.18 and 10.16.
    static func pipeline(stageCount: Int) -> Data {
      func word(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * $0) & 0xFF) } }
      func fixed(_ value: Double) -> [UInt8] { word(Int((value * 65536).rounded())) }
      func float(_ value: Float) -> [UInt8] { word(Int(value.bitPattern)) }
      func text(_ text: String) -> [UInt8] { Array(text.utf8) }
      /// A matrix without offsets.
      func matrix(_ columnCount: Int, _ rows: [[Float]]) -> [UInt8] {
        text("matf") + word(0) + word(columnCount << 16 | rows.count)
          + rows.joined().flatMap(float) + rows.flatMap { _ in float(0) }
      }
      let same = matrix(4, (0..<4).map { row in (0..<4).map { $0 == row ? 1 : 0 } })
      let last = matrix(4, Array(repeating: Array(repeating: 0.2, count: 4), count: 3))
      var pipeline = text("mpet") + word(0) + word(4 << 16 | 3) + word(stageCount + 1)
      let begin = pipeline.count + 8 * (stageCount + 1)
      for _ in 0..<stageCount { pipeline += word(begin) + word(same.count) }
      pipeline += word(begin + same.count) + word(last.count) + same + last
      let white = fixed(0.9642) + fixed(1) + fixed(0.8249)
      var (table, body) = (word(2), [UInt8]())
      for (tag, content) in [("wtpt", text("XYZ ") + word(0) + white), ("D2B1", pipeline)] {
        table += text(tag) + word(128 + 4 + 24 + body.count) + word(content.count)
        body += content
      }
      var header = word(128 + table.count + body.count) + word(0) + word(0x0430_0000)
      header += text("scnrCMYKXYZ ") + [UInt8](repeating: 0, count: 12) + text("acsp")
      header += [UInt8](repeating: 0, count: 24) + word(1) + white
      header += [UInt8](repeating: 0, count: 128 - header.count)
      return Data(header + table + body)
    }
  }
#endif
