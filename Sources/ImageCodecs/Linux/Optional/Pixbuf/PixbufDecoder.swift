#if Pixbuf && !canImport(ImageIO)
  import Foundation
  import Pixels

  /// BMP, ICO and TIFF by gdk-pixbuf, which is loaded at the first such image.
  ///
  /// Of an ICO file the largest image counts, and of a TIFF file the first. A TIFF file's profile is applied unless it
  /// is one of inks; BMP counts as sRGB. gdk-pixbuf decodes a TIFF file in one call, which cannot be cancelled. A cut
  /// file is an error under ``DamagedImagePolicy/showPart``, too.
  struct PixbufDecoder: ImageDecoder {
    /// What the decoder finds in a file.
    enum Contents {
      case image(PixbufFile)
      case png(Range<Int>)

      init(_ bytes: RawSpan) throws(ImageDecodingError) {
        switch bytes.byte(at: 0) {
        case UInt8(ascii: "B"): self = .image(try PixbufFile(bmp: bytes))
        case UInt8(ascii: "I"), UInt8(ascii: "M"): self = .image(try PixbufFile(tiff: bytes))
        default:
          let place = try ICOFile.largest(bytes)
          let isPNG = bytes.bigEndian32(at: place.lowerBound) == 0x8950_4E47
          self = isPNG ? .png(place) : .image(try ICOFile.bitmap(bytes, in: place))
        }
      }
    }

    func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
      try data.lendBytes { bytes throws(ImageDecodingError) in
        switch try Contents(bytes.bytes) {
        case .image(let file): return file.header
        case .png(let place):
          let png = bytes.bytes.extracting(place)
          let chunks = try PNGChunks(png)
          return PNGDecoder().header(chunks, Orientation(exif: png, in: chunks.exif))
        }
      }
    }

    /// gdk-pixbuf decodes at full size, beside the result.
    func workingByteCount(for header: ImageHeader, minimumSize: PixelSize?) -> Int {
      let factor = RowAverage.factor(of: header.size, for: minimumSize)
      return PixelLayout.byteCount(size: header.size.reduced(by: factor), format: .bgra32)
        .addingClamped(header.wholeImageByteCount).addingClamped(rowBufferByteCount(header.size))
    }

    func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
      try data.lendBytes { bytes throws(ImageDecodingError) in
        try request.limits.check(encodedByteCount: bytes.count)
        switch try Contents(bytes.bytes) {
        case .image(let file): return try decode(file, bytes, request)
        case .png(let place):
          return try PNGDecoder().decode(UnsafeRawBufferPointer(rebasing: bytes[place]), request)
            .bitmap
        }
      }
    }

    private func decode(
      _ file: PixbufFile, _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(ImageDecodingError) -> Bitmap {
      let header = file.header
      try request.limits.check(
        header, encodedByteCount: bytes.count,
        workingByteCount: workingByteCount(for: header, minimumSize: request.minimumSize))
      let conversion = try file.conversion(bytes.bytes)
      let reader = try PixbufReader(file)
      try reader.decode(bytes, unless: request.isCancelled)
      return try .averaging(
        header.size, file.orientation, format: header.hasAlpha ? .bgra32 : .bgrx32,
        conversion: conversion, request
      ) { rows, rowBytes, first, count in
        reader.read(rows, rowBytes, first, count)
      }
    }
  }
#endif
