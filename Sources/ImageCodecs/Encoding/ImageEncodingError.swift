/// Why pixels did not become an encoded image.
@nonexhaustive public enum ImageEncodingError: Error, Hashable, Sendable {
  /// The system has no memory for the result.
  case outOfMemory

  /// The encoder refused; the text says why.
  case failed(String)
}
