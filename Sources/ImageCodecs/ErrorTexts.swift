public import Foundation

extension ImageDecodingError: LocalizedError, CustomStringConvertible {
  /// The same as ``description``, so that `localizedDescription` says it too; in English.
  public var errorDescription: String? { description }

  /// One sentence.
  public var description: String {
    switch self {
    case .unknownType: "The bytes are no image of a known kind."
    case .truncated: "There are no bytes, or they end before the image does."
    case .damaged(let text): "The image is damaged: \(text)"
    case .unsupported(let text): text
    case .tooLarge(let text): text
    case .outOfMemory: "There is no memory for the decode."
    case .cancelled: "The decode was given up."
    }
  }
}

extension ImageEncodingError: LocalizedError, CustomStringConvertible {
  /// The same as ``description``, so that `localizedDescription` says it too; in English.
  public var errorDescription: String? { description }

  /// One sentence.
  public var description: String {
    switch self {
    case .outOfMemory: "There is no memory for the encoded image."
    case .failed(let text): "The image cannot be encoded: \(text)"
    }
  }
}
