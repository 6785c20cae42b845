#if Pixbuf && !canImport(ImageIO)
  import Pixels

  /// The first directory of a TIFF file, of which no entry points behind the file's end.
  struct TIFFDirectory {
    enum Tag: Int {
      case width = 256
      case height = 257
      case depth = 258
      case compression = 259
      case photometric = 262
      case stripOffsets = 273
      case orientation = 274
      case samples = 277
      case rowsPerStrip = 278
      case stripByteCounts = 279
      case tileWidth = 322
      case tileHeight = 323
      case tileOffsets = 324
      case tileByteCounts = 325
      case profile = 34675
    }

    /// libtiff sorts what it knows of tags again for each that it does not know.
    private static let entryLimit = 512
    /// Tiles of one colour may share their bytes, and libtiff reads them for each tile.
    private static let sharingLimit = 16

    /// Where the place of the next directory stands.
    let next: Range<Int>

    private struct Entry {
      let tag: Int
      let kind: Int
      let place: Range<Int>
    }

    /// What the values take that entries point to.
    private(set) var byteCount = 0

    private let block: ExifBlock
    private var entries: [Entry] = []

    init(_ bytes: RawSpan) throws(ImageDecodingError) {
      guard let block = ExifBlock(bytes, in: 0..<bytes.byteCount),
        let start = block.firstDirectory(bytes), let count = block.short(start, bytes)
      else { throw .truncated }
      guard count <= Self.entryLimit else { throw .unsupported("TIFF: \(count) entries") }
      self.block = block
      next = start + 2 + 12 * count..<start + 6 + 12 * count
      guard next.upperBound <= bytes.byteCount else { throw .truncated }
      for index in 0..<count {
        let entry = start + 2 + 12 * index
        guard let tag = block.short(entry, bytes), let kind = block.short(entry + 2, bytes),
          let count = block.long(entry + 4, bytes), let offset = block.long(entry + 8, bytes)
        else { throw .truncated }
        let size = count * Self.byteCount(of: kind)
        let first = size <= 4 ? entry + 8 : offset
        guard first + size <= bytes.byteCount else { throw .truncated }
        byteCount += size
        entries.append(Entry(tag: tag, kind: kind, place: first..<first + size))
      }
      guard byteCount <= bytes.byteCount else {
        throw .damaged("TIFF: \(byteCount) bytes of entries in \(bytes.byteCount)")
      }
    }

    /// TIFF 6.0, section 2.
    private static func byteCount(of kind: Int) -> Int {
      switch kind {
      case 1, 2, 6, 7: 1
      case 3, 8: 2
      case 4, 9, 11, 13: 4
      default: 8
      }
    }

    /// The place of a value; of several entries with this tag that of the first, as libtiff has it.
    func place(_ tag: Tag) -> Range<Int>? { entries.first { $0.tag == tag.rawValue }?.place }

    func numbers(_ tag: Tag, _ bytes: RawSpan) throws(ImageDecodingError) -> [Int]? {
      guard let entry = entries.first(where: { $0.tag == tag.rawValue }) else { return nil }
      let step = entry.kind == 3 ? 2 : 4
      guard entry.kind == 3 || entry.kind == 4 else {
        throw .unsupported("TIFF: tag \(tag.rawValue) of kind \(entry.kind)")
      }
      return stride(from: entry.place.lowerBound, to: entry.place.upperBound, by: step)
        .compactMap { step == 2 ? block.short($0, bytes) : block.long($0, bytes) }
    }

    /// The size of a strip or tile, all of which lie within the file.
    func segment(of size: PixelSize, _ bytes: RawSpan) throws(ImageDecodingError) -> PixelSize {
      let isTiled = place(.tileWidth) != nil
      guard let offsets = try numbers(isTiled ? .tileOffsets : .stripOffsets, bytes),
        let counts = try numbers(isTiled ? .tileByteCounts : .stripByteCounts, bytes),
        offsets.count == counts.count
      else { throw .unsupported("TIFF: strips of unknown lengths") }
      for (offset, count) in zip(offsets, counts) where offset + count > bytes.byteCount {
        throw .truncated
      }
      guard counts.reduce(0, +) <= Self.sharingLimit * bytes.byteCount else {
        throw .damaged("TIFF: strips that overlap")
      }
      guard isTiled else {
        let rows = try numbers(.rowsPerStrip, bytes)?.first ?? size.height
        return PixelSize(width: size.width, height: max(1, min(rows, size.height)))
      }
      let tile = PixelSize(
        width: try numbers(.tileWidth, bytes)?.first ?? 0,
        height: try numbers(.tileHeight, bytes)?.first ?? 0)
      // A list of smaller ones could take more memory than the pixels.
      guard tile.isPositive, tile.width % 16 == 0, tile.height % 16 == 0 else {
        throw .damaged("TIFF: tiles of \(tile) pixels")
      }
      return tile
    }
  }
#endif
