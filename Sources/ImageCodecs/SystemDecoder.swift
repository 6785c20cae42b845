import Foundation
import Pixels

/// A decoder of the library, which knows its files by ``EncodedImageType``.
protocol SystemDecoder: ImageDecoder {
  /// The kinds of files that it decodes.
  var types: [EncodedImageType] { get }

  /// The space of the image's colours, told without a decode; `nil` for another one than the library's.
  func colorSpace(of data: Data) throws(ImageDecodingError) -> ColorSpace?
}

extension SystemDecoder {
  func recognizes(_ firstBytes: Data) -> Bool {
    EncodedImageType(firstBytes: firstBytes).map(types.contains) ?? false
  }
}

extension Sequence where Element == any ImageDecoder {
  /// What a request to a web server says it accepts (RFC 9110, section 12.5.1): the kinds that the library's decoders
  /// among these read, and other images if there is none of them. Decoders of one's own name no kinds.
  package var acceptedTypes: String {
    let types = Set(compactMap { $0 as? any SystemDecoder }.flatMap(\.types))
    let names = EncodedImageType.allCases.filter(types.contains).flatMap(\.mediaTypes)
    return (names + ["image/*;q=0.5"]).joined(separator: ",")
  }
}

extension EncodedImageType {
  /// The names that servers know the kind by.
  fileprivate var mediaTypes: [String] {
    switch self {
    case .jpeg: ["image/jpeg"]
    case .png: ["image/png", "image/apng"]
    case .webp: ["image/webp"]
    case .gif: ["image/gif"]
    case .heif: ["image/heic"]
    case .avif: ["image/avif"]
    case .tiff: ["image/tiff"]
    case .bmp: ["image/bmp"]
    case .ico: ["image/x-icon"]
    case .svg: ["image/svg+xml"]
    case .pdf: ["application/pdf"]
    }
  }
}
