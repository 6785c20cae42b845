#if !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  /// Averages squares of pixels while the rows of an image pass by, so that a huge one takes the memory of a
  /// small one.
  final class RowAverage {
    private let size: PixelSize
    private let bytesPerPixel: Int
    private let factor: Int
    private let row: ScratchMemory
    private let sums: ScratchMemory
    private var rowsLeft: Int

    /// - Parameters:
    ///   - size: The size of the image, as stored.
    ///   - format: The format of its rows.
    ///   - factor: A result of ``factor(of:for:)``.
    init(size: PixelSize, format: PixelFormat, factor: Int) throws(ImageDecodingError) {
      (self.size, self.factor, rowsLeft) = (size, factor, size.height)
      bytesPerPixel = format.bytesPerPixel
      row = try ScratchMemory(byteCount: size.width * bytesPerPixel)
      let sumBytes =
        size.width.dividedRoundingUp(by: factor) * bytesPerPixel * MemoryLayout<UInt32>.stride
      sums = try ScratchMemory(byteCount: sumBytes)
      memset(sums.start, 0, sumBytes)
    }

    /// The largest whole factor that does not make the image smaller than wanted. Above 4096
    /// the sums of a square of pixels would no longer fit their 32 bits.
    static func factor(of size: PixelSize, for minimumSize: PixelSize?) -> Int {
      guard let minimumSize else { return 1 }
      let factor = min(
        size.width / max(minimumSize.width, 1), size.height / max(minimumSize.height, 1))
      return min(max(factor, 1), 4096)
    }

    /// Writes the next rows of averages.
    ///
    /// - Parameter read: Reads one row of the image.
    func write(
      _ rows: UnsafeMutablePointer<UInt8>, _ rowBytes: Int, _ count: Int,
      unless isCancelled: () -> Bool,
      _ read: (_ row: UnsafeMutablePointer<UInt8>) throws(ImageDecodingError) -> Void
    ) throws(ImageDecodingError) {
      let bytesPerPixel = UInt32(bytesPerPixel)
      // `malloc` aligns for every type, and nothing else looks at this memory.
      let sums = UnsafeMutableRawPointer(sums.start).assumingMemoryBound(to: UInt32.self)
      for index in 0..<count {
        let height = min(factor, rowsLeft)
        for line in 0..<height {
          // One row of the result may take thousands of rows of the file.
          if line % UprightRows.stripHeight == UprightRows.stripHeight - 1, isCancelled() {
            throw .cancelled
          }
          try read(row.start)
          fic_rows_add(sums, row.start, size.width, UInt32(factor), bytesPerPixel)
        }
        rowsLeft -= height
        fic_rows_average(
          sums, rows + index * rowBytes, size.width, UInt32(factor), UInt32(height), bytesPerPixel)
      }
    }
  }

  extension Bitmap {
    /// Decodes an image whose rows come in the order of the file, at a whole fraction of its size.
    ///
    /// - Parameters:
    ///   - size: The upright image's.
    ///   - orientation: The turn that brings the rows upright.
    ///   - read: Reads the next `count` rows, from the row `first` of the file on.
    static func averaging(
      _ size: PixelSize, _ orientation: Orientation, format: PixelFormat,
      conversion: (any ColorConversion)?, _ request: DecodeRequest,
      _ read: (
        _ rows: UnsafeMutablePointer<UInt8>, _ rowBytes: Int, _ first: Int, _ count: Int
      ) throws(ImageDecodingError) -> Void
    ) throws(ImageDecodingError) -> Bitmap {
      let factor = RowAverage.factor(of: size, for: request.minimumSize)
      let reduced = size.reduced(by: factor)
      let average =
        factor > 1
        ? try RowAverage(size: orientation.turning(size), format: format, factor: factor) : nil
      var first = 0
      func readNext(
        _ rows: UnsafeMutablePointer<UInt8>, _ rowBytes: Int, _ count: Int
      ) throws(ImageDecodingError) {
        try read(rows, rowBytes, first, count)
        first += count
      }
      return try decoding(
        size: reduced, format: format,
        edges: orientation.edges(of: size, reducedBy: Double(factor), to: reduced),
        conversion: conversion
      ) { pixels, layout throws(ImageDecodingError) in
        let target = try UprightRows(pixels, layout: layout, orientation: orientation)
        try target.fill(unless: request.isCancelled) {
          rows, rowBytes, count throws(ImageDecodingError) in
          guard let average else { return try readNext(rows, rowBytes, count) }
          try average.write(rows, rowBytes, count, unless: request.isCancelled) {
            row throws(ImageDecodingError) in try readNext(row, 0, 1)
          }
        }
      }
    }
  }

  extension PixelSize {
    func reduced(by factor: Int) -> PixelSize {
      guard factor > 1 else { return self }
      return PixelSize(
        width: width.dividedRoundingUp(by: factor), height: height.dividedRoundingUp(by: factor))
    }
  }
#endif
