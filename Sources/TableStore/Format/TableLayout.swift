/// The offsets of everything in a table file, computed without I/O; `Docs/TableFormat.md` has them.
///
/// A slot starts on a page where that is cheap, so that reading one image loads no page of another.
struct TableLayout: Hashable, Sendable {
  /// The largest page of any target, so that one file serves machines of all page sizes.
  static let pageByteCount = 16_384
  static let headerByteCount = 512
  static let recordByteCount = 64
  static let recordsOffset = pageByteCount
  static let maximumPixelByteCount = 1 << 31
  static let maximumFileByteCount = 1 << 44

  let geometry: TableGeometry
  let slotCount: Int
  /// Where the trailer starts within a slot: after the pixels, which are a multiple of 64 bytes.
  let trailerOffset: Int
  let trailerByteCount: Int
  /// Bytes from one slot to the next.
  let stride: Int
  /// Where the first slot starts.
  let slotsOffset: Int

  /// Throws `invalidGeometry` or `invalidCapacity`.
  init(geometry: TableGeometry, capacity: TableCapacity) throws(TableError) {
    guard Self.accepts(geometry) else { throw .invalidGeometry(geometry) }
    let pixels = geometry.pixelByteCount
    let room = Self.trailerByteCount(besides: pixels)
    let stride = Self.stride(pixels: pixels, trailer: room)
    let count: Int
    switch capacity {
    case .slots(let slots): count = slots
    case .bytes(let bytes): count = Self.slotCount(fitting: bytes, stride: stride)
    }
    guard (1...TableCapacity.maximumSlotCount).contains(count) else {
      throw .invalidCapacity(capacity)
    }
    self.geometry = geometry
    slotCount = count
    trailerOffset = pixels
    trailerByteCount = room
    self.stride = stride
    slotsOffset = Self.slotsOffset(slotCount: count)
    guard slotsOffset + slotCount * stride <= Self.maximumFileByteCount else {
      throw .invalidCapacity(capacity)
    }
  }

  /// Bytes of a slot that are written and hashed: pixels and trailer.
  var contentByteCount: Int { trailerOffset + trailerByteCount }

  /// Bytes of the file when every slot is used.
  var fileByteCount: Int { slotsOffset + slotCount * stride }

  func recordOffset(_ slot: Int) -> Int { Self.recordsOffset + slot * Self.recordByteCount }

  func slotOffset(_ slot: Int) -> Int { slotsOffset + slot * stride }

  /// True when slots can be copied from a file of one layout to one of the other.
  func hasSameSlots(as other: TableLayout) -> Bool { geometry == other.geometry }

  /// Bytes of metadata that fit beside any two ids.
  static func metadataByteLimit(besides pixels: Int) -> Int {
    trailerByteCount(besides: pixels) - SlotTrailer.fixedByteCount - 2 * StoredID.hashedByteCount
  }

  // MARK: Private

  /// True when the numbers stay inside the limits of the format, so that no sum of them overflows.
  private static func accepts(_ geometry: TableGeometry) -> Bool {
    let sides = 1...Int(UInt16.max)
    let rows = 64...(1 << 20)
    return sides.contains(geometry.width) && sides.contains(geometry.height)
      && rows.contains(geometry.rowByteCount) && geometry.rowByteCount % 64 == 0
      && geometry.pixelByteCount <= maximumPixelByteCount
  }

  /// Room for ids and metadata: a kilobyte beside most images, less beside tiny ones, never too
  /// little for two hashed ids.
  private static func trailerByteCount(besides pixels: Int) -> Int {
    pixels >= 4096 ? 1024 : roundedUp(max(128, pixels / 4), to: 64)
  }

  private static func stride(pixels: Int, trailer: Int) -> Int {
    let content = pixels + trailer
    for page in [pageByteCount, 4096] {
      let padded = roundedUp(content, to: page)
      if (padded + recordByteCount) * 4 <= pixels * 5 { return padded }
    }
    return content
  }

  /// The largest count whose whole file stays within `bytes`; 0 when not even one slot does.
  private static func slotCount(fitting bytes: Int, stride: Int) -> Int {
    guard bytes > recordsOffset else { return 0 }
    // A budget is an upper bound, so one beyond the limits gives the largest table.
    let room = min(bytes, maximumFileByteCount) - recordsOffset
    var count = min(room / (stride + recordByteCount), TableCapacity.maximumSlotCount)
    // Rounding the records up to a page can cost a few slots more than the division knows.
    while count > 0, slotsOffset(slotCount: count) + count * stride > bytes { count -= 1 }
    return count
  }

  private static func slotsOffset(slotCount: Int) -> Int {
    roundedUp(recordsOffset + slotCount * recordByteCount, to: pageByteCount)
  }

  private static func roundedUp(_ value: Int, to multiple: Int) -> Int {
    (value + multiple - 1) / multiple * multiple
  }
}
