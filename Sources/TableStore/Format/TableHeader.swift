/// The first 512 bytes of a table file, written once before the file gets its name.
///
/// ```
///   0  magic, 8                         56  content bytes of a slot, 8
///   8  version, 4                       64  stride, 8
///  12  byte order mark, 4               72  slot count, 8
///  16  width, 4        20  height, 4    80  offset of the records, 8
///  24  row bytes, 8                     88  offset of the slots, 8
///  32  pixel format, 4  36  revision, 4 96  nonce, 8
///  40  pixel bytes, 8                  104  bytes of the name, 8
///  48  offset of the trailer, 8        112  name, 255 at most, then zeros
///                                      504  hash of the 504 bytes before
/// ```
///
/// A header is accepted when it equals, byte for byte, the one that this code would write for the
/// same geometry, slot count, nonce and name. So no code takes an offset from a file.
struct TableHeader: Hashable, Sendable {
  static let magic: [UInt8] = Array("FICtable".utf8)
  static let version: UInt32 = 2
  static let maximumNameByteCount = 255

  let layout: TableLayout
  let nonce: UInt64
  /// The readable name of the table, for people who look into the directory.
  let name: String

  init(layout: TableLayout, nonce: UInt64, name: String) {
    self.layout = layout
    self.nonce = nonce
    self.name = name
  }

  /// Reads a header; `nil` for anything that this version would not have written.
  init?(reading bytes: [UInt8]) {
    guard bytes.count == TableLayout.headerByteCount else { return nil }
    let fields = HeaderFields(bytes)
    let geometry = TableGeometry(
      width: Int(fields.small(16)), height: Int(fields.small(20)),
      rowByteCount: Int(truncatingIfNeeded: fields.large(24)), pixelFormat: fields.small(32),
      revision: fields.small(36))
    let slots = TableCapacity.slots(Int(truncatingIfNeeded: fields.large(72)))
    let nameByteCount = fields.large(104)
    guard nameByteCount <= Self.maximumNameByteCount,
      let name = String(validating: bytes[112...].prefix(Int(nameByteCount)), as: UTF8.self)
    else { return nil }
    do throws(TableError) {
      layout = try TableLayout(geometry: geometry, capacity: slots)
    } catch {
      return nil
    }
    nonce = fields.large(96)
    self.name = name
    guard bytes == self.bytes else { return nil }
  }

  /// The header as it stands in a file.
  var bytes: [UInt8] {
    var fields = HeaderFields([UInt8](repeating: 0, count: TableLayout.headerByteCount))
    let geometry = layout.geometry
    fields.bytes.replaceSubrange(0..<8, with: Self.magic)
    fields.put(Self.version, at: 8)
    fields.put(UInt32(0x0102_0304), at: 12)
    fields.put(UInt32(geometry.width), at: 16)
    fields.put(UInt32(geometry.height), at: 20)
    fields.put(UInt64(geometry.rowByteCount), at: 24)
    fields.put(geometry.pixelFormat, at: 32)
    fields.put(geometry.revision, at: 36)
    fields.put(UInt64(geometry.pixelByteCount), at: 40)
    fields.put(UInt64(layout.trailerOffset), at: 48)
    fields.put(UInt64(layout.contentByteCount), at: 56)
    fields.put(UInt64(layout.stride), at: 64)
    fields.put(UInt64(layout.slotCount), at: 72)
    fields.put(UInt64(TableLayout.recordsOffset), at: 80)
    fields.put(UInt64(layout.slotsOffset), at: 88)
    fields.put(nonce, at: 96)
    fields.put(UInt64(name.utf8.count), at: 104)
    fields.bytes.replaceSubrange(112..<(112 + name.utf8.count), with: name.utf8)
    let hash = fields.bytes.withUnsafeBytes {
      LaneHash.hash(UnsafeRawBufferPointer(rebasing: $0[..<504]), seed: LaneHash.keys.0)
    }
    fields.put(hash, at: 504)
    return fields.bytes
  }
}

/// Little-endian numbers at fixed offsets.
private struct HeaderFields {
  var bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func small(_ offset: Int) -> UInt32 {
    bytes.withUnsafeBytes {
      UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
  }

  func large(_ offset: Int) -> UInt64 {
    bytes.withUnsafeBytes {
      UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
  }

  mutating func put<Number: FixedWidthInteger>(_ value: Number, at offset: Int) {
    bytes.withUnsafeMutableBytes {
      $0.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Number.self)
    }
  }
}
