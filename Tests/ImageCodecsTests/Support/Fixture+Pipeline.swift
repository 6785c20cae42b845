#if !canImport(ImageIO)
  import Foundation

  extension Fixture {
    /// A profile of inks whose only way to colours is a pipeline that names one stage many times; ICC.1:2022,
    /// sections 7, 9.2.18 and 10.16.
    static func pipeline(stageCount: Int) -> Data {
      let last = matrix(4, Array(repeating: Array(repeating: 0.2, count: 4), count: 3))
      return profile(
        "scnrCMYKXYZ ",
        [("wtpt", text("XYZ ") + word(0) + white), ("D2B1", stages(stageCount, 4, last))])
    }

    /// A printer's profile of inks with a table to colours, and with a pipeline for the way back, whose black is a
    /// gray; `nil` for none.
    static func printer(stageCount: Int?) -> Data {
      var tags = [("A2B0", table)]
      if let stageCount {
        let last = matrix(3, Array(repeating: Array(repeating: 0.2, count: 3), count: 4))
        tags.append(("B2D0", stages(stageCount, 3, last)))
      }
      return profile("prtrCMYKLab ", tags)
    }

    /// A profile of inks with a table of which it has nothing but the size, 394 MB; section 10.12.
    static var claim: Data {
      let offsets = [0, 0, 0, 32, 0].flatMap(word)
      let steps = [90, 90, 90, 90] + [UInt8](repeating: 0, count: 12)
      let table = text("mAB ") + word(0) + [4, 3, 0, 0] + offsets + steps + [2, 0, 0, 0]
      return profile("prtrCMYKLab ", [("A2B0", table)])
    }

    /// White, gray and black, from two steps of each ink; section 10.11.
    private static var table: [UInt8] {
      let same = (0..<9).flatMap { fixed($0 % 4 == 0 ? 1 : 0) }
      let curve = (0...255).map { UInt8($0) }
      let colors = (0..<16).flatMap {
        [$0 == 0 ? 255 : $0 % 2 == 0 ? 128 : 0, 128, 128] as [UInt8]
      }
      return text("mft1") + word(0) + [4, 3, 2, 0] + same
        + Array(repeating: curve, count: 4).joined()
        + colors + Array(repeating: curve, count: 3).joined()
    }

    private static let white = fixed(0.9642) + fixed(1) + fixed(0.8249)

    private static func word(_ value: Int) -> [UInt8] {
      (0..<4).map { UInt8(value >> (24 - 8 * $0) & 0xFF) }
    }

    private static func fixed(_ value: Double) -> [UInt8] { word(Int((value * 65536).rounded())) }

    private static func float(_ value: Float) -> [UInt8] { word(Int(value.bitPattern)) }

    private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// A matrix without offsets.
    private static func matrix(_ columnCount: Int, _ rows: [[Float]]) -> [UInt8] {
      text("matf") + word(0) + word(columnCount << 16 | rows.count)
        + rows.joined().flatMap(float) + rows.flatMap { _ in float(0) }
    }

    /// Names a matrix that changes nothing many times, and then the last one.
    private static func stages(_ count: Int, _ inputCount: Int, _ last: [UInt8]) -> [UInt8] {
      let indices = 0..<inputCount
      let same = matrix(inputCount, indices.map { row in indices.map { $0 == row ? 1 : 0 } })
      var pipeline = text("mpet") + word(0) + word(inputCount << 16 | (7 - inputCount))
      pipeline += word(count + 1)
      let begin = pipeline.count + 8 * (count + 1)
      for _ in 0..<count { pipeline += word(begin) + word(same.count) }
      return pipeline + word(begin + same.count) + word(last.count) + same + last
    }

    private static func profile(_ kind: String, _ tags: [(String, [UInt8])]) -> Data {
      var (table, body) = (word(tags.count), [UInt8]())
      for (tag, content) in tags {
        table += text(tag) + word(128 + 4 + 12 * tags.count + body.count) + word(content.count)
        body += content
      }
      var header = word(128 + table.count + body.count) + word(0) + word(0x0430_0000)
      header += text(kind) + [UInt8](repeating: 0, count: 12) + text("acsp")
      header += [UInt8](repeating: 0, count: 24) + word(1) + white
      header += [UInt8](repeating: 0, count: 128 - header.count)
      return Data(header + table + body)
    }
  }
#endif
