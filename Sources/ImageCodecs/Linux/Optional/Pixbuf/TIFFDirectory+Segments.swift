#if Pixbuf && !canImport(ImageIO)
  import Pixels

  extension TIFFDirectory {
    /// Tiles of one colour may share their bytes, and libtiff reads them for each tile.
    private static var sharingLimit: Int { 16 }

    /// The size of a strip or tile, all of which lie within the file.
    ///
    /// - Parameter planes: In how many planes the samples lie.
    func segment(
      of size: PixelSize, planes: Int, _ bytes: RawSpan
    ) throws(ImageDecodingError) -> PixelSize {
      let isTiled = place(.tileWidth) != nil
      // libtiff keeps the places of strips and tiles in one list, where the later entry counts.
      let others: [Tag] =
        isTiled
        ? [.stripOffsets, .stripByteCounts] : [.tileHeight, .tileOffsets, .tileByteCounts]
      guard others.allSatisfy({ place($0) == nil }) else {
        throw .unsupported("TIFF: both strips and tiles")
      }
      let segment = try segment(of: size, isTiled: isTiled, bytes)
      let across = (size.width + segment.width - 1) / segment.width
      let number = across * ((size.height + segment.height - 1) / segment.height) * planes
      guard let offsets = try entry(isTiled ? .tileOffsets : .stripOffsets),
        let counts = try entry(isTiled ? .tileByteCounts : .stripByteCounts),
        offsets.count == number, counts.count == number
      else { throw .unsupported("TIFF: strips of unknown lengths") }
      // A list of them could take more memory than the pixels.
      var sum = 0
      for index in 0..<number {
        let count = self.number(index, of: counts, bytes)
        guard self.number(index, of: offsets, bytes) + count <= bytes.byteCount else {
          throw .truncated
        }
        sum += count
      }
      guard sum <= Self.sharingLimit * bytes.byteCount else {
        throw .damaged("TIFF: strips that overlap")
      }
      return segment
    }

    private func segment(
      of size: PixelSize, isTiled: Bool, _ bytes: RawSpan
    ) throws(ImageDecodingError) -> PixelSize {
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
