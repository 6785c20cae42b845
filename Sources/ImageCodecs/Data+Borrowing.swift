import Foundation

extension Data {
  /// Lends the bytes for the length of `body`, whose errors keep their type.
  func lendBytes<Result>(
    _ body: (UnsafeRawBufferPointer) throws(ImageDecodingError) -> Result
  ) throws(ImageDecodingError) -> Result {
    let result = withUnsafeBytes { bytes in
      Swift.Result { () throws(ImageDecodingError) in try body(bytes) }
    }
    return try result.get()
  }
}
