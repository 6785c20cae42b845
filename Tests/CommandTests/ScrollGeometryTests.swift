import CommandSupport
import Testing

@Suite("The list's geometry", .timeLimit(.minutes(10)))
struct ScrollGeometryTests {
  @Test("brings each row into view once, in order, up to the last")
  func everyRowOnce() {
    for speed in [1, 7, 60, 200, 450] {
      let list = ScrollGeometry(columnCount: 5, rowCount: 40, rowHeight: 200, speed: speed)
      var seen = Array(list.visibleRows(inFrame: 0))
      var last = list.visibleRows(inFrame: 0)
      for frame in 1...list.frameCount {
        let rows = list.visibleRows(inFrame: frame)
        seen += rows.filter { !last.contains($0) }
        last = rows
      }
      #expect(seen == Array(0..<40))
      #expect(last == 28..<40)
    }
  }

  @Test("leaves half of a short list to be scrolled to")
  func short() {
    let list = ScrollGeometry(columnCount: 2, rowCount: 3, rowHeight: 10, speed: 1000)
    #expect(list.visibleRowCount == 1)
    #expect(list.frameCount == 1)
    #expect(list.visibleRows(inFrame: 1) == 2..<3)
    #expect(list.cells(inRows: 2..<3) == 4..<6)
  }
}
