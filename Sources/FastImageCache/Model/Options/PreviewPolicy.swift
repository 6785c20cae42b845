import ImageCodecs

/// The previews that are made of bytes that have arrived, while the rest of them is under way.
///
/// ```swift
/// var options = LoadOptions()
/// options.previews = PreviewPolicy()
/// options.previews.limit = 1
/// ```
public struct PreviewPolicy: Hashable, Sendable {
  /// Kinds of previews.
  public struct Kinds: OptionSet, Hashable, Sendable {
    /// The whole image, coarser, from a file that stores it so: progressive JPEG, and on Linux interlaced PNG
    /// whose length is announced.
    public static let frames = Kinds(rawValue: 1)

    /// The camera's thumbnail in a JPEG file's EXIF metadata, once the head of the file is there; before all
    /// others, and once. It may show the image as it was before somebody changed it, so it is no part of
    /// the default. Black bars are cut off; a thumbnail of other proportions than the image's, or of less
    /// than about a quarter of the size that is shown, or one whose decode takes more memory than the
    /// image's, is left out.
    public static let embedded = Kinds(rawValue: 2)

    /// The rows that have arrived, at about a quarter, a half and three quarters of the bytes: of JPEG files
    /// that are not progressive, and PNG files that are not interlaced, in colour and of announced length; on
    /// Linux. The rest is transparent: it shows the drawing's background, and black in formats without alpha.
    /// Half an image is rarely better than another one in its place, so it is no part of the default; none
    /// follows a thumbnail.
    public static let rows = Kinds(rawValue: 4)

    /// The kinds as bits.
    public let rawValue: Int

    /// Creates a set of kinds from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
  }

  /// The kinds that are wanted. Two requests of one load may want different ones: each is shown the load's latest
  /// preview, if that is of a kind that it wants. So where one wants frames, the other's rows end with the first frame.
  public var kinds: Kinds

  /// The most previews of one image. Where requests share a load, those that were drawn for others count: a
  /// request is shown what there is of its image, and no more is drawn for it.
  public var limit = 3

  /// The time from the beginning of a fetch in which there is no preview: most images are whole by then.
  /// A download that goes on with what an earlier one has left does not wait for it. Where requests share a load,
  /// each waits for its own delay, and is shown then what others were shown before. Previews come with bytes: none
  /// comes while a download stands still.
  public var delay = Duration.milliseconds(200)

  /// Creates a policy of at most three previews.
  public init(kinds: Kinds = .frames) { self.kinds = kinds }

  /// No previews.
  public static let none = PreviewPolicy(kinds: [])

  /// Whether any preview is wanted.
  var wantsAny: Bool { PreviewStage.Kind.allCases.contains(where: wants) }

  /// Whether previews of a kind are wanted.
  func wants(_ kind: PreviewStage.Kind) -> Bool {
    let wanted: Kinds =
      switch kind {
      case .frame: .frames
      case .embedded: .embedded
      case .rows: .rows
      }
    return limit > 0 && kinds.contains(wanted)
  }
}
