import CommandSupport
import Foundation
import Locking
import Testing

@Suite("Reporting", .timeLimit(.minutes(10)))
struct ReportingTests {
  @Test("writes JSON that others read back, with members in the order given")
  func json() throws {
    let text = "quote \" backslash \\ line\nbell \u{7} é 🐦"
    let value = JSONValue.object([
      "z": .string(text), "a": .array([.integer(-1), .number(0.021345), .bool(true)]),
      "n": .number(.infinity),
    ])
    let object = try JSONSerialization.jsonObject(with: Data(value.text.utf8))
    let members = try #require(object as? [String: Any])
    #expect(members["z"] as? String == text)
    #expect((members["a"] as? [Any])?[1] as? Double == 0.021345)
    #expect(members["n"] is NSNull)
    #expect(value.text.hasPrefix("{\"z\""))
  }

  @Test("draws a bar on a terminal and leaves the line at the end")
  func bar() {
    let lines = Lock<[String]>([])
    let progress = ProgressLine("warm", total: 4, isTerminal: true) { text in
      lines.withLock { $0.append(text) }
    }
    for done in [0, 1, 1, 4] { progress.update(done) }
    progress.end()
    let written = lines.withLock { $0 }
    #expect(written.count == 4)
    #expect(written[1].contains("1 of 4"))
    #expect(written[2].contains("██████████████████████████████ 4 of 4"))
    #expect(written[3] == "")
  }

  @Test("writes five lines into a pipe, however many steps there are")
  func quiet() {
    let lines = Lock<[String]>([])
    let progress = ProgressLine("warm", total: 1000, isTerminal: false) { text in
      lines.withLock { $0.append(text) }
    }
    for done in 0...1000 { progress.update(done) }
    progress.end()
    #expect(
      lines.withLock { $0 } == [0, 250, 500, 750, 1000].map { "warm: \($0) of 1000" })
  }

  @Test("puts each busy frame into the chart, higher for less work never")
  func chart() {
    let series = FrameChart.Series(
      name: "a", points: [(frame: 1, milliseconds: 0.02), (frame: 2, milliseconds: 20)])
    let svg = FrameChart(series: [series], frameCount: 10).svg
    let heights = svg.matches(of: /cy="([0-9.]+)"/).compactMap { Double($0.output.1) }
    #expect(heights.count == 2)
    #expect(heights.first ?? 0 > heights.last ?? 0)
    #expect(svg.contains("8.3 ms") && svg.contains("16.7 ms"))
  }

  @Test("escapes the text of a page, and refers to no other file")
  func page() {
    var page = HTMLPage(title: "<a & b>")
    page.addParagraph("\"x\" < y")
    page.addStrip("strip", images: [Data([1, 2, 3])], seriesIndex: 0)
    page.addImage("image", Data([1]))
    for name in page.html.matches(of: /class="([a-z]+)"/) {
      #expect(page.html.contains(".\(name.1) "), "\(name.0) has no style.")
    }
    #expect(page.html.contains("&lt;a &amp; b&gt;"))
    #expect(page.html.contains("&quot;x&quot; &lt; y"))
    #expect(page.html.contains("src=\"data:image/png;base64,AQID\""))
    #expect(!page.html.contains("http"))
  }
}
