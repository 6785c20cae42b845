/// Why an image was not drawn.
@nonexhaustive public enum DrawingError: Error {
  /// The system has no memory for the rows in work or for a closure's canvas.
  case outOfMemory

  /// The caller cancelled; the bytes written so far are no image.
  case cancelled

  /// The drawing is a closure, and this build of the library has no canvas for it: on Linux the
  /// package trait `Cairo` was turned off.
  case canvasUnavailable

  /// Cairo or CoreGraphics failed; the text is the library's own.
  case canvasFailed(String)

  /// The drawing's closure threw this error.
  case closureFailed(any Error)
}

extension DrawingError: CustomStringConvertible {
  /// One sentence; in English.
  public var description: String {
    switch self {
    case .outOfMemory: "There is no memory for the drawing."
    case .cancelled: "The drawing was given up."
    case .canvasUnavailable:
      "There is no canvas in this build: the package trait `Cairo` was turned off."
    case .canvasFailed(let text): "The canvas failed: \(text)"
    case .closureFailed(let error): "The drawing closure threw: \(error)"
    }
  }
}
