import ImageSources

/// One step on the way of an image to its slot.
///
/// A step that was not read gives way to a newer one. The last element of a progress stream is ``finished(_:)`` or
/// ``failed(_:)``. Cancelling the reading task ends the stream without another element; that is no failure.
@nonexhaustive public enum ImageProgress: Sendable {
  /// The load waits for its turn.
  case queued

  /// Encoded bytes have arrived; `of` is their announced number, where there is one.
  case receiving(Int, of: Int?)

  /// A request failed and is sent again, for the given time from 1 on, after a pause.
  case retrying(attempt: Int, after: Duration)

  /// All encoded bytes are there. A second step of this kind says that the bytes of the first were no image.
  case arrived(ByteOrigin)

  /// The encoded bytes are complete and become pixels.
  case decoding

  /// The pixels are laid into slots.
  case drawing

  /// An image to show until the wanted one is here; never after ``finished(_:)``.
  case preview(CachedImage, ImagePreview)

  /// The image is here.
  case finished(CachedImage)

  /// There will be no image; the error is never ``ImageCacheError/cancelled``.
  case failed(ImageCacheError)
}

/// Where the encoded bytes of an image came from.
@nonexhaustive public enum ByteOrigin: Hashable, Sendable {
  /// The source sent all of them, in this load.
  case source

  /// Earlier loads left the first bytes, so many of them, and the source sent the rest.
  case resumed(after: Int, of: Int)

  /// A store of originals had them, and the source was not asked, or failed.
  case original

  /// A store of originals had them, and the source said, or showed by sending the same, that they are
  /// still the present ones.
  case unchanged
}

extension ImageProgress {
  /// Whether an unread step is worth nothing after this one: a reader gets the newest preview until the image is there,
  /// the newest origin of the bytes, and of all other steps the newest.
  func supersedes(_ unread: ImageProgress) -> Bool {
    switch (self, unread) {
    case (.preview, .preview), (.finished, .preview), (.arrived, .arrived): true
    case (.preview, _), (_, .preview), (_, .arrived): false
    default: true
    }
  }

  /// What a source tells.
  init(_ step: ImageSourceProgress) {
    if let retry = step.retry {
      self = .retrying(attempt: retry.attempt, after: retry.pause)
    } else {
      self = .receiving(step.receivedByteCount, of: step.expectedByteCount)
    }
  }
}

/// The kind of an image that stands in while the wanted one loads.
public struct ImagePreview: Hashable, Sendable {
  /// The source of a preview's pixels.
  @nonexhaustive public enum Kind: Hashable, Sendable {
    /// An image of the same entity and version, from a table of another format.
    case variant(ImageFormat)

    /// An image of the entity that was marked stale, or is of another version.
    case stale

    /// A placeholder (``LoadOptions/isPlaceholder``).
    case placeholder

    /// The whole image, coarser: the first, second, … such preview of this load, counted from 1.
    case frame(Int)

    /// The thumbnail that a camera has put into the file.
    case embedded

    /// The first rows of the file, so large a part of all, from 0 to 1. Where the file says how to turn the
    /// image, these may be its last rows, or columns.
    case rows(Double)
  }

  /// The source of the preview's pixels.
  public let kind: Kind

  /// Whether the rest of the file cannot change the preview.
  ///
  /// The image has the same pixels then, unless another request of the load needs a larger decode or a wider
  /// colour space.
  public let isSettled: Bool
}
