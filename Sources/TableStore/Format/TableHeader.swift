/// The first 512 bytes of a table file, written once: into an empty file, or into a replacement before the rename.
///
/// A header is accepted when it equals the one that this code would write, so no code takes an offset from a
/// file. `Docs/TableFormat.md` has the bytes.
struct TableHeader: Hashable, Sendable {
  static let magic: [UInt8] = Array("FICtable".utf8)
  static let version: UInt32 = 2
  static let maximumNameByteCount = 255

  let layout: TableLayout
  let nonce: UInt64
  /// The readable name of the table, for people who look into the directory.
  let name: String
}

extension TableHeader {
  /// Reads a header; `nil` for anything that this version would not have written.
  init?(reading bytes: [UInt8]) {
    guard bytes.count == TableLayout.headerByteCount else { return nil }
    func small(_ offset: Int) -> UInt32 {
      bytes.withUnsafeBytes { $0.number(at: offset, as: UInt32.self) }
    }
    func large(_ offset: Int) -> UInt64 {
      bytes.withUnsafeBytes { $0.number(at: offset, as: UInt64.self) }
    }
    let geometry = TableGeometry(
      width: Int(small(16)), height: Int(small(20)),
      rowByteCount: Int(truncatingIfNeeded: large(24)), pixelFormat: small(32), revision: small(36))
    let slots = TableCapacity.slots(Int(truncatingIfNeeded: large(72)))
    let nameByteCount = large(104)
    guard nameByteCount <= Self.maximumNameByteCount,
      let name = String(validating: bytes[112...].prefix(Int(nameByteCount)), as: UTF8.self)
    else { return nil }
    guard let layout = try? TableLayout(geometry: geometry, capacity: slots) else { return nil }
    self.init(layout: layout, nonce: large(96), name: name)
    guard bytes == self.bytes else { return nil }
  }

  /// The header as it stands in a file.
  var bytes: [UInt8] {
    let geometry = layout.geometry
    var bytes = Self.magic
    for number in [Self.version, 0x0102_0304, UInt32(geometry.width), UInt32(geometry.height)] {
      bytes.put(number)
    }
    bytes.put(UInt64(geometry.rowByteCount))
    bytes.put(geometry.pixelFormat)
    bytes.put(geometry.revision)
    let sizes = [
      geometry.pixelByteCount, layout.trailerOffset, layout.contentByteCount, layout.stride,
      layout.slotCount, TableLayout.recordsOffset, layout.slotsOffset,
    ]
    for size in sizes { bytes.put(UInt64(size)) }
    bytes.put(nonce)
    bytes.put(UInt64(name.utf8.count))
    bytes += name.utf8
    bytes += repeatElement(0, count: TableLayout.headerByteCount - 8 - bytes.count)
    bytes.put(bytes.withUnsafeBytes { LaneHash.hash($0, seed: LaneHash.keys.0) })
    return bytes
  }
}
