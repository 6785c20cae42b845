#if !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  /// A decoder's memory, freed with its last reference. Unlike the memory of the same name in
  /// ImageDrawing it is exactly as large as asked for, so that the address sanitizer notices every
  /// access behind it, unless its owner keeps it for a smaller image. It is not zeroed, since decoders
  /// write whole images into it.
  final class ScratchMemory {
    let start: UnsafeMutablePointer<UInt8>

    init(byteCount: Int) throws(ImageDecodingError) {
      guard let memory = malloc(max(byteCount, 1)) else { throw .outOfMemory }
      start = memory.assumingMemoryBound(to: UInt8.self)
    }

    deinit { free(start) }
  }

  /// Takes rows in the order of the file and lays them upright into a bitmap.
  ///
  /// Rows of an upright image are written straight into the bitmap. Others go through a strip of
  /// a few rows, small enough for the processor's cache, so turning takes no second image.
  ///
  /// Invariant: `pixels` and `strip` are as large as `layout` and `storedSize` say, so any strip
  /// of up to ``stripHeight`` rows inside the stored image stays inside both.
  struct UprightRows {
    static let stripHeight = 32

    /// The size in the order of the file.
    let storedSize: PixelSize

    private let pixels: UnsafeMutablePointer<UInt8>
    private let layout: PixelLayout
    private let orientation: Orientation
    private let strip: ScratchMemory?

    /// - Parameter pixels: A bitmap's memory, `layout.byteCount` bytes, which outlives this value.
    init(
      _ pixels: UnsafeMutableRawBufferPointer, layout: PixelLayout, orientation: Orientation
    ) throws(ImageDecodingError) {
      guard let start = pixels.baseAddress, pixels.count >= layout.byteCount else {
        throw .outOfMemory
      }
      self.pixels = start.assumingMemoryBound(to: UInt8.self)
      self.layout = layout
      self.orientation = orientation
      storedSize = orientation.turning(layout.size)
      strip =
        orientation == .up
        ? nil
        : try ScratchMemory(
          byteCount: storedSize.width * layout.format.bytesPerPixel * Self.stripHeight)
    }

    /// Goes through the image strip by strip, and asks `isCancelled` before each.
    ///
    /// - Parameter write: Writes `count` rows from `rows` on, `rowBytes` apart.
    func fill(
      unless isCancelled: () -> Bool,
      _ write: (_ rows: UnsafeMutablePointer<UInt8>, _ rowBytes: Int, _ count: Int)
        throws(ImageDecodingError) -> Void
    ) throws(ImageDecodingError) {
      for first in stride(from: 0, to: storedSize.height, by: Self.stripHeight) {
        if isCancelled() { throw .cancelled }
        let count = min(Self.stripHeight, storedSize.height - first)
        if let strip {
          let rowBytes = storedSize.width * layout.format.bytesPerPixel
          try write(strip.start, rowBytes, count)
          place(strip.start, rowBytes: rowBytes, first: first, count: count)
        } else {
          try write(pixels + first * layout.rowBytes, layout.rowBytes, count)
        }
      }
    }

    /// Lays rows from other memory into the bitmap.
    func place(_ rows: UnsafePointer<UInt8>, rowBytes: Int, first: Int, count: Int) {
      fic_rows_place(
        rows, rowBytes, UInt32(first), UInt32(count), UInt32(storedSize.width),
        UInt32(storedSize.height), pixels, layout.rowBytes, UInt32(layout.format.bytesPerPixel),
        orientation.rawValue)
    }
  }
#endif
