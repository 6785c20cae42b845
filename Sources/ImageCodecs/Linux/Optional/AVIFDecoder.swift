#if AVIF && !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  /// AVIF by libavif and dav1d, on one thread; of an animation the first frame.
  ///
  /// The container's crop, rotation and mirroring count, and no EXIF metadata beside them (MIAF, ISO/IEC
  /// 23000-22, section 7.3.9). Ten and twelve bits a colour become eight.
  struct AVIFDecoder: ImageDecoder {
    /// dav1d's tables and contexts, measured at 1.6 MB for the smallest images.
    private static let fixedByteCount = 3 << 20

    func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
      try data.lendBytes { bytes throws(ImageDecodingError) in try AVIFReader(bytes).imageHeader }
    }

    func workingByteCount(for header: ImageHeader, minimumSize: PixelSize?) -> Int {
      let factor = RowAverage.factor(of: header.size, for: minimumSize)
      return PixelLayout.byteCount(size: header.size.reduced(by: factor), format: .bgra32)
        .addingClamped(header.wholeImageByteCount)
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
      let announced = try AVIFReader(bytes)
      try request.limits.check(
        announced.imageHeader, encodedByteCount: bytes.count,
        workingByteCount: workingByteCount(
          for: announced.imageHeader, minimumSize: request.minimumSize))
      // Again, with the size that was announced as dav1d's limit.
      let reader = try AVIFReader(bytes, pixelLimit: announced.largestPixelCount)
      return try reader.decode(request)
    }
  }

  /// One pass over one AVIF file, whose bytes stay in place for this object's life.
  ///
  /// Invariant: no call follows one that threw.
  final class AVIFReader {
    /// Cells of a grid may reach over its edges by less than themselves.
    private static let overhang = 512

    let orientation: Orientation
    private let reader: OpaquePointer
    private(set) var header: fic_avif_header

    var imageHeader: ImageHeader {
      let size = PixelSize(width: Int(header.width), height: Int(header.height))
      return ImageHeader(
        size: orientation.turning(size), hasAlpha: header.has_alpha,
        wholeImageByteCount: Int(clamping: header.working_bytes))
    }

    var largestPixelCount: UInt64 {
      header.decoded_pixels + UInt64(Self.overhang) * UInt64(header.width)
        + UInt64(Self.overhang) * UInt64(header.height) + UInt64(Self.overhang * Self.overhang)
    }

    var conversion: LCMSConversion? {
      get throws(ImageDecodingError) {
        try LCMSConversion.ofColors(
          profile: header.profile, count: header.profile_count, primaries: header.primaries,
          transfer: header.transfer)
      }
    }

    init(
      _ bytes: UnsafeRawBufferPointer, pixelLimit: UInt64 = .max, mayBeCut: Bool = false
    ) throws(ImageDecodingError) {
      guard let start = bytes.start else { throw .truncated }
      guard let reader = fic_avif_reader_create() else { throw .outOfMemory }
      self.reader = reader
      var header = fic_avif_header()
      let status = fic_avif_read_header(reader, start, bytes.count, pixelLimit, mayBeCut, &header)
      self.header = header
      orientation = Orientation(rawValue: header.orientation) ?? .up
      try check(status)
    }

    deinit { fic_avif_reader_close(reader) }

    /// Those of which no byte is missing.
    var wholeFrameCount: Int { Int(fic_avif_whole_frames(reader)) }

    func duration(ofFrame index: Int) -> Duration {
      .ofFrame(seconds: fic_avif_duration(reader, UInt32(index)))
    }

    /// Decodes the next frame.
    func decode(_ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
      if request.isCancelled() { throw .cancelled }
      try check(fic_avif_decode(reader, &header))
      if request.isCancelled() { throw .cancelled }
      return try Bitmap.averaging(
        imageHeader.size, orientation, format: header.has_alpha ? .bgra32 : .bgrx32,
        conversion: conversion, request
      ) { rows, rowBytes, first, count throws(ImageDecodingError) in
        try check(fic_avif_write_rows(reader, rows, rowBytes, UInt32(first), UInt32(count)))
      }
    }

    private func check(_ status: fic_status) throws(ImageDecodingError) {
      try status.check(.avif, fic_avif_reader_message(reader))
    }
  }
#endif
