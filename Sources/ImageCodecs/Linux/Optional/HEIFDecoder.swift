#if HEIF && !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  /// HEIC by libheif and libde265, on one thread; of several images the primary one.
  ///
  /// The container's crop, rotation and mirroring count, and no EXIF metadata beside them. More than eight bits a
  /// colour become eight.
  struct HEIFDecoder: ImageDecoder {
    /// libde265's tables and contexts.
    private static let fixedByteCount = 3 << 20

    func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
      try data.lendBytes { bytes throws(ImageDecodingError) in
        try HEIFReader(bytes).imageHeader
      }
    }

    func workingByteCount(for header: ImageHeader, minimumSize: PixelSize?) -> Int {
      let factor = RowAverage.factor(of: header.size, for: minimumSize)
      let result = PixelLayout.byteCount(size: header.size.reduced(by: factor), format: .bgra32)
      return max(result, header.temporaryByteCount).addingClamped(header.wholeImageByteCount)
        .addingClamped(rowBufferByteCount(header.size)).addingClamped(Self.fixedByteCount)
    }

    func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
      try data.lendBytes { bytes throws(ImageDecodingError) in
        try decode(bytes, request)
      }
    }

    private func decode(
      _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(ImageDecodingError) -> Bitmap {
      let reader = try HEIFReader(bytes)
      let header = reader.imageHeader
      try request.limits.check(
        header, encodedByteCount: bytes.count,
        workingByteCount: workingByteCount(for: header, minimumSize: request.minimumSize))
      try request.limits.check(reader.codedSize)
      try HEVCSizes(reader.items, reader.planes, announced: reader.codedSize).check(bytes.bytes)
      if request.isCancelled() { throw .cancelled }
      try reader.decode()
      return try Bitmap.averaging(
        header.size, reader.orientation, format: header.hasAlpha ? .bgra32 : .bgrx32,
        conversion: reader.conversion, request
      ) { rows, rowBytes, first, count throws(ImageDecodingError) in
        try reader.write(rows, rowBytes, first, count)
      }
    }
  }

  /// One pass over one HEIF file, whose bytes stay in place for this object's life.
  ///
  /// Invariant: no call follows one that threw.
  final class HEIFReader {
    let items: ISOItems
    let planes: HEIFPlanes
    private let reader: OpaquePointer
    private let header: fic_heif_header

    /// The size before the image is cropped and turned.
    var codedSize: PixelSize {
      PixelSize(width: Int(header.coded_width), height: Int(header.coded_height))
    }

    private var size: PixelSize {
      PixelSize(width: Int(header.width), height: Int(header.height))
    }

    /// Whether libheif crops and turns, for which it takes a second image.
    private var turnsInside: Bool {
      // Some encoders, libheif's among them, announce the upright size for the coded one.
      guard let turn = planes.turn, turn.turning(codedSize) == size || codedSize == size else {
        return true
      }
      // libheif turns the alpha in any case.
      return header.has_alpha && turn != .up
    }

    /// The turn that is left to be done when the image is decoded.
    var orientation: Orientation { turnsInside ? .up : planes.turn ?? .up }

    /// libheif turns what libde265 decodes into planes of red, green and blue, which it keeps; of a grid one cell
    /// after the other. The numbers are bytes for each pixel, which libheif 1.15 was measured to take, and less
    /// than a byte for what it holds beside.
    var imageHeader: ImageHeader {
      let pixelCount = max(size.pixelCount ?? .max, codedSize.pixelCount ?? .max)
      let depth = Double(planes.sampleByteCount)
      let coded = depth * Double(planes.samplesOfPair) / 2
      let kept = depth * (header.has_alpha ? 4 : 3)
      let extra = 0.8125
      // Alpha is decoded by libde265 and copied by libheif when the colours are there.
      let decoding = header.has_alpha ? depth * 3 + 2 * coded : depth * 3 + coded
      var temporary = Self.bytes(pixelCount, decoding + extra - kept)
      if let cell = planes.cellPixelCount, !header.has_alpha {
        temporary = Self.bytes(cell, decoding + extra)
      }
      if turnsInside { temporary = max(temporary, Self.bytes(pixelCount, kept + extra)) }
      var result = ImageHeader(
        size: size, hasAlpha: header.has_alpha,
        wholeImageByteCount: Self.bytes(pixelCount, kept))
      result.temporaryByteCount = temporary
      return result
    }

    /// The bytes of so many pixels, or the largest number there is.
    private static func bytes(_ pixelCount: Int, _ each: Double) -> Int {
      Int(exactly: (Double(pixelCount) * max(each, 0)).rounded(.up)) ?? .max
    }

    var conversion: LCMSConversion? {
      get throws(ImageDecodingError) {
        try LCMSConversion.ofColors(
          profile: header.profile, count: header.profile_count, primaries: header.primaries,
          transfer: header.transfer)
      }
    }

    init(_ bytes: UnsafeRawBufferPointer) throws(ImageDecodingError) {
      guard let start = bytes.start else { throw .truncated }
      guard let reader = fic_heif_reader_create() else { throw .outOfMemory }
      self.reader = reader
      var header = fic_heif_header()
      let status = fic_heif_read_header(reader, start, bytes.count, &header)
      self.header = header
      do throws(ImageDecodingError) {
        try status.check(.heif, fic_heif_reader_message(reader))
        items = try ISOItems(bytes.bytes)
        planes = try HEIFPlanes(items, of: Int(header.item), bytes.bytes)
      } catch {
        // An object without all of its parts has no `deinit`.
        fic_heif_reader_close(reader)
        throw error
      }
    }

    deinit { fic_heif_reader_close(reader) }

    func decode() throws(ImageDecodingError) {
      let side = max(header.coded_width, header.coded_height, header.width, header.height)
      let decoded = orientation.turning(size)
      try check(
        fic_heif_decode(
          reader, side + UInt32(HEIFPlanes.overhang), turnsInside, UInt32(decoded.width),
          UInt32(decoded.height)))
    }

    func write(
      _ rows: UnsafeMutablePointer<UInt8>, _ rowBytes: Int, _ first: Int, _ count: Int
    ) throws(ImageDecodingError) {
      try check(fic_heif_write_rows(reader, rows, rowBytes, UInt32(first), UInt32(count)))
    }

    private func check(_ status: fic_status) throws(ImageDecodingError) {
      try status.check(.heif, fic_heif_reader_message(reader))
    }
  }
#endif
