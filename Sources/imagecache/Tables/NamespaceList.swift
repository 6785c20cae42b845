import CommandSupport
import TableStore

/// The namespaces of a cache's folder, each with what its tables take.
struct NamespaceList {
  private struct Row {
    /// `nil` where no file names it.
    let name: String?
    let folder: String
    let tableCount: Int
    let diskByteCount: Int
  }

  private let rows: [Row]

  init(_ folder: TableFolder) {
    rows = folder.directories.map { directory in
      let tables = folder.tables.filter { $0.directory === directory }
      return Row(
        name: directory.namespace, folder: directory.path, tableCount: tables.count,
        diskByteCount: tables.reduce(0) { $0 + $1.reader.diskByteCount })
    }
  }

  var text: String {
    var lines = TextTable(header: ["namespace", "tables", "on disk", "folder"])
    for row in rows {
      lines.append([
        row.name?.printable ?? "(unknown)", "\(row.tableCount)", row.diskByteCount.byteText,
        row.folder.printable,
      ])
    }
    return lines.text
  }

  var json: JSONValue {
    .object([
      "namespaces": .array(
        rows.map { row in
          .object([
            "namespace": row.name.map { .string($0) } ?? .null, "folder": .string(row.folder),
            "tables": .integer(row.tableCount), "disk_bytes": .integer(row.diskByteCount),
          ])
        })
    ])
  }
}
