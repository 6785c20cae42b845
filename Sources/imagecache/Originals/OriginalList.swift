import CommandSupport
import FastImageCache
import Foundation
import OriginalStore
import TableStore

/// The originals and partials of one store that pass a filter, as text and as JSON.
struct OriginalList {
  private struct Original {
    let id: TableID
    let facts: OriginalFacts
    let contentByteCount: Int
    /// Microseconds since 1970.
    let lastUse: Int64
  }

  private let store: OriginalFolders.Store
  /// The one used last first.
  private var originals: [Original] = []
  private var partials: [SurveyedPartial] = []
  private var diskByteCount = 0
  private var count = (originals: 0, partials: 0)

  /// Reads and proves every file.
  init(_ store: OriginalFolders.Store, _ filter: PictureFilter) throws {
    self.store = store
    let records = Dictionary(
      try store.folder.readIndex().map(\.record).filter { !$0.flags.contains(.partial) }
        .map { ($0.key, $0) },
      uniquingKeysWith: { $1 })
    try store.folder.survey { file in
      try Task.checkCancellation()
      switch file {
      case .original(let digest, let original):
        diskByteCount += original.byteCount
        count.originals += 1
        guard filter.passes([original.id, original.facts.entity], original.facts) else { return }
        // Another file's record says nothing of this one.
        let record = records[digest].flatMap { $0.contentHash == original.contentHash ? $0 : nil }
        originals.append(
          Original(
            id: original.id, facts: original.facts,
            contentByteCount: original.content.count,
            lastUse: record?.lastUse ?? original.facts.stored * 1_000_000))
      case .partial(_, let partial):
        diskByteCount += partial.byteCount
        count.partials += 1
        if filter.passes([partial.id, partial.facts.entity], partial.facts) {
          partials.append(partial)
        }
      case .damaged: return
      }
    }
    originals.sort { ($0.lastUse, "\($0.id)") > ($1.lastUse, "\($1.id)") }
  }

  var text: String {
    let listed = originals.count + partials.count
    let title =
      "\(store.title): \(count.originals.counted("original"))"
      + (count.partials > 0 ? ", \(count.partials.counted("partial"))" : "")
      + ", \(diskByteCount.byteText) on disk"
      + (listed < count.originals + count.partials ? ", \(listed) listed" : "")
    guard listed > 0 else { return title }
    var lines = TextTable(header: ["  original", "bytes", "size", "stored", "used"])
    for original in originals {
      lines.append([
        "  \(original.id)".printable, original.contentByteCount.byteText,
        "\(original.facts.width)x\(original.facts.height)",
        Self.time(original.facts.stored), Self.time(original.lastUse / 1_000_000),
      ])
    }
    for partial in partials {
      let total = partial.total.map { " of \($0.byteText)" } ?? ""
      lines.append([
        "  \(partial.id)".printable, partial.contentByteCount.byteText + total,
        "partial", Self.time(partial.facts.stored),
      ])
    }
    return title + "\n" + lines.text
  }

  var json: JSONValue {
    .object([
      "name": .string(store.name), "folder": .string(store.folder.path),
      "disk_bytes": .integer(diskByteCount),
      "originals": .array(
        originals.map { original in
          .object([
            "id": .string("\(original.id)"), "entity": .string("\(original.facts.entity)"),
            "bytes": .integer(original.contentByteCount),
            "width": .integer(Int(original.facts.width)),
            "height": .integer(Int(original.facts.height)),
            "stored": .string(Self.time(original.facts.stored)),
            "used": .string(Self.time(original.lastUse / 1_000_000)),
          ])
        }),
      "partials": .array(
        partials.map { partial in
          .object([
            "id": .string("\(partial.id)"),
            "bytes": .integer(partial.contentByteCount),
            "total_bytes": partial.total.map { .integer($0) } ?? .null,
            "stored": .string(Self.time(partial.facts.stored)),
          ])
        }),
    ])
  }

  private static func time(_ seconds: Int64) -> String {
    Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
  }
}

extension Int {
  /// `1 original`, `2 originals`.
  func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
