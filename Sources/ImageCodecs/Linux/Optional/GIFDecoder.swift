#if GIF && !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  /// GIF by giflib; of an animation the first frame, on a transparent screen.
  ///
  /// The colours of the file count as sRGB, which GIF89a does not say and every browser does.
  struct GIFDecoder: ImageDecoder {
    func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
      try data.lendBytes { bytes throws(ImageDecodingError) in try GIFReader(bytes).imageHeader }
    }

    func workingByteCount(for header: ImageHeader, minimumSize: PixelSize?) -> Int {
      PixelLayout.byteCount(size: header.size, format: .bgra32)
        .addingClamped(rowBufferByteCount(header.size))
    }

    func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
      try data.lendBytes { bytes throws(ImageDecodingError) in
        let reader = try GIFReader(bytes)
        let header = reader.imageHeader
        try request.limits.check(
          header, encodedByteCount: bytes.count,
          workingByteCount: workingByteCount(for: header, minimumSize: request.minimumSize))
        let showsPart = request.damagedImages == .showPart
        var isDamaged = false
        var bitmap = try Bitmap.decoding(
          size: header.size, format: header.hasAlpha ? .bgra32 : .bgrx32
        ) { pixels, layout throws(ImageDecodingError) in
          isDamaged = try reader.decode(
            pixels, layout, showsPart: showsPart, unless: request.isCancelled)
        }
        bitmap.isDamaged = isDamaged
        return bitmap
      }
    }
  }

  /// One pass over a frame of one GIF file, whose bytes stay in place for this object's life.
  ///
  /// Invariant: no call follows one that threw.
  final class GIFReader {
    private let reader: OpaquePointer
    private(set) var header: fic_gif_header

    /// The result is the whole screen, at its full size, whatever the size of the frame.
    var imageHeader: ImageHeader {
      // Sides have at most 17 bits, so nothing overflows.
      let size = PixelSize(width: Int(header.width), height: Int(header.height))
      var result = ImageHeader(
        size: size, hasAlpha: header.has_alpha,
        wholeImageByteCount: PixelLayout.byteCount(size: size, format: .bgra32))
      result.isDecodedWhole = true
      return result
    }

    init(_ bytes: UnsafeRawBufferPointer) throws(ImageDecodingError) {
      guard let start = bytes.start else { throw .truncated }
      guard let reader = fic_gif_reader_create() else { throw .outOfMemory }
      self.reader = reader
      var header = fic_gif_header()
      let status = fic_gif_read_header(reader, start, bytes.count, &header)
      self.header = header
      try check(status)
    }

    deinit { fic_gif_reader_close(reader) }

    /// How often the animation is repeated, 0 for ever; negative where the blocks so far say nothing.
    var repeats: Int { Int(fic_gif_repeats(reader)) }

    /// Passes over the frame.
    ///
    /// - Returns: Where the blocks behind it begin.
    func passFrame() throws(ImageDecodingError) -> Int {
      var next = 0
      try check(fic_gif_pass_frame(reader, &next))
      return next
    }

    /// Goes on with the frame whose blocks begin there.
    ///
    /// - Returns: Whether there is one.
    func takeFrame(at offset: Int) throws(ImageDecodingError) -> Bool {
      try check(fic_gif_take_frame(reader, offset, &header))
      return !header.is_end
    }

    /// - Parameter showsPart: Whether the rows that can be read suffice, if there are any.
    /// - Returns: Whether rows are missing.
    func decode(
      _ pixels: UnsafeMutableRawBufferPointer, _ layout: PixelLayout, showsPart: Bool,
      unless isCancelled: () -> Bool
    ) throws(ImageDecodingError) -> Bool {
      guard let start = pixels.baseAddress, pixels.count >= layout.byteCount else {
        throw .outOfMemory
      }
      if showsPart || header.frame_width != header.width || header.frame_height != header.height {
        layout.format.writeBlank(
          start.assumingMemoryBound(to: UInt8.self), layout.rowBytes, layout.size.height,
          width: layout.size.width)
      }
      return try read(
        start.assumingMemoryBound(to: UInt8.self) + Int(header.frame_y) * layout.rowBytes
          + Int(header.frame_x) * 4, layout.rowBytes, showsPart: showsPart, unless: isCancelled)
    }

    /// Writes the frame's own rows, and returns as ``decode(_:_:showsPart:unless:)`` does.
    func read(
      _ rows: UnsafeMutablePointer<UInt8>, _ rowBytes: Int, showsPart: Bool,
      unless isCancelled: () -> Bool
    ) throws(ImageDecodingError) -> Bool {
      var count = 0
      for pass in passes {
        for y in stride(from: pass.first, to: Int(header.frame_height), by: pass.step) {
          if count % UprightRows.stripHeight == 0, isCancelled() { throw .cancelled }
          do throws(ImageDecodingError) {
            try check(fic_gif_read_row(reader, rows + y * rowBytes))
          } catch {
            guard showsPart, error.isDamage, count > 0 else { throw error }
            return true
          }
          count += 1
        }
      }
      return false
    }

    /// The rows of each pass, in the order of the file; GIF89a, appendix E.
    private var passes: [(first: Int, step: Int)] {
      header.interlaced ? [(0, 8), (4, 8), (2, 4), (1, 2)] : [(0, 1)]
    }

    private func check(_ status: fic_status) throws(ImageDecodingError) {
      try status.check(.gif, fic_gif_reader_message(reader))
    }
  }
#endif
