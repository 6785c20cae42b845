#if !canImport(ImageIO)
  import Foundation
  import Pixels

  /// The chunks around the image of a WebP file; RFC 9649, section 2.
  enum WebPContainer {
    /// RIFF, a length and WEBP.
    private static let headByteCount = 12
    private static let profileFlag: UInt8 = 0x20
    private static let alphaFlag: UInt8 = 0x10

    /// The file with a profile before its image.
    ///
    /// - Parameters:
    ///   - file: As libwebp writes it, with a profile not yet.
    ///   - layout: The image's.
    static func adding(
      _ profile: UnsafeRawBufferPointer, to file: Data, _ layout: PixelLayout
    ) -> Data {
      let file = Data(file)
      // libwebp writes VP8X by itself where a lossy image has alpha.
      let isExtended = file.count >= 30 && file[12..<16].elementsEqual("VP8X".utf8)
      var features = [UInt8](repeating: 0, count: 10)
      if isExtended {
        features = Array(file[20..<30])
      } else {
        // The lossless image's own head: a byte, twice 14 bits for the sides, and whether alpha is used.
        if file.count > 24, file[12..<16].elementsEqual("VP8L".utf8) {
          features[0] = file[24] & alphaFlag
        }
        for (offset, side) in [(4, layout.size.width - 1), (7, layout.size.height - 1)] {
          for byte in 0..<3 { features[offset + byte] = UInt8(side >> (8 * byte) & 0xFF) }
        }
      }
      features[0] |= profileFlag
      var content = Data("WEBP".utf8)
      append("VP8X", features, to: &content)
      append("ICCP", profile, to: &content)
      content.append(file.dropFirst(isExtended ? 30 : headByteCount))
      var result = Data()
      append("RIFF", content, to: &result)
      return result
    }

    /// Adds a chunk, whose length is rounded up to whole pairs of bytes.
    private static func append(
      _ name: String, _ content: some Collection<UInt8>, to data: inout Data
    ) {
      data.append(contentsOf: name.utf8)
      withUnsafeBytes(of: UInt32(content.count).littleEndian) { data.append(contentsOf: $0) }
      data.append(contentsOf: content)
      if content.count % 2 == 1 { data.append(0) }
    }
  }
#endif
