#if Pixbuf && !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  /// What gdk-pixbuf will make of a file, read from the file's own numbers before gdk-pixbuf sees a byte.
  struct PixbufFile {
    /// Bytes that gdk-pixbuf gets.
    enum Part {
      /// Those of the file.
      case place(Range<Int>)
      case bytes(Data)
    }

    let type: EncodedImageType
    /// As stored; more than zero pixels.
    let size: PixelSize
    let alpha: fic_pixbuf_alpha
    let parts: [Part]
    /// The turn of the rows that gdk-pixbuf gives.
    var orientation = Orientation.up
    /// An ICC profile, and the kind of pixels that it is for.
    var profile: (place: Range<Int>, kind: LCMSConversion.Kind)?
    /// What gdk-pixbuf and its libraries take beside four bytes a pixel.
    var extraByteCount = 0

    init(
      _ type: EncodedImageType, _ size: PixelSize, _ alpha: fic_pixbuf_alpha, _ parts: [Part]
    ) {
      (self.type, self.size, self.alpha, self.parts) = (type, size, alpha, parts)
    }

    var header: ImageHeader {
      ImageHeader(
        size: orientation.turning(size), hasAlpha: alpha != .opaque,
        wholeImageByteCount: PixelLayout.byteCount(size: size, format: .bgra32)
          .addingClamped(extraByteCount))
    }

    func conversion(_ bytes: RawSpan) throws(ImageDecodingError) -> LCMSConversion? {
      guard let profile else { return nil }
      let data = bytes.extracting(profile.place).withUnsafeBytes { Data($0) }
      return try .shared(profile: data, kind: profile.kind)
    }
  }

  /// One image that gdk-pixbuf decodes.
  ///
  /// Invariant: no call follows one that threw.
  final class PixbufReader {
    /// A cancelled decode goes on for the time that so many bytes take.
    private static let pieceByteCount = 64 << 10

    private let reader: OpaquePointer
    private let file: PixbufFile

    init(_ file: PixbufFile) throws(ImageDecodingError) {
      guard let reader = fic_pixbuf_reader_create() else { throw .outOfMemory }
      (self.reader, self.file) = (reader, file)
      let name =
        switch file.type {
        case .bmp: "bmp"
        case .ico: "ico"
        default: "tiff"
        }
      try check(
        fic_pixbuf_begin(
          reader, name, UInt32(clamping: file.size.width), UInt32(clamping: file.size.height)))
    }

    deinit { fic_pixbuf_reader_close(reader) }

    /// Decodes the file of these bytes.
    func decode(
      _ bytes: UnsafeRawBufferPointer, unless isCancelled: () -> Bool
    ) throws(ImageDecodingError) {
      for part in file.parts {
        switch part {
        case .place(let place):
          try write(UnsafeRawBufferPointer(rebasing: bytes[place]), unless: isCancelled)
        case .bytes(let data):
          try data.lendBytes { bytes throws(ImageDecodingError) in
            try write(bytes, unless: isCancelled)
          }
        }
      }
      if isCancelled() { throw .cancelled }
      try check(fic_pixbuf_end(reader))
    }

    private func write(
      _ bytes: UnsafeRawBufferPointer, unless isCancelled: () -> Bool
    ) throws(ImageDecodingError) {
      for first in stride(from: 0, to: bytes.count, by: Self.pieceByteCount) {
        if isCancelled() { throw .cancelled }
        let piece = bytes[first..<min(first + Self.pieceByteCount, bytes.count)]
        guard let start = UnsafeRawBufferPointer(rebasing: piece).start else { return }
        try check(fic_pixbuf_write(reader, start, piece.count))
      }
    }

    /// Writes the next rows of the decoded image.
    func read(_ rows: UnsafeMutablePointer<UInt8>, _ rowBytes: Int, _ first: Int, _ count: Int) {
      precondition(
        first + count <= file.size.height, "Row \(first + count) of \(file.size) pixels.")
      fic_pixbuf_read_rows(reader, rows, rowBytes, UInt32(first), UInt32(count), file.alpha)
    }

    private func check(_ status: fic_status) throws(ImageDecodingError) {
      try status.check(file.type, fic_pixbuf_reader_message(reader))
    }
  }
#endif
