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
    /// The whole picture, coarser, from a file that stores it so: progressive JPEG, and on Linux interlaced PNG
    /// whose length is announced.
    public static let frames = Kinds(rawValue: 1)

    /// The kinds as bits.
    public let rawValue: Int

    /// Creates a set of kinds from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
  }

  /// The kinds that are wanted.
  public var kinds: Kinds

  /// The most previews of one picture.
  public var limit = 3

  /// The time from the beginning of a fetch in which there is no preview: most pictures are whole by then.
  /// A download that goes on with what an earlier one has left does not wait for it.
  public var delay = Duration.milliseconds(200)

  /// Creates a policy of at most three previews.
  public init(kinds: Kinds = .frames) { self.kinds = kinds }

  /// No previews.
  public static let none = PreviewPolicy(kinds: [])

  var wantsFrames: Bool { kinds.contains(.frames) && limit > 0 }
}
