package import Foundation

/// The decoders that come with the library.
public enum ImageDecoders {
  /// Decoders for JPEG, PNG and WebP, and on Apple platforms GIF, HEIF, AVIF, TIFF, BMP and ICO, in the order in which
  /// they are asked. On Linux GIF, HEIF, AVIF and SVG each need the package trait of their name, and TIFF, BMP and ICO
  /// the trait `Pixbuf`.
  public static let standard: [any ImageDecoder] = systemDecoders
}

extension Sequence where Element == any ImageDecoder {
  /// The first decoder that recognises the bytes.
  ///
  /// - Throws: ``ImageDecodingError/unsupported(_:)`` for a known kind that none of them decodes,
  ///   ``ImageDecodingError/unknownType`` for bytes that look like no image at all,
  ///   ``ImageDecodingError/truncated`` for none.
  package func decoder(for data: Data) throws(ImageDecodingError) -> any ImageDecoder {
    let firstBytes = data.prefix(64)
    for decoder in self where decoder.recognizes(firstBytes) { return decoder }
    guard !data.isEmpty else { throw .truncated }
    guard let type = EncodedImageType(firstBytes: firstBytes) else { throw .unknownType }
    let isThere = ImageDecoders.standard.contains { $0.recognizes(firstBytes) }
    let trait = isThere ? nil : type.trait
    let advice = trait.map { " Enable the package trait \"\($0)\"." } ?? ""
    throw .unsupported("\(type.rawValue) images are not decoded here.\(advice)")
  }
}
