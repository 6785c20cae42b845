import CommandSupport
import FastImageCache
import Foundation

/// The page about a list over a slow line, or its image alone.
struct SlowScrollReport {
  private let result: SlowScrollResult

  init(_ result: SlowScrollResult) { self.result = result }

  /// - Parameter file: Its name ends in `.png` for the image alone.
  /// - Throws: ``CommandFailure`` where the file cannot be written, and the errors of drawing.
  func write(to file: URL) throws {
    // Originals are there before a second is over.
    let strips = StripImage(Array(result.passes.prefix(2)), format: result.plan.format)
    let png = try strips.png()
    if file.pathExtension.lowercased() == "png" {
      try OutputFile.write(png, to: file)
    } else {
      try OutputFile.write(Data(page(strips, png).html.utf8), to: file)
    }
  }

  private func page(_ strips: StripImage, _ png: Data) -> HTMLPage {
    var page = HTMLPage(title: "Scrolling a list over a slow line")
    page.addParagraph(result.title + ".")
    page.addTable(header: SlowScrollResult.tableHeader, rows: result.tableRows)
    page.addList(result.notes)
    let time = strips.interval == 1 ? "each second" : "\(strips.interval) seconds"
    page.addHeading("The images on screen, one strip below the other for \(time)")
    page.addImage(
      "Left without previews, right with them. Gray is nothing. After ten strips there is a gap.",
      png)
    return page
  }
}
