#if !canImport(ImageIO)
  import Pixels

  /// Holds the sizes that HEVC images inside of a HEIF file have against the size that the container
  /// announces.
  ///
  /// libde265 takes its memory by the sequence parameter sets of the image's own bytes (ITU-T H.265,
  /// section 7.3.2.2), and libheif looks at them only afterwards. So each of them is read here before.
  struct HEVCSizes {
    private static let sequenceParameterSet = 33

    private let items: ISOItems
    private let planes: HEIFPlanes
    private let pixelLimit: Int

    /// - Parameters:
    ///   - planes: What the container announces.
    ///   - size: The size that it announces, before the image is cropped and turned.
    init(_ items: ISOItems, _ planes: HEIFPlanes, announced size: PixelSize) {
      (self.items, self.planes) = (items, planes)
      pixelLimit = (size.width + HEIFPlanes.overhang) * (size.height + HEIFPlanes.overhang)
    }

    /// Throws for a file whose images or samples are larger than announced, or that libheif would decode by
    /// another library.
    func check(_ bytes: RawSpan) throws(ImageDecodingError) {
      var pixelCounts: [Int: Int] = [:]
      for (id, item) in items.items where item.type == ISOItems.code("hvc1") {
        let count = try codedPixelCount(item, bytes)
        try check(count)
        pixelCounts[id] = count
      }
      for (_, item) in items.items {
        switch item.type {
        case ISOItems.code("grid"):
          try check(try gridPixelCount(item, bytes))
          let cellLimit = items.cellPixelCount(of: item, bytes) ?? .max
          var total = 0
          for part in item.parts {
            guard let count = pixelCounts[part] else { throw Self.nested }
            guard count <= cellLimit else { throw Self.larger }
            total += count
          }
          try check(total)
        case ISOItems.code("iden"):
          // Else an image could be a copy of itself.
          for part in item.parts where items.items[part]?.type == item.type { throw Self.nested }
        case ISOItems.code("iovl"), ISOItems.code("av01"), ISOItems.code("vvc1"),
          ISOItems.code("j2k1"), ISOItems.code("unci"):
          throw .unsupported("HEIF: images of another kind than HEVC, and overlays")
        default: continue
        }
      }
    }

    private static let nested =
      ImageDecodingError.unsupported("HEIF: images that are made of each other")

    private static let larger =
      ImageDecodingError.damaged("HEIF: an image inside has more pixels than the file announces.")

    private func check(_ pixelCount: Int) throws(ImageDecodingError) {
      guard pixelCount <= pixelLimit else { throw Self.larger }
    }

    /// ISO/IEC 23008-12, section 6.6.2.3.2.
    private func gridPixelCount(
      _ item: ISOItems.Item, _ bytes: RawSpan
    ) throws(ImageDecodingError) -> Int {
      guard item.extents.count == 1, let extent = item.extents.first else {
        throw .damaged("HEIF: a grid in several pieces")
      }
      var reader = ISOBoxReader(bytes, extent)
      let width = try reader.number(2, bytes) & 1 == 0 ? 2 : 4
      let cells = (try reader.number(1, bytes) + 1) * (try reader.number(1, bytes) + 1)
      guard cells == item.parts.count else { throw .damaged("HEIF: cells of a grid are missing.") }
      let (columns, rows) = (try reader.number(width, bytes), try reader.number(width, bytes))
      return columns.multipliedClamped(by: rows)
    }

    /// The most pixels of any parameter set that a decoder of the item may meet: in its properties, and among
    /// the image's own units, each of which has its length in four bytes before it.
    private func codedPixelCount(
      _ item: ISOItems.Item, _ bytes: RawSpan
    ) throws(ImageDecodingError) -> Int {
      var largest = 0
      for index in item.properties where index < items.properties.count {
        let box = items.properties[index]
        guard box.type == ISOItems.code("hvcC") else { continue }
        largest = max(largest, try configuredPixelCount(box.body, bytes))
      }
      guard item.extents.count == 1, let extent = item.extents.first else {
        throw .unsupported("HEIF: an image in several pieces")
      }
      var reader = ISOBoxReader(bytes, extent)
      while reader.rest.count >= 4 {
        let length = try reader.number(4, bytes)
        guard length <= reader.rest.count else { throw .truncated }
        largest = max(largest, try pixelCount(reader.skip(length), bytes))
      }
      return largest
    }

    /// ISO/IEC 14496-15, section 8.3.2.1.2.
    private func configuredPixelCount(
      _ body: Range<Int>, _ bytes: RawSpan
    ) throws(ImageDecodingError) -> Int {
      var reader = ISOBoxReader(bytes, body)
      guard reader.rest.count >= 23 else { throw .damaged("HEIF: a configuration is too short.") }
      _ = reader.skip(22)
      var largest = 0
      for _ in 0..<(try reader.number(1, bytes)) {
        _ = try reader.number(1, bytes)
        for _ in 0..<(try reader.number(2, bytes)) {
          let length = try reader.number(2, bytes)
          guard length <= reader.rest.count else {
            throw .damaged("HEIF: a configuration is too short.")
          }
          largest = max(largest, try pixelCount(reader.skip(length), bytes))
        }
      }
      return largest
    }

    /// The pixels of one unit, if it is a sequence parameter set.
    private func pixelCount(
      _ unit: Range<Int>, _ bytes: RawSpan
    ) throws(ImageDecodingError) -> Int {
      guard let first = bytes.byte(at: unit.lowerBound), unit.count > 2,
        Int(first >> 1 & 63) == Self.sequenceParameterSet
      else { return 0 }
      var bits = HEVCBits(bytes, unit.dropFirst(2))
      _ = bits.number(4)
      let layerCount = bits.number(3)
      _ = bits.number(1)
      bits.skipProfile(layerCount: layerCount)
      _ = bits.exponential()
      let chroma = bits.exponential()
      if chroma == 3 { _ = bits.number(1) }
      let (width, height) = (bits.exponential(), bits.exponential())
      if bits.number(1) == 1 { for _ in 0..<4 { _ = bits.exponential() } }
      let isDeep = bits.exponential() > 0 || bits.exponential() > 0
      guard !bits.isPastEnd else { throw .damaged("HEIF: a parameter set is too short.") }
      guard HEIFPlanes.samplesOfPair(chroma: chroma) <= planes.samplesOfPair,
        !isDeep || planes.sampleByteCount == 2
      else { throw .damaged("HEIF: an image inside has other samples than the file announces.") }
      return width.multipliedClamped(by: height)
    }
  }

  /// The bits of one unit of HEVC, without the bytes that keep start codes apart (ITU-T H.265, section
  /// 7.3.1.1). Past the end all bits are zero.
  private struct HEVCBits {
    /// The parameters up to the size take far fewer.
    private static let byteLimit = 512

    private let bytes: [UInt8]
    private var position = 0

    var isPastEnd: Bool { position > bytes.count * 8 }

    init(_ bytes: RawSpan, _ unit: Range<Int>) {
      var result: [UInt8] = []
      var zeroCount = 0
      for offset in unit.prefix(Self.byteLimit) {
        guard let byte = bytes.byte(at: offset) else { break }
        if zeroCount >= 2, byte == 3 {
          zeroCount = 0
          continue
        }
        zeroCount = byte == 0 ? zeroCount + 1 : 0
        result.append(byte)
      }
      self.bytes = result
    }

    /// A number of so many bits, at most 32.
    mutating func number(_ bitCount: Int) -> Int {
      (0..<bitCount).reduce(0) { value, _ in value << 1 | bit() }
    }

    /// A number in the code of section 9.2.
    mutating func exponential() -> Int {
      var zeroCount = 0
      while zeroCount < 32, !isPastEnd, bit() == 0 { zeroCount += 1 }
      return 1 << zeroCount - 1 + number(zeroCount)
    }

    /// Passes over profile, tier and level; section 7.3.3.
    mutating func skipProfile(layerCount: Int) {
      position += 96
      guard layerCount > 0 else { return }
      let isPresent = (0..<8).map { _ in (profile: bit() == 1, level: bit() == 1) }
      for layer in isPresent.prefix(layerCount) {
        position += (layer.profile ? 88 : 0) + (layer.level ? 8 : 0)
      }
    }

    private mutating func bit() -> Int {
      defer { position += 1 }
      guard position >> 3 < bytes.count else { return 0 }
      return Int(bytes[position >> 3] >> (7 - UInt8(position & 7)) & 1)
    }
  }
#endif
