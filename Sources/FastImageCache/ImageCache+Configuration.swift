public import Foundation
public import ImageCodecs
import TableStore

extension ImageCache {
  /// A cache's folder, its source, and the cores and memory that it may use.
  public struct Configuration: Sendable {
    /// The folder that holds a subfolder for each namespace.
    ///
    /// By default `<program>/ImageTables` in the user's caches folder, which on Linux is
    /// `$XDG_CACHE_HOME` or `~/.cache`. The program is the main bundle's identifier or, without one,
    /// the last part of the path that started it. Programs of one name share the folder, and each
    /// deletes the tables that it does not list: give them, and tests, folders of their own.
    public var directory: URL?

    /// Where encoded pictures come from: files, data URLs, http and https by default.
    public var source: any ImageSource = URLImageSource()

    /// The first of these that recognises a picture's bytes decodes it.
    public var decoders: [any ImageDecoder] = ImageDecoders.standard

    /// The size and memory that one decode may take.
    public var limits = DecodingLimits()

    /// How many pictures are decoded and drawn at the same time: the number of cores by default, and
    /// at least one.
    ///
    /// A thread that has drawn a picture stores it too, and waits while its table is flushed or
    /// emptied.
    public var decodeWidth = Self.processorCount

    /// The private memory that all decodes together may take, in bytes; without any, each picture
    /// that needs a decode is too large.
    ///
    /// Not counted: a picture stays decoded while its family is drawn, one for each load under way;
    /// the process keeps up to 8 MiB of freed decodes for the next ones, until all its caches are
    /// closed or suspended; and a decode may take a kept block of twice the size that it needs.
    public var decodeByteBudget = 256 << 20

    /// How many loads that need the network may be under way at the same time: 18 by default, and at
    /// least one.
    ///
    /// The default is several times ``HTTPOptions/connectionsPerHost``, so that a host that does not
    /// answer leaves turns to the others.
    public var networkWidth = 18

    /// How many loads of files and other local sources may be under way at the same time: four more
    /// than there are cores by default, and at least one.
    ///
    /// Each load holds its encoded bytes. A few more loads than cores keep the cores busy while files
    /// are read.
    public var localWidth = Self.processorCount + 4

    /// The kind of device this is; formats made for other kinds are not stored.
    public var device: ImageFormat.Devices = .current

    /// The system calls of the tables, which tests replace.
    var system = SystemCalls.live

    /// Kept, since on Linux the answer takes reading a dozen files.
    private static let processorCount = max(ProcessInfo.processInfo.activeProcessorCount, 1)

    /// Creates the default configuration.
    public init() {}
  }
}
