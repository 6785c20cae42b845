import FastImageCache

/// One way to get the images of a list while it is scrolled.
protocol ScrollMethod {
  associatedtype Image: ReadableImage

  static var name: String { get }

  /// Reads the files of the images, so that no frame waits for the disk.
  ///
  /// Called right before each pass, since virtual machines page out data that was unused for
  /// seconds.
  func touch() throws

  func image(ofCell cell: Int) throws -> Image
}

/// An image whose bytes a pass reads, each once.
protocol ReadableImage {
  var byteSum: UInt64 { get }
}

extension Bitmap: ReadableImage {
  var byteSum: UInt64 { withPixels { $0.wordSum } }
}

extension CachedImage: ReadableImage {
  var byteSum: UInt64 { withPixels { $0.wordSum } }
}

extension RawSpan {
  /// The sum of all eight-byte words, which reads every byte once, as a compositor does at least.
  ///
  /// Four parts are read side by side, since a processor fetches ahead within a page of memory only,
  /// and would wait at the end of each.
  fileprivate var wordSum: UInt64 {
    withUnsafeBytes { bytes in
      var sum = SIMD8<UInt64>()
      let part = bytes.count / 4 & ~63
      for offset in stride(from: 0, to: part, by: 64) {
        for start in 0..<4 {
          sum &+= bytes.loadUnaligned(
            fromByteOffset: start * part + offset, as: SIMD8<UInt64>.self)
        }
      }
      // Rows are padded to 64 bytes, so whole blocks remain.
      for offset in stride(from: 4 * part, to: bytes.count & ~63, by: 64) {
        sum &+= bytes.loadUnaligned(fromByteOffset: offset, as: SIMD8<UInt64>.self)
      }
      return sum.wrappedSum()
    }
  }
}
