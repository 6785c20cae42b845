/// One step on the way of a picture to its slot.
///
/// The last element of a progress stream is ``finished(_:)`` or ``failed(_:)``. Cancelling the reading
/// task ends the stream without another element; that is no failure.
@nonexhaustive public enum ImageProgress: Sendable {
  /// The load waits for its turn.
  case queued

  /// Encoded bytes have arrived; `of` is their announced number, where there is one.
  case receiving(Int, of: Int?)

  /// A request failed and is sent again, for the given time from 1 on, after a pause.
  case retrying(attempt: Int, after: Duration)

  /// The encoded bytes are complete and become pixels.
  case decoding

  /// The pixels are laid into slots.
  case drawing

  /// The picture is here.
  case finished(CachedImage)

  /// There will be no picture; the error is never ``ImageCacheError/cancelled``.
  case failed(ImageCacheError)
}

extension ImageProgress {
  /// What a source tells.
  init(_ step: ImageSourceProgress) {
    if let retry = step.retry {
      self = .retrying(attempt: retry.attempt, after: retry.pause)
    } else {
      self = .receiving(step.receivedByteCount, of: step.expectedByteCount)
    }
  }
}
