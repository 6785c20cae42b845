#if !canImport(ImageIO)
  /// The items of an ISO base media file: still images and their parts (ISO/IEC
  /// 14496-12, section 8.11; ISO/IEC 23008-12).
  ///
  /// Reads boxes of lengths and references only, no image. A file with a box twice that belongs there once is
  /// refused, since its readers differ in which of the two they take.
  struct ISOItems {
    struct Item {
      /// Four characters; 0 where none are given.
      var type = 0
      /// The parts of the item's bytes, in the file.
      var extents: [Range<Int>] = []
      /// The items that it is made of.
      var parts: [Int] = []
      /// Indices of properties, from 0 on.
      var properties: [Int] = []
    }

    struct Box {
      let type: Int
      let body: Range<Int>
    }

    private static let boxLimit = 4096
    private static let itemLimit = 4096
    private static let partLimit = 1 << 16

    private(set) var items: [Int: Item] = [:]
    private(set) var properties: [Box] = []
    private var partCount = 0

    init(_ bytes: RawSpan) throws(ImageDecodingError) {
      let file = try Self.boxes(in: 0..<bytes.byteCount, bytes)
      let meta = try Self.only("meta", of: file, after: 4)
      let boxes = try Self.boxes(in: meta, bytes)
      _ = try Self.only("pitm", of: boxes, after: 0)
      try readTypes(try Self.only("iinf", of: boxes, after: 0), bytes)
      let data = boxes.filter { $0.type == Self.code("idat") }
      guard data.count <= 1 else { throw Self.damaged("several boxes of data") }
      try readPlaces(try Self.only("iloc", of: boxes, after: 0), data.first?.body, bytes)
      let groups = try Self.boxes(in: try Self.only("iprp", of: boxes, after: 0), bytes)
      properties = try Self.boxes(in: try Self.only("ipco", of: groups, after: 0), bytes)
      for group in groups where group.type == Self.code("ipma") {
        try readAssociations(group.body, bytes)
      }
      for box in boxes where box.type == Self.code("iref") { try readReferences(box.body, bytes) }
    }

    static func code(_ name: StaticString) -> Int {
      (0..<4).reduce(0) { $0 << 8 | Int(name.utf8Start[$1]) }
    }

    static func damaged(_ text: String) -> ImageDecodingError {
      .damaged("The container is odd: \(text).")
    }

    /// The boxes that lie one after the other in a range.
    static func boxes(
      in range: Range<Int>, _ bytes: RawSpan
    ) throws(ImageDecodingError) -> [Box] {
      var boxes: [Box] = []
      var offset = range.lowerBound
      while offset + 8 <= range.upperBound {
        guard let short = bytes.bigEndian32(at: offset),
          let type = bytes.bigEndian32(at: offset + 4)
        else { throw .truncated }
        var (start, size) = (offset + 8, short)
        if short == 1 {
          guard let high = bytes.bigEndian32(at: offset + 8),
            let low = bytes.bigEndian32(at: offset + 12), high < 1 << 16
          else { throw damaged("a length") }
          (start, size) = (offset + 16, high << 32 | low)
        } else if short == 0 {
          size = range.upperBound - offset
        }
        guard size >= start - offset else { throw damaged("a length") }
        guard size <= range.upperBound - offset else { throw .truncated }
        boxes.append(Box(type: type, body: start..<offset + size))
        guard boxes.count <= boxLimit else { throw damaged("more than \(boxLimit) boxes") }
        offset += size
      }
      return boxes
    }

    /// The body of the box that has to be there once, without its first bytes.
    private static func only(
      _ name: StaticString, of boxes: [Box], after byteCount: Int
    ) throws(ImageDecodingError) -> Range<Int> {
      let found = boxes.filter { $0.type == code(name) }
      guard found.count == 1, let body = found.first?.body, body.count >= byteCount else {
        throw damaged("\(found.count) boxes \"\(name)\"")
      }
      return body.dropFirst(byteCount)
    }

    private mutating func readTypes(
      _ body: Range<Int>, _ bytes: RawSpan
    ) throws(ImageDecodingError) {
      var reader = ISOBoxReader(bytes, body)
      _ = try reader.number(try reader.version(bytes) == 0 ? 2 : 4, bytes)
      for box in try Self.boxes(in: reader.rest, bytes) where box.type == Self.code("infe") {
        var reader = ISOBoxReader(bytes, box.body)
        let version = try reader.version(bytes)
        guard version >= 2 else { continue }
        let id = try reader.number(version == 2 ? 2 : 4, bytes)
        _ = try reader.number(2, bytes)
        let type = try reader.number(4, bytes)
        guard items[id] == nil, items.count < Self.itemLimit else {
          throw Self.damaged("an item twice, or too many of them")
        }
        items[id] = Item(type: type)
      }
    }

    private mutating func readPlaces(
      _ body: Range<Int>, _ data: Range<Int>?, _ bytes: RawSpan
    ) throws(ImageDecodingError) {
      var reader = ISOBoxReader(bytes, body)
      let version = try reader.version(bytes)
      let widths = try reader.number(2, bytes)
      let (offsetWidth, lengthWidth) = (widths >> 12, widths >> 8 & 15)
      let (baseWidth, indexWidth) = (widths >> 4 & 15, version > 0 ? widths & 15 : 0)
      guard [offsetWidth, lengthWidth, baseWidth, indexWidth].allSatisfy([0, 4, 8].contains) else {
        throw Self.damaged("the width of a number")
      }
      for _ in 0..<(try reader.number(version < 2 ? 2 : 4, bytes)) {
        let id = try reader.number(version < 2 ? 2 : 4, bytes)
        let method = version > 0 ? try reader.number(2, bytes) & 15 : 0
        _ = try reader.number(2, bytes)
        let base = try reader.number(baseWidth, bytes)
        for _ in 0..<(try reader.number(2, bytes)) {
          _ = try reader.number(indexWidth, bytes)
          let offset = try reader.number(offsetWidth, bytes)
          let length = try reader.number(lengthWidth, bytes)
          try countPart()
          let whole = method == 0 ? 0..<bytes.byteCount : method == 1 ? data ?? 0..<0 : 0..<0
          let (sum, overflow) = base.addingReportingOverflow(offset)
          guard !overflow, sum <= whole.count, length <= whole.count - sum else {
            // Of items that no decoder may want.
            items[id]?.extents.append(0..<0)
            continue
          }
          let start = whole.lowerBound + sum
          items[id]?.extents.append(start..<(length == 0 ? whole.upperBound : start + length))
        }
      }
    }

    private mutating func readAssociations(
      _ body: Range<Int>, _ bytes: RawSpan
    ) throws(ImageDecodingError) {
      var reader = ISOBoxReader(bytes, body)
      let flags = try reader.number(4, bytes)
      for _ in 0..<(try reader.number(4, bytes)) {
        let id = try reader.number(flags >> 24 == 0 ? 2 : 4, bytes)
        for _ in 0..<(try reader.number(1, bytes)) {
          try countPart()
          let index =
            flags & 1 == 1
            ? try reader.number(2, bytes) & 0x7FFF : try reader.number(1, bytes) & 0x7F
          // Counted from 1 on; 0 is none.
          if index > 0 { items[id]?.properties.append(index - 1) }
        }
      }
    }

    private mutating func readReferences(
      _ body: Range<Int>, _ bytes: RawSpan
    ) throws(ImageDecodingError) {
      var reader = ISOBoxReader(bytes, body)
      let width = try reader.version(bytes) == 0 ? 2 : 4
      for box in try Self.boxes(in: reader.rest, bytes) {
        var reader = ISOBoxReader(bytes, box.body)
        let from = try reader.number(width, bytes)
        for _ in 0..<(try reader.number(2, bytes)) {
          let to = try reader.number(width, bytes)
          try countPart()
          if box.type == Self.code("dimg") { items[from]?.parts.append(to) }
        }
      }
    }

    private mutating func countPart() throws(ImageDecodingError) {
      partCount += 1
      guard partCount <= Self.partLimit else { throw Self.damaged("too many parts") }
    }
  }

  /// Reads the numbers of one box, one after the other.
  struct ISOBoxReader {
    private(set) var offset: Int
    private let end: Int

    var rest: Range<Int> { offset..<end }

    init(_ bytes: RawSpan, _ body: Range<Int>) {
      (offset, end) = (body.lowerBound, body.upperBound)
    }

    /// The version of a full box, whose flags are passed over.
    mutating func version(_ bytes: RawSpan) throws(ImageDecodingError) -> Int {
      try number(4, bytes) >> 24
    }

    /// The next bytes, which have to be there, without a look at them.
    mutating func skip(_ byteCount: Int) -> Range<Int> {
      precondition(byteCount <= rest.count, "\(byteCount) of \(rest.count) bytes are passed over.")
      defer { offset += byteCount }
      return offset..<offset + byteCount
    }

    /// A number of so many bytes, up to 8; of none, zero.
    mutating func number(_ byteCount: Int, _ bytes: RawSpan) throws(ImageDecodingError) -> Int {
      guard byteCount <= end - offset else { throw ISOItems.damaged("a box that is too short") }
      var value = 0
      for index in 0..<byteCount {
        guard let byte = bytes.byte(at: offset + index) else { throw .truncated }
        guard value < 1 << 54 else { throw ISOItems.damaged("a number") }
        value = value << 8 | Int(byte)
      }
      offset += byteCount
      return value
    }
  }
#endif
