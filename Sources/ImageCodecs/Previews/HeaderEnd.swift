package import Foundation

extension ImageHeader {
  /// Whether the first bytes of a file tell how it stands upright. Then the header that a decoder reads from them is
  /// that of the whole file.
  ///
  /// A PNG file tells before its pixels, by nearly all that write it. A WebP file tells behind its pixels, and
  /// announces that at its start.
  package static func isSettled(by firstBytes: Data) -> Bool {
    switch EncodedImageType(firstBytes: firstBytes) {
    case .png:
      (try? firstBytes.lendBytes { bytes throws(ImageDecodingError) in
        try PNGChunks(bytes.bytes).pixels != nil
      }) == true
    case .webp:
      // `RIFF`, a length, `WEBP`, and the first chunk: an extended file's flags, of which this one announces EXIF.
      firstBytes.count > 20
        && !(firstBytes.dropFirst(12).starts(with: Data("VP8X".utf8))
          && firstBytes[firstBytes.startIndex + 20] & 8 != 0)
    default: true
    }
  }
}
