import CommandSupport
import FastImageCache
import Foundation

/// A kind of file that `export` writes.
struct ExportedType: Sendable {
  typealias Encode = @Sendable (Bitmap) throws -> Data

  let encode: Encode
  /// Whether a file has all frames of an animation.
  let isAnimated: Bool

  /// By the extension of a file's name; standard output gets PNG.
  ///
  /// - Throws: ``UsageError`` for an extension of another kind.
  init(ofFile path: String) throws(UsageError) {
    let text = path == "-" ? "png" : URL(filePath: path).pathExtension.lowercased()
    switch text {
    case "png", "apng": (encode, isAnimated) = ({ try $0.pngData() }, true)
    case "jpg", "jpeg": (encode, isAnimated) = ({ try $0.jpegData() }, false)
    default:
      guard let encode = Self.encodersOfSystem[text] else {
        let known = ["png", "jpg"] + Self.encodersOfSystem.keys.sorted()
        throw UsageError(
          "\"\(path)\" has no extension of a kind that can be written; these are "
            + "\(known.joined(separator: ", ")).")
      }
      (self.encode, isAnimated) = (encode, false)
    }
  }
}
