import CommandSupport
import Foundation

/// The page about one measurement.
struct ScrollReport {
  private let page: HTMLPage

  init(_ result: ScrollResult, strips: [[Data]]) {
    var page = HTMLPage(title: "Scrolling a list of photographs three ways")
    page.addParagraph(
      "\(result.title). A frame's work is to obtain each image that came into view, to read all of "
        + "its bytes once, and to let go of those that went out of view. A frame has 16.7 ms at 60 "
        + "frames a second and 8.3 ms at 120, for everything that an app does.")
    page.addTable(header: ScrollResult.tableHeader, rows: result.tableRows)
    page.addList(result.notes)
    page.addHeading("Work of each busy frame")
    page.addChart(
      FrameChart(
        series: result.methods.map(\.series), frameCount: result.plan.geometry.frameCount))
    page.addHeading("The first images of the list, as each method shows them")
    for (index, (method, images)) in zip(result.methods, strips).enumerated() {
      page.addStrip(method.name, images: images, seriesIndex: index)
    }
    page.addHeading("What the table costs")
    page.addParagraph(
      "Decoded images take several times the disk of JPEG files, and from a cold disk they are no "
        + "faster: both wait for it. Where a few small thumbnails are all there is to show, JPEG "
        + "files do not drop frames either; there the gain is work and memory, not smoothness.")
    self.page = page
  }

  /// - Throws: ``CommandFailure`` where the file cannot be written.
  func write(to file: URL) throws(CommandFailure) {
    try OutputFile.write(Data(page.html.utf8), to: file)
  }
}
