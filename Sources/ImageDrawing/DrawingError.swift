/// Why a picture was not drawn.
@nonexhaustive public enum DrawingError: Error {
  /// The system has no memory for the rows in work or for a closure's canvas.
  case outOfMemory

  /// The caller gave up; what was written so far is no picture.
  case cancelled

  /// The drawing is a closure, and this build of the library has no canvas for it: on Linux the
  /// package trait `Cairo` was turned off.
  case canvasUnavailable

  /// Cairo or CoreGraphics refused to go on; the text is its own.
  case canvasFailed(String)

  /// The drawing's closure threw this.
  case closureFailed(any Error)
}
