import ImageSources
import TableStore

/// The tables of one cache; fixed from its creation on, so that a hit reaches them from any thread.
///
/// `@unchecked Sendable` is safe: nothing changes after the initialiser, and `all` keeps the objects
/// alive that `rows` points to.
final class TableSet: @unchecked Sendable {
  /// What a hit needs of a table. Reading it retains nothing: every hit of every thread would write
  /// the table's reference count.
  struct Row {
    let format: Unmanaged<ImageFormat.Fields>
    let table: Unmanaged<ImageTable>
    let store: Unmanaged<Table>?
    let pixelFormat: PixelFormat
    let scale: Double
  }

  let all: [ImageTable]
  private let rows: UnsafeMutableBufferPointer<Row>

  init(_ tables: [ImageTable]) {
    all = tables
    rows = .allocate(capacity: tables.count)
    _ = rows.initialize(from: tables.lazy.map(\.row))
  }

  deinit { rows.deallocate() }

  /// The image of an entity's version, if the format's table has it.
  @inline(__always)
  func cachedImage(entity: ImageID, version: ImageID, format: ImageFormat) -> CachedImage? {
    guard let row = row(of: format), let store = row.store,
      let entry = store._withUnsafeGuaranteedRef({
        $0.entry(entity: entity.tableID, version: version.tableID)
      })
    else { return nil }
    return CachedImage(entry: entry, pixelFormat: row.pixelFormat, scale: row.scale)
  }

  /// The same for an image that was verified before; reads no file and takes no lock.
  @inline(__always)
  func verifiedImage(entity: ImageID, version: ImageID, format: ImageFormat) -> CachedImage? {
    guard let row = row(of: format), let store = row.store,
      let entry = store._withUnsafeGuaranteedRef({
        $0.verifiedEntry(entity: entity.tableID, version: version.tableID)
      })
    else { return nil }
    return CachedImage(entry: entry, pixelFormat: row.pixelFormat, scale: row.scale)
  }

  /// The table of a format; `nil` for a format that the cache was not made with.
  subscript(format: ImageFormat) -> ImageTable? {
    row(of: format)?.table.takeUnretainedValue()
  }

  /// The tables whose formats belong to a family.
  func family(_ name: String) -> [ImageTable] { all.filter { $0.format.family == name } }

  /// Searches from the front: caches have a handful of formats, and comparing a handful of addresses
  /// costs less than hashing one.
  @inline(__always)
  private func row(of format: ImageFormat) -> Row? {
    let wanted = Unmanaged.passUnretained(format.fields).toOpaque()
    // By index, since iterating allocates in debug builds, and a hit must not.
    var index = 0
    while index < rows.count {
      if rows[index].format.toOpaque() == wanted { return rows[index] }
      index += 1
    }
    return equalRow(of: format)
  }

  /// Finds a format whose value was made a second time.
  @inline(never)
  private func equalRow(of format: ImageFormat) -> Row? {
    rows.first { $0.format.takeUnretainedValue().values == format.fields.values }
  }
}
