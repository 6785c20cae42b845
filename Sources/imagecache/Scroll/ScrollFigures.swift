import CommandSupport

/// The figures of a measurement, as text, as JSON and as the beginning of a page.
protocol ScrollFigures {
  var title: String { get }
  var tableHeader: [String] { get }
  var tableRows: [[String]] { get }
  /// The circumstances of the measurement, without which the figures say little.
  var notes: [String] { get }
  var json: JSONValue { get }
}

extension ScrollFigures {
  var text: String {
    var table = TextTable(header: tableHeader)
    for row in tableRows { table.append(row) }
    return ([title, "", table.text, ""] + notes).joined(separator: "\n")
  }

  func page(_ heading: String, _ paragraph: String) -> HTMLPage {
    var page = HTMLPage(title: heading)
    page.addParagraph(paragraph)
    page.addTable(header: tableHeader, rows: tableRows)
    page.addList(notes)
    return page
  }
}
