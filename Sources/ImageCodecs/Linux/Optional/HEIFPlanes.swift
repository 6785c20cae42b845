#if !canImport(ImageIO)
  import Pixels

  /// What the container of a HEIF file says about the planes of one of its images, before any is decoded.
  struct HEIFPlanes {
    /// Cells of a grid may reach over its edges by less than themselves, and codecs round sizes up.
    static let overhang = 512

    /// Samples of two pixels: from 2 for gray to 6 for colours that are stored as finely as brightness. The
    /// most of any image in the file.
    private(set) var samplesOfPair = 2

    /// Bytes of a sample: two for more than eight bits. The most of any image in the file.
    private(set) var sampleByteCount = 1

    /// The most pixels of a cell; `nil` for an image that is no grid.
    let cellPixelCount: Int?

    /// The turn that brings the image upright; `nil` where that is not all that is to be done with it.
    let turn: Orientation?

    /// - Parameter id: The image's item.
    init(_ items: ISOItems, of id: Int, _ bytes: RawSpan) throws(ImageDecodingError) {
      for box in items.properties where box.type == ISOItems.code("hvcC") {
        // ISO/IEC 14496-15, section 8.3.3.1.2.
        guard let chroma = bytes.byte(at: box.body.lowerBound + 16), box.body.count >= 23,
          let brightnessBits = bytes.byte(at: box.body.lowerBound + 17),
          let colorBits = bytes.byte(at: box.body.lowerBound + 18)
        else { throw .damaged("HEIF: a configuration is too short.") }
        samplesOfPair = max(samplesOfPair, Self.samplesOfPair(chroma: Int(chroma & 3)))
        if brightnessBits & 7 > 0 || colorBits & 7 > 0 { sampleByteCount = 2 }
      }
      let item = items.items[id] ?? ISOItems.Item()
      cellPixelCount = items.cellPixelCount(of: item, bytes)
      turn = items.turn(of: item, bytes)
    }

    /// - Parameter chroma: The number of ITU-T H.265, table 6-1.
    static func samplesOfPair(chroma: Int) -> Int { [2, 3, 4, 6][chroma & 3] }
  }

  extension ISOItems {
    /// The most pixels of a grid's cell; `nil` for other images, and where a cell has no size.
    func cellPixelCount(of item: Item, _ bytes: RawSpan) -> Int? {
      guard item.type == Self.code("grid") else { return nil }
      var largest = 0
      for part in item.parts {
        let sizes = (items[part]?.properties ?? []).filter {
          properties.indices.contains($0) && properties[$0].type == Self.code("ispe")
        }
        guard let box = sizes.first.map({ properties[$0] }), sizes.count == 1,
          let width = bytes.bigEndian32(at: box.body.lowerBound + 4),
          let height = bytes.bigEndian32(at: box.body.lowerBound + 8)
        else { return nil }
        largest = max(
          largest,
          (width + HEIFPlanes.overhang).multipliedClamped(by: height + HEIFPlanes.overhang))
      }
      return largest
    }

    /// The turn of an image that is only rotated, and perhaps mirrored afterwards.
    fileprivate func turn(of item: Item, _ bytes: RawSpan) -> Orientation? {
      var (angle, mirroring) = (Int?.none, Int?.none)
      for index in item.properties where properties.indices.contains(index) {
        let box = properties[index]
        let value = bytes.byte(at: box.body.lowerBound).map(Int.init)
        switch box.type {
        case Self.code("irot") where angle == nil && mirroring == nil: angle = value.map { $0 & 3 }
        case Self.code("imir") where mirroring == nil: mirroring = value.map { $0 & 1 }
        case Self.code("irot"), Self.code("imir"), Self.code("clap"): return nil
        default: continue
        }
      }
      guard [Self.code("hvc1"), Self.code("grid")].contains(item.type) else { return nil }
      // Quarter turns against the clock; ISO/IEC 23008-12, sections 6.5.10 and 6.5.12.
      let turns: [Orientation] =
        switch mirroring {
        case 0: [.downMirrored, .leftMirrored, .upMirrored, .rightMirrored]
        case 1: [.upMirrored, .rightMirrored, .downMirrored, .leftMirrored]
        default: [.up, .left, .down, .right]
        }
      return turns[angle ?? 0]
    }
  }
#endif
