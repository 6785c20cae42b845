#if HEIF && !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  /// HEIC by libheif and libde265, on one thread; of several pictures the primary one.
  ///
  /// libheif crops, rotates and mirrors as the container says, and no EXIF metadata counts beside that. More
  /// than eight bits a colour become eight.
  struct HEIFDecoder: ImageDecoder {
    /// libde265's tables and contexts.
    private static let fixedByteCount = 3 << 20

    func recognizes(_ firstBytes: Data) -> Bool {
      EncodedImageType(firstBytes: firstBytes) == .heif
    }

    func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
      try data.lendBytes { bytes throws(ImageDecodingError) in
        try HEIFReader(bytes).imageHeader
      }
    }

    /// The result is made when libheif has given back most of its own memory.
    func workingByteCount(for header: ImageHeader, minimumSize: PixelSize?) -> Int {
      max(
        PixelLayout.byteCount(size: header.size, format: .bgra32), header.wholePictureByteCount
      ).addingClamped(rowBufferByteCount(header.size)).addingClamped(Self.fixedByteCount)
    }

    func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
      try data.lendBytes { bytes throws(ImageDecodingError) in
        let thumbnail = try request.sufficientThumbnail { size throws(ImageDecodingError) in
          try decode(bytes, request, orThumbnail: size)
        }
        if let thumbnail { return thumbnail }
        return try decode(bytes, request)
      }
    }

    /// - Parameter size: The least size of the thumbnail that is decoded instead; `nil` for the picture.
    private func decode(
      _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest, orThumbnail size: PixelSize? = nil
    ) throws(ImageDecodingError) -> Bitmap {
      let reader = try HEIFReader(bytes)
      var header = reader.imageHeader
      try request.limits.check(
        header, encodedByteCount: bytes.count,
        workingByteCount: workingByteCount(for: header, minimumSize: request.minimumSize))
      try request.limits.check(reader.codedSize)
      try HEVCSizes(try ISOItems(bytes.bytes), announced: reader.codedSize).check(bytes.bytes)
      if request.isCancelled() { throw .cancelled }
      let fullSize = header.size
      if let size {
        guard !header.hasAlpha else {
          throw .unsupported("HEIF: a thumbnail of a picture with alpha")
        }
        try reader.takeThumbnail(atLeast: size)
        header = reader.imageHeader
        try request.limits.check(
          header, encodedByteCount: bytes.count,
          workingByteCount: workingByteCount(for: header, minimumSize: nil))
      }
      try reader.decode()
      let bitmap = try Bitmap.decoding(
        size: header.size, format: header.hasAlpha ? .bgra32 : .bgrx32,
        edges: PictureEdges(filling: header.size, fullSize: header.size),
        conversion: reader.conversion
      ) { pixels, layout throws(ImageDecodingError) in
        let target = try UprightRows(pixels, layout: layout, orientation: .up)
        var first = 0
        try target.fill(unless: request.isCancelled) {
          rows, rowBytes, count throws(ImageDecodingError) in
          try reader.write(rows, rowBytes, first, count)
          first += count
        }
      }
      guard let size else { return bitmap }
      guard let checked = EmbeddedThumbnail.check(bitmap, of: fullSize, wanted: size) else {
        throw .unsupported("HEIF: a thumbnail of another picture")
      }
      return checked
    }
  }

  /// One pass over one HEIF file, whose bytes stay in place for this object's life.
  ///
  /// Invariant: no call follows one that threw.
  private final class HEIFReader {
    private let reader: OpaquePointer
    private var header: fic_heif_header

    /// The size before the picture is cropped and turned.
    var codedSize: PixelSize {
      PixelSize(width: Int(header.coded_width), height: Int(header.coded_height))
    }

    /// libheif's conversion holds the picture in several forms at once: for each pixel 9.3 bytes, 11.3 with
    /// alpha, and 12.1 and 17.7 with more than eight bits, as measured with libheif 1.15 at every sampling.
    var imageHeader: ImageHeader {
      let size = PixelSize(width: Int(header.width), height: Int(header.height))
      let bytes =
        header.is_deep ? (header.has_alpha ? 22 : 16) : (header.has_alpha ? 12 : 10)
      let pixelCount = max(size.pixelCount ?? .max, codedSize.pixelCount ?? .max)
      let (whole, overflow) = pixelCount.multipliedReportingOverflow(by: bytes)
      var result = ImageHeader(
        size: size, hasAlpha: header.has_alpha, wholePictureByteCount: overflow ? .max : whole)
      result.isDecodedWhole = true
      return result
    }

    var conversion: LCMSConversion? {
      get throws(ImageDecodingError) {
        try LCMSConversion.ofColors(
          profile: header.profile, count: header.profile_count,
          coded: CodedColors(
            primaries: Int(header.primaries), transfer: Int(header.transfer)))
      }
    }

    init(_ bytes: UnsafeRawBufferPointer) throws(ImageDecodingError) {
      guard let start = bytes.start else { throw .truncated }
      guard let reader = fic_heif_reader_create() else { throw .outOfMemory }
      self.reader = reader
      var header = fic_heif_header()
      let status = fic_heif_read_header(reader, start, bytes.count, &header)
      self.header = header
      try check(status)
    }

    deinit { fic_heif_reader_close(reader) }

    /// Goes on with the smallest thumbnail that is no smaller than that.
    func takeThumbnail(atLeast size: PixelSize) throws(ImageDecodingError) {
      try check(
        fic_heif_take_thumbnail(
          reader, UInt32(clamping: size.width), UInt32(clamping: size.height), &header))
    }

    func decode() throws(ImageDecodingError) {
      let side = max(header.coded_width, header.coded_height, header.width, header.height)
      try check(fic_heif_decode(reader, side + UInt32(HEVCSizes.overhang)))
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
