import CommandSupport
import FastImageCache
import Foundation

/// The originals and partials of one store that pass a filter, as text and as JSON.
struct OriginalList {
  private let store: OriginalFolders.Store
  /// The one used last first.
  private let originals: [Original]
  private let partials: [Original]
  private let diskByteCount: Int
  private let count: (originals: Int, partials: Int)

  init(_ store: OriginalFolders.Store, _ filter: ImageFilter) async throws {
    self.store = store
    let all = try await store.store.inspect()
    diskByteCount = all.reduce(0) { $0 + $1.arrivedByteCount }
    count.partials = all.count { $0.isUnfinished }
    count.originals = all.count - count.partials
    let passing = all.filter(filter.passes)
      .sorted { ($0.lastUse, "\($0.id)") > ($1.lastUse, "\($1.id)") }
    originals = passing.filter { !$0.isUnfinished }
    partials = passing.filter(\.isUnfinished)
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
        "  \(original.id)".printable, original.byteCount.byteText,
        "\(original.size?.width ?? 0)x\(original.size?.height ?? 0)",
        original.stored.formatted(.iso8601), original.lastUse.formatted(.iso8601),
      ])
    }
    for partial in partials {
      lines.append([
        "  \(partial.id)".printable,
        "\(partial.arrivedByteCount.byteText) of \(partial.byteCount.byteText)",
        "partial", partial.stored.formatted(.iso8601),
      ])
    }
    return title + "\n" + lines.text
  }

  var json: JSONValue {
    .object([
      "name": .string(store.name),
      "folder": .string(store.store.directory.path(percentEncoded: false)),
      "disk_bytes": .integer(diskByteCount),
      "originals": .array(
        originals.map { original in
          .object([
            "id": .string("\(original.id)"), "entity": .string("\(original.entity)"),
            "bytes": .integer(original.byteCount),
            "width": .integer(original.size?.width ?? 0),
            "height": .integer(original.size?.height ?? 0),
            "stored": .string(original.stored.formatted(.iso8601)),
            "used": .string(original.lastUse.formatted(.iso8601)),
          ])
        }),
      "partials": .array(
        partials.map { partial in
          .object([
            "id": .string("\(partial.id)"), "bytes": .integer(partial.arrivedByteCount),
            "total_bytes": .integer(partial.byteCount),
            "stored": .string(partial.stored.formatted(.iso8601)),
          ])
        }),
    ])
  }
}

extension Int {
  /// `1 original`, `2 originals`.
  func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
