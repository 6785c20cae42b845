#if !canImport(ImageIO)
  import Foundation
  import Pixels

  /// Takes the rows of a file that was cut until its bytes end, and leaves the rest of the picture transparent.
  final class TopRows {
    /// How many rows have been read.
    private(set) var count = 0
    private var hasEnded = false

    /// Writes the next rows, of four bytes a pixel.
    ///
    /// - Parameter read: Reads one row.
    func write(
      _ rows: UnsafeMutablePointer<UInt8>, _ rowBytes: Int, _ count: Int, width: Int,
      _ read: (_ row: UnsafeMutablePointer<UInt8>) throws(ImageDecodingError) -> Void
    ) throws(ImageDecodingError) {
      for index in 0..<count {
        let row = rows + index * rowBytes
        do throws(ImageDecodingError) {
          if !hasEnded {
            try read(row)
            self.count += 1
          }
        } catch .truncated {
          hasEnded = true
        }
        if hasEnded { memset(row, 0, 4 * width) }
      }
    }

    /// The bitmap that was written, unless nothing of it was read.
    func preview(_ bitmap: Bitmap, of rowCount: Int) throws(ImageDecodingError) -> DecodedPreview {
      guard count > 0 else { throw .truncated }
      return DecodedPreview(bitmap, part: Double(count) / Double(rowCount))
    }
  }
#endif
