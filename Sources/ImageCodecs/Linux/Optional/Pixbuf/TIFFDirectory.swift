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
      case planes = 284
      case tileWidth = 322
      case tileHeight = 323
      case tileOffsets = 324
      case tileByteCounts = 325
      case extraSamples = 338
      case profile = 34675
    }

    /// As many numbers as any entry has but those of strips and tiles.
    private static let numberLimit = 8
    /// libtiff sorts what it knows of tags again for each that it does not know.
    private static let entryLimit = 512

    /// Where the place of the next directory stands.
    let next: Range<Int>

    struct Entry {
      let tag: Int
      let kind: Int
      let place: Range<Int>

      var step: Int { kind == 3 ? 2 : 4 }
      var count: Int { place.count / step }
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
      guard let entry = try entry(tag) else { return nil }
      guard entry.count <= Self.numberLimit else {
        throw .unsupported("TIFF: \(entry.count) numbers of tag \(tag.rawValue)")
      }
      return (0..<entry.count).map { number($0, of: entry, bytes) }
    }

    func entry(_ tag: Tag) throws(ImageDecodingError) -> Entry? {
      let entry = entries.first { $0.tag == tag.rawValue }
      if let kind = entry?.kind, kind != 3, kind != 4 {
        throw .unsupported("TIFF: tag \(tag.rawValue) of kind \(kind)")
      }
      return entry
    }

    func number(_ index: Int, of entry: Entry, _ bytes: RawSpan) -> Int {
      let place = entry.place.lowerBound + index * entry.step
      return (entry.step == 2 ? block.short(place, bytes) : block.long(place, bytes)) ?? 0
    }
  }
#endif
