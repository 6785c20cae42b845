#if !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  /// JPEG by libjpeg-turbo, at 1/8, 2/8, 4/8 or 8/8 of the size: the scales at which its transform
  /// is vectorised, so that a smaller result is never the slower one.
  struct JPEGDecoder: ImageDecoder {
    func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
      try data.lendBytes { bytes throws(ImageDecodingError) in
        let reader = try JPEGReader(bytes)
        let segments = JPEGSegments(bytes.bytes)
        return reader.imageHeader(Orientation(exif: bytes.bytes, in: segments.exif))
      }
    }

    func workingByteCount(for header: ImageHeader, minimumSize: PixelSize?) -> Int {
      // Of a decode that goes by its own margins, and of one that does not, the larger.
      workingByteCount(
        for: header,
        eighths: max(
          Self.eighths(of: header.size, for: minimumSize),
          Self.eighths(of: header.size, for: minimumSize, hasMargin: true)))
    }

    private func workingByteCount(for header: ImageHeader, eighths: Int) -> Int {
      PixelLayout.byteCount(
        size: header.size.scaled(toEighths: eighths), format: header.isGray ? .gray8 : .bgrx32
      ).addingClamped(header.wholeImageByteCount).addingClamped(rowBufferByteCount(header.size))
    }

    func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
      try data.lendBytes { bytes throws(ImageDecodingError) in
        try decode(bytes, request).bitmap
      }
    }

    /// - Parameters:
    ///   - turn: The turn that brings the image upright; `nil` for the file's own.
    ///   - isCut: Whether the file ends within its rows.
    private func decode(
      _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest, turned turn: Orientation? = nil,
      profile otherProfile: Data? = nil,
      isCut: Bool = false
    ) throws(ImageDecodingError) -> DecodedPreview {
      let reader = try JPEGReader(bytes)
      let segments = JPEGSegments(bytes.bytes)
      let orientation = turn ?? Orientation(exif: bytes.bytes, in: segments.exif)
      let header = reader.imageHeader(orientation)
      let eighths = Self.eighths(
        of: header.size, for: request.minimumSize, hasMargin: request.hasMargin)
      try request.limits.check(
        header, encodedByteCount: bytes.count,
        workingByteCount: workingByteCount(for: header, eighths: eighths))
      // Gray pixels cannot be transparent.
      if isCut, header.isGray || header.wholeImageByteCount > 0 {
        throw .unsupported("JPEG: top rows of a gray file, or of one with several scans")
      }

      let conversion = try LCMSConversion.shared(
        profile: segments.profile(bytes) ?? otherProfile, kind: reader.kind)
      let showsPart = request.damagedImages == .showPart
      let interpolatesColors = !Self.isMuchReduced(header.size, for: request.minimumSize)
      let scaled = try reader.start(
        eighths: eighths, interpolatesColors: interpolatesColors, showsPart: showsPart,
        memoryLimit: header.wholeImageByteCount + rowBufferByteCount(header.size)
      )
      // Newer libraries read lossless files without scaling them, and need more memory than was
      // declared.
      guard orientation.turning(scaled) == header.size.scaled(toEighths: eighths) else {
        throw .unsupported("JPEG: a file that cannot be decoded at \(eighths)/8 of its size")
      }
      try reader.takeInScans(unless: request.isCancelled)
      let part = try reader.keep(
        isCut ? nil : request.region.map { orientation.storing($0, of: header.size) }, of: scaled,
        eighths: eighths, margin: interpolatesColors ? 2 : 0)
      let isInk = reader.kind == .cmyk
      func readRows(
        _ rows: UnsafeMutablePointer<UInt8>, _ rowBytes: Int, _ count: Int
      ) throws(ImageDecodingError) {
        try reader.read(into: rows, rowBytes: rowBytes, count: count)
        guard isInk else { return }
        for row in 0..<count {
          reader.convertInk(
            rows + row * rowBytes, pixelCount: part.columns.count, conversion,
            to: request.colorSpace)
        }
      }
      let size = orientation.turning(
        PixelSize(width: part.columns.count, height: part.rows.count))
      let stored = orientation.turning(header.size)
      let format: PixelFormat = isCut ? .bgra32 : header.isGray ? .gray8 : .bgrx32
      let topRows = isCut || showsPart ? TopRows(format, endsAtDamage: showsPart) : nil
      var bitmap = try Bitmap.decoding(
        size: size, format: format,
        edges: orientation.edges(
          of: header.size, x: -Double(part.columns.lowerBound), y: -Double(part.rows.lowerBound),
          width: Double(stored.width * eighths) / 8, height: Double(stored.height * eighths) / 8,
          to: size),
        conversion: isInk ? nil : conversion,
        colorSpace: isInk && conversion != nil ? request.colorSpace : .sRGB
      ) { pixels, layout throws(ImageDecodingError) in
        try reader.skip(part.rows.lowerBound, unless: request.isCancelled)
        let target = try UprightRows(pixels, layout: layout, orientation: orientation)
        try target.fill(unless: request.isCancelled) {
          rows, rowBytes, count throws(ImageDecodingError) in
          guard let topRows else { return try readRows(rows, rowBytes, count) }
          // libjpeg itself leaves rows gray, and seldom ends at all.
          try topRows.write(
            rows, rowBytes, count, width: part.columns.count, step: isCut ? 1 : count
          ) { rows, count throws(ImageDecodingError) in try readRows(rows, rowBytes, count) }
        }
      }
      if isCut, let topRows { return try topRows.preview(bitmap, of: scaled.height) }
      func skipRest() throws(ImageDecodingError) {
        try reader.skip(scaled.height - part.rows.upperBound, unless: request.isCancelled)
      }
      guard let topRows else {
        try skipRest()
        return DecodedPreview(bitmap)
      }
      try topRows.readUnlessEnded(0, skipRest)
      bitmap.isDamaged = topRows.hasEnded || reader.isDamaged
      return try topRows.preview(bitmap, of: part.rows.count)
    }

    /// The smallest scale whose result is not below the minimum in either dimension.
    ///
    /// - Parameter hasMargin: Whether the minimum is a size of ``DecodeMargin``. At an eighth of the size each
    ///   pixel is the average of a block; at 2/8 and 4/8 blocks lack frequencies.
    static func eighths(
      of size: PixelSize, for minimumSize: PixelSize?, hasMargin: Bool = false
    ) -> Int {
      guard let minimumSize else { return 8 }
      return [1, 2, 4].first {
        let scaled = size.scaled(toEighths: $0)
        let least =
          !hasMargin
          ? minimumSize
          : $0 == 1
            ? DecodeMargin.averagedSize(for: minimumSize)
            : DecodeMargin.filteredSize(for: minimumSize)
        return scaled.width >= least.width && scaled.height >= least.height
      } ?? 8
    }

    /// Whether the caller will average several pixels into one, which hides the squares of coarsely
    /// stored colours.
    ///
    /// Callers ask for twice the size that they show or more, where the image has it (see
    /// ``DecodeRequest``). A caller that asks for less than the whole image therefore shows at
    /// most half of its size, or of an image that memory is short for a little more.
    static func isMuchReduced(_ size: PixelSize, for minimumSize: PixelSize?) -> Bool {
      guard let minimumSize else { return false }
      return minimumSize.width < size.width && minimumSize.height < size.height
    }
  }

  extension JPEGDecoder: ProgressiveImageDecoder {
    func makePreviewScanner(of byteCount: Int?) -> any PreviewScanner {
      JPEGScanWatch(settles: true, of: byteCount)
    }

    func decodePreview(
      _ bytes: Data, at stage: PreviewStage, _ request: DecodeRequest
    ) throws(ImageDecodingError) -> DecodedPreview {
      switch stage.kind {
      case .frame: try decodeFrame(bytes, request)
      case .rows:
        try bytes.lendBytes { bytes throws(ImageDecodingError) in
          try decode(bytes, request, isCut: true)
        }
      case .embedded:
        try bytes.lendBytes { bytes throws(ImageDecodingError) in
          let thumbnail = try decodeThumbnail(in: bytes, request)
          return DecodedPreview(thumbnail, part: thumbnail.edges.part)
        }
      }
    }

    /// Decodes a file that was cut behind a scan.
    private func decodeFrame(
      _ bytes: Data, _ request: DecodeRequest
    ) throws(ImageDecodingError) -> DecodedPreview {
      var request = request
      var watch = JPEGScanWatch(settles: false)
      _ = watch.receive(bytes)
      if watch.showsMeansOnly {
        // An eighth of the size has all of it. Enlarged by the drawing it is smooth; a larger decode has squares.
        request.minimumSize = PixelSize(width: 1, height: 1)
        request.hasMargin = false
      }
      var preview = try bytes.closedAsJPEG().lendBytes { bytes throws(ImageDecodingError) in
        try decode(bytes, request)
      }
      if watch.showsMeansOnly { preview.part = preview.bitmap.edges.part }
      return preview
    }

    /// Decodes the thumbnail in the head of a file. It takes no more memory than its image would.
    private func decodeThumbnail(
      in bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(ImageDecodingError) -> Bitmap {
      let segments = JPEGSegments(bytes.bytes)
      let metadata = segments.exif
      let orientation = Orientation(exif: bytes.bytes, in: metadata)
      let header = try JPEGReader(bytes).imageHeader(orientation)
      try request.limits.check(header.size)
      guard let place = ExifBlock(bytes.bytes, in: metadata)?.thumbnail(bytes.bytes) else {
        throw .unsupported("JPEG: a file without a thumbnail")
      }
      var request = request
      let wanted = request.minimumSize ?? header.size
      let working = workingByteCount(for: header, minimumSize: wanted)
      // The region is one of the image's. A damaged thumbnail is none.
      (request.minimumSize, request.region) = (nil, nil)
      request.damagedImages = .refuse
      request.limits.workingByteCount = min(request.limits.workingByteCount, working)
      let thumbnail = try decode(
        UnsafeRawBufferPointer(rebasing: bytes[place]), request,
        // A thumbnail without a profile has its image's colours.
        turned: orientation, profile: segments.profile(bytes)
      ).bitmap
      guard let checked = EmbeddedThumbnail.check(thumbnail, of: header.size, wanted: wanted) else {
        throw .unsupported("JPEG: a thumbnail of another image, or too small a one")
      }
      return checked
    }
  }

  extension ImageEdges {
    /// The bitmap's pixels for one of the image's.
    fileprivate var part: Double {
      width * height / Double(fullSize.width) / Double(fullSize.height)
    }
  }

  extension PixelSize {
    /// libjpeg rounds up.
    fileprivate func scaled(toEighths eighths: Int) -> PixelSize {
      guard eighths < 8 else { return self }
      return PixelSize(
        width: (width * eighths).dividedRoundingUp(by: 8),
        height: (height * eighths).dividedRoundingUp(by: 8))
    }
  }

  extension JPEGReader {
    /// Leaves out the columns beside a part of the image, and says which pixels are left.
    ///
    /// - Parameters:
    ///   - region: In pixels of the stored image; `nil` for all of it.
    ///   - scaled: The size of the scaled image, as stored.
    ///   - margin: Pixels on each side of the region, for colours that are interpolated between neighbours.
    /// - Returns: The columns of each row, and the rows to be read, in pixels of the scaled image.
    fileprivate func keep(
      _ region: ImageRegion?, of scaled: PixelSize, eighths: Int, margin: Int
    ) throws(ImageDecodingError) -> ImageRegion {
      guard let region else { return ImageRegion(scaled) }
      func part(_ range: Range<Int>, _ count: Int) -> Range<Int> {
        let first = range.lowerBound * eighths / 8 - margin
        let end = (range.upperBound * eighths).dividedRoundingUp(by: 8) + margin
        return max(0, min(first, count - 1))..<min(max(end, 1), count)
      }
      var kept = ImageRegion(
        columns: part(region.columns, scaled.width), rows: part(region.rows, scaled.height))
      if kept.columns.count < scaled.width { kept.columns = try keepColumns(kept.columns) }
      return kept
    }
  }
#endif
