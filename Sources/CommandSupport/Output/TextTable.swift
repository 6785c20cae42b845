/// Rows of text in columns, the first aligned left and the others right.
package struct TextTable: Sendable {
  private var rows: [[String]]

  package init(header: [String]) { rows = [header] }

  package mutating func append(_ row: [String]) { rows.append(row) }

  package var text: String {
    let columnCount = rows.map(\.count).max() ?? 0
    let widths = (0..<columnCount).map { column in
      rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0
    }
    return rows.map { row in
      row.enumerated().map { column, cell in
        column == 0 ? cell.padded(to: widths[0]) : cell.leftPadded(to: widths[column])
      }.joined(separator: "  ")
    }.joined(separator: "\n")
  }
}
