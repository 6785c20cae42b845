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
