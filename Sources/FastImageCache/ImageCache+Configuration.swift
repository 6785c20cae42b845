public import Foundation
public import ImageCodecs
import TableStore

extension ImageCache {
  /// Where a cache lives, where it gets pictures from, and what it may use for that.
  public struct Configuration: Sendable {
    /// The folder that holds a subfolder for each namespace.
    ///
    /// By default `<program>/ImageTables` in the user's caches folder, which on Linux is
    /// `$XDG_CACHE_HOME` or `~/.cache`. The program is the main bundle's identifier or, without one,
    /// the last part of the path that it was started by. Programs of one name share the folder, and
    /// delete the tables that they do not list: give them, and tests, folders of their own.
    public var directory: URL?

    /// Where encoded pictures come from: files, data URLs, http and https by default.
    public var source: any ImageSource = URLImageSource()

    /// Asked in order; the first that recognises a picture's bytes decodes it.
    public var decoders: [any ImageDecoder] = ImageDecoders.standard

    /// What one decode may cost.
    public var limits = DecodingLimits()

    /// How many pictures are decoded and drawn at the same time; the number of cores by default, and
    /// at least one.
    public var decodeWidth = Self.processorCount

    /// The private memory that all decodes together may take, in bytes; with none or less, pictures
    /// that have to be decoded are too large.
    ///
    /// A picture whose family is still to be drawn stays decoded meanwhile and is not counted, one
    /// for each load under way. Besides, the process keeps up to 8 MiB of what decodes gave back for
    /// the next ones, until all its caches are closed or suspended, and a decode may get twice what
    /// it needs of that.
    public var decodeByteBudget = 256 << 20

    /// How many loads that need the network may be under way at the same time; 18 by default, and at
    /// least one.
    ///
    /// Several times ``HTTPOptions/connectionsPerHost``, so that a host that does not answer leaves
    /// turns to the others.
    public var networkWidth = 18

    /// How many loads of files and other local sources may be under way at the same time; at least
    /// one.
    ///
    /// Each holds its encoded bytes. Some more than there are cores keep these busy while others wait
    /// for their turn to be read.
    public var localWidth = Self.processorCount + 4

    /// The kind of device this is; formats made for other kinds are not stored.
    public var device: ImageFormat.Devices = .current

    /// What tests put between the tables and the operating system.
    var system = SystemCalls.live

    /// Asked for once: on Linux the answer takes reading a dozen files.
    private static let processorCount = max(ProcessInfo.processInfo.activeProcessorCount, 1)

    /// Creates the default configuration.
    public init() {}
  }
}
