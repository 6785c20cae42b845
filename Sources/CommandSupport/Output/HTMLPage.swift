package import Foundation

/// A page that needs no other file: styles, charts and images are part of it.
package struct HTMLPage: Sendable {
  private let title: String
  private var body: [String] = []

  package init(title: String) { self.title = title }

  package mutating func addHeading(_ text: String) { body.append("<h2>\(Self.escaped(text))</h2>") }

  package mutating func addParagraph(_ text: String) { body.append("<p>\(Self.escaped(text))</p>") }

  package mutating func addList(_ items: [String]) {
    body.append("<ul>" + items.map { "<li>\(Self.escaped($0))</li>" }.joined() + "</ul>")
  }

  /// A table whose rows bear the colours of the chart's series, in their order.
  package mutating func addTable(header: [String], rows: [[String]]) {
    let head = header.map { "<th>\(Self.escaped($0))</th>" }.joined()
    let lines = rows.enumerated().map { index, row in
      "<tr class=\"s\(index)\">" + row.map { "<td>\(Self.escaped($0))</td>" }.joined() + "</tr>"
    }
    body.append(
      """
      <div class="wide"><table><thead><tr>\(head)</tr></thead>
      <tbody>
      \(lines.joined(separator: "\n"))
      </tbody></table></div>
      """)
  }

  package mutating func addChart(_ chart: FrameChart) {
    body.append("<figure class=\"wide\">\(chart.svg)</figure>")
  }

  /// Images side by side, as PNG files within the page.
  package mutating func addStrip(_ caption: String, images files: [Data], seriesIndex: Int) {
    let images = files.map { data in
      "<img alt=\"\" src=\"data:image/png;base64,\(data.base64EncodedString())\">"
    }
    body.append(
      """
      <figure class="strip"><figcaption class="s\(seriesIndex)">\(Self.escaped(caption))</figcaption>
      <div>\(images.joined(separator: "\n"))</div></figure>
      """)
  }

  /// One image, as a PNG file within the page.
  package mutating func addImage(_ caption: String, _ png: Data) {
    body.append(
      """
      <figure class="image"><p>\(Self.escaped(caption))</p>
      <img alt="" src="data:image/png;base64,\(png.base64EncodedString())"></figure>
      """)
  }

  package var html: String {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>\(Self.escaped(title))</title>
    <style>
    \(Self.style)
    </style>
    </head>
    <body>
    <h1>\(Self.escaped(title))</h1>
    \(body.joined(separator: "\n"))
    </body>
    </html>

    """
  }

  package static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;")
  }

  private static let style = """
    :root { color-scheme: light dark; --ink: #1c1f23; --paper: #fff; --line: #d8dce1;
      --s0: #117a4b; --s1: #b86e00; --s2: #b3261e; }
    @media (prefers-color-scheme: dark) {
      :root { --ink: #e7eaee; --paper: #15181c; --line: #3a4048;
        --s0: #4fce8f; --s1: #f0ad4e; --s2: #ff8a80; } }
    body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
      max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
    h1 { font-size: 1.6rem; line-height: 1.2; } h2 { font-size: 1.15rem; margin-top: 2rem; }
    .wide { overflow-x: auto; } figure { margin: 1rem 0; }
    table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
    th, td { text-align: right; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
    th { font-size: .85rem; font-weight: 600; vertical-align: bottom; }
    th:first-child, td:first-child { text-align: left; white-space: nowrap; }
    td:first-child::before, figcaption::before { content: "\\25CF\\00A0"; color: var(--series); }
    svg { width: 100%; min-width: 36rem; font: 12px system-ui, sans-serif; }
    svg text { fill: var(--ink); } svg circle { fill: var(--series); fill-opacity: .75; }
    .grid { stroke: var(--line); } line.budget { stroke: var(--ink); stroke-dasharray: 4 4; }
    .s0 { --series: var(--s0); } .s1 { --series: var(--s1); } .s2 { --series: var(--s2); }
    .strip div { display: flex; gap: 4px; overflow-x: auto; }
    .strip img { height: 96px; border-radius: 3px; }
    .image img { max-width: 100%; }
    """
}
