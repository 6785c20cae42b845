#if !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  /// The whole passes of an interlaced PNG file that was cut: a grid of the image's pixels.
  ///
  /// Each of the first six passes doubles the grid's pixels; the seventh would make it the image.
  ///
  /// Invariant: the passes and the grid take at most as much memory together as the image, since both have at
  /// most half of its pixels, and the pass that was cut is given back before there is a grid.
  struct PNGPasses {
    /// A pass's first pixel, the distances between its pixels, and those in the grid of all passes up to it.
    private struct Lattice {
      let x, y, across, down: Int
      let gridAcross, gridDown: Int
    }

    // PNG 1.2, section 2.6.
    private static let lattices = [
      Lattice(x: 0, y: 0, across: 8, down: 8, gridAcross: 8, gridDown: 8),
      Lattice(x: 4, y: 0, across: 8, down: 8, gridAcross: 4, gridDown: 8),
      Lattice(x: 0, y: 4, across: 4, down: 8, gridAcross: 4, gridDown: 4),
      Lattice(x: 2, y: 0, across: 4, down: 4, gridAcross: 2, gridDown: 4),
      Lattice(x: 0, y: 2, across: 2, down: 4, gridAcross: 2, gridDown: 2),
      Lattice(x: 1, y: 0, across: 2, down: 2, gridAcross: 1, gridDown: 2),
    ]

    private let reader: PNGReader
    private var passes: [ScratchMemory] = []

    /// Reads until the bytes end.
    init(_ reader: PNGReader, unless isCancelled: () -> Bool) throws(ImageDecodingError) {
      self.reader = reader
      let row = try ScratchMemory(byteCount: reader.size.width * reader.format.bytesPerPixel)
      do throws(ImageDecodingError) {
        for pass in Self.lattices.indices {
          passes.append(try Self.read(pass, reader, row, unless: isCancelled))
        }
      } catch .truncated {
        if passes.isEmpty { throw .truncated }
      }
    }

    private static func read(
      _ pass: Int, _ reader: PNGReader, _ row: ScratchMemory, unless isCancelled: () -> Bool
    ) throws(ImageDecodingError) -> ScratchMemory {
      let size = size(of: pass, reader.size)
      let rowBytes = size.width * reader.format.bytesPerPixel
      let memory = try ScratchMemory(byteCount: rowBytes * size.height)
      guard size.width > 0 else { return memory }
      for y in 0..<size.height {
        if y % UprightRows.stripHeight == 0, isCancelled() { throw .cancelled }
        try reader.readPass(row.start, 0, 1)
        memcpy(memory.start + y * rowBytes, row.start, rowBytes)
      }
      return memory
    }

    private static func size(of pass: Int, _ size: PixelSize) -> PixelSize {
      var (columns, rows) = (UInt32(0), UInt32(0))
      fic_png_pass_size(
        UInt32(size.width), UInt32(size.height), UInt32(pass), &columns, &rows)
      return PixelSize(width: Int(columns), height: Int(rows))
    }

    private var lattice: Lattice { Self.lattices[passes.count - 1] }

    /// The grid's size, as stored.
    var size: PixelSize {
      PixelSize(
        width: reader.size.width.dividedRoundingUp(by: lattice.gridAcross),
        height: reader.size.height.dividedRoundingUp(by: lattice.gridDown))
    }

    /// The part of the image's pixels that the grid has.
    var part: Double { 1 / Double(lattice.gridAcross * lattice.gridDown) }

    /// The image's edges in the upright grid. A pixel of the grid stands for its own middle, not for that of
    /// the block that it is the first pixel of: the image would seem to move from pass to pass.
    func edges(_ orientation: Orientation) -> ImageEdges {
      func edge(_ distance: Int, _ side: Int) -> (start: Double, length: Double) {
        (0.5 - 0.5 / Double(distance), Double(side) / Double(distance))
      }
      let across = edge(lattice.gridAcross, reader.size.width)
      let down = edge(lattice.gridDown, reader.size.height)
      return orientation.edges(
        of: orientation.turning(reader.size), x: across.start, y: down.start,
        width: across.length, height: down.length, to: orientation.turning(size))
    }

    /// Writes rows of the grid, not yet multiplied by alpha.
    func write(
      _ rows: UnsafeMutablePointer<UInt8>, _ rowBytes: Int, from first: Int, count: Int
    ) {
      let pixelBytes = reader.format.bytesPerPixel
      for (index, memory) in passes.enumerated() {
        let (lattice, size) = (Self.lattices[index], Self.size(of: index, reader.size))
        let (x, across) = (
          lattice.x / self.lattice.gridAcross, lattice.across / self.lattice.gridAcross
        )
        let (y, down) = (lattice.y / self.lattice.gridDown, lattice.down / self.lattice.gridDown)
        for row in first..<first + count where row >= y && (row - y) % down == 0 {
          let source = memory.start + (row - y) / down * size.width * pixelBytes
          let target = rows + (row - first) * rowBytes + x * pixelBytes
          for column in 0..<size.width {
            memcpy(target + column * across * pixelBytes, source + column * pixelBytes, pixelBytes)
          }
        }
      }
    }
  }

  extension PNGDecoder: ProgressiveImageDecoder {
    /// Fewer pixels than a quarter of those wanted along a side show too little.
    private static let coarsest = 4

    func makePreviewScanner(of byteCount: Int?) -> any PreviewScanner {
      PNGWatch(of: byteCount)
    }

    func decodePreview(
      _ bytes: Data, at stage: PreviewStage, _ request: DecodeRequest
    ) throws(ImageDecodingError) -> DecodedPreview {
      try bytes.lendBytes { bytes throws(ImageDecodingError) in
        switch stage.kind {
        case .frame: try decodePasses(bytes, request)
        case .rows: try decode(bytes, request, isCut: true)
        case .embedded: throw .unsupported("PNG: a thumbnail")
        }
      }
    }

    private func decodePasses(
      _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(ImageDecodingError) -> DecodedPreview {
      let chunks = try PNGChunks(bytes.bytes)
      let orientation = Orientation(exif: bytes.bytes, in: chunks.exif)
      let header = header(chunks, orientation)
      try request.limits.check(
        header, encodedByteCount: bytes.count,
        workingByteCount: workingByteCount(for: header, minimumSize: request.minimumSize))

      let reader = try PNGReader(bytes, chunks, request.limits, isCut: true)
      guard reader.isInterlaced else { throw .unsupported("PNG: passes of a file without them") }
      let passes = try PNGPasses(reader, unless: request.isCancelled)
      let size = orientation.turning(passes.size)
      let wanted = request.minimumSize ?? header.size
      guard size.width * Self.coarsest >= wanted.width, size.height * Self.coarsest >= wanted.height
      else { throw .truncated }
      let bitmap = try Bitmap.decoding(
        size: size, format: reader.format, edges: passes.edges(orientation),
        conversion: chunks.colors.conversion(profile: reader.profile, kind: reader.profileKind)
      ) { pixels, layout throws(ImageDecodingError) in
        let target = try UprightRows(pixels, layout: layout, orientation: orientation)
        var first = 0
        try target.fill(unless: request.isCancelled) {
          rows, rowBytes, count throws(ImageDecodingError) in
          passes.write(rows, rowBytes, from: first, count: count)
          reader.premultiply(rows, rowBytes, count, width: passes.size.width)
          first += count
        }
      }
      return DecodedPreview(bitmap, part: passes.part)
    }
  }
#endif
