/// One step on the way of a picture to its slot.
///
/// The last element of a progress stream is ``finished(_:)`` or ``failed(_:)``. Cancelling the reading
/// task ends the stream without another element; that is no failure.
@nonexhaustive public enum ImageProgress: Sendable {
  /// The load waits for its turn.
  case queued

  /// Encoded bytes have arrived; `of` is their announced number, where there is one.
  case receiving(Int, of: Int?)

  /// The encoded bytes are complete and become pixels.
  case decoding

  /// The pixels are laid into slots.
  case drawing

  /// The picture is here.
  case finished(CachedImage)

  /// There will be no picture; the error is never ``ImageCacheError/cancelled``.
  case failed(ImageCacheError)
}
