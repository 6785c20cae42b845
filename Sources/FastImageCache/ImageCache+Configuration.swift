public import Foundation
public import ImageCodecs
import TableStore

extension ImageCache {
  /// A cache's folder, its source, and the resources that its loads take.
  public struct Configuration: Sendable {
    /// The folder that holds a subfolder for each namespace.
    ///
    /// By default `<program>/ImageTables` in the user's caches folder, which on Linux is
    /// `$XDG_CACHE_HOME` or `~/.cache`. The program is the main bundle's identifier or, without one,
    /// the last part of the path that started it. Programs of one name share the folder, and each
    /// deletes the tables that it does not list: give them, and tests, folders of their own.
    public var directory: URL?

    /// Has opening throw where a table's file, the originals' database or a folder cannot be made, written or
    /// read; false by default.
    ///
    /// By default such a cache opens all the same: it shows the pictures that can be read, keeps new ones in
    /// memory, and tells of it by ``ImageCache/storageState``. Set this where pictures that do not reach
    /// the disk are worth nothing, as in a tool that fills a cache for others.
    public var requiresStorage = false

    /// Where encoded pictures come from: files, data URLs, http and https by default.
    public var source: any ImageSource = URLImageSource()

    /// The first of these that recognises a picture's bytes decodes it.
    public var decoders: [any ImageDecoder] = ImageDecoders.standard

    /// What becomes of pictures that are cut short or damaged within; they are errors by default.
    ///
    /// A picture of which a part is shown is stored with a mark (``CachedImage/isDamaged``,
    /// ``CacheEntry/isDamaged``), and tells of itself by ``CacheEvent/drewDamaged(entity:format:)``. It is a miss for caches that
    /// refuse such pictures, also for those that share its table, and its file is not kept as an original. Only
    /// a file that came whole is shown so: a download that broke off is an error, or goes on later.
    public var damagedImages = DamagedImagePolicy.refuse

    /// The memory and the time that one decode may take.
    ///
    /// ``resources`` bound the memory of all decodes together. Raise both for larger pictures, for instance for
    /// progressive JPEG files of more than 80 megapixels.
    public var limits = DecodingLimits()

    /// The workers, the memory for decodes and the gates of the cache's loads; `nil`, the default, gives
    /// each cache its own.
    ///
    /// Caches that are given one object share them.
    public var resources: LoadResources?

    /// ``willStore`` as a closure.
    public typealias WillStore =
      @concurrent @Sendable (_ image: inout PendingImage) async throws -> Void

    /// Called with each picture between its decode and its drawing; none by default.
    ///
    /// ```swift
    /// var configuration = ImageCache.Configuration()
    /// configuration.willStore = { image in
    ///   if image.origin == .load { image.metadata = Data("from the album".utf8) }
    ///   if image.bitmap.size.width < 16 { image.verdict = .deliverOnly }
    /// }
    /// ```
    ///
    /// The hook may change ``PendingImage/bitmap`` and ``PendingImage/metadata``, have the picture
    /// delivered without being stored, and give an id to a picture that was stored by hand without one.
    /// It is called for loads and for the `store` methods, once for each entity and each decode, for all
    /// formats that are drawn from it, and again for a format of it that is asked for meanwhile. Hits do not
    /// call it. A format for which the decode for all together is larger than the budget of ``resources`` is
    /// drawn when it is asked for, with a call of its own; a store by hand removes its picture.
    ///
    /// An error reaches every request for the entity's picture as
    /// ``ImageCacheError/willStoreFailed(entity:underlying:)``, and nothing is stored. When nobody waits
    /// for a load any more, and when the cache is closed, its call is cancelled; that of a store is
    /// cancelled with the task that stores.
    ///
    /// The closure runs off every actor, several times at once, in the task of the load and at its priority, or
    /// in the task that stores. It may wait, for another picture of a cache too: no worker thread waits with it,
    /// and its load leaves its gate meanwhile, as ``ImageSource`` explains. A picture of the
    /// entity that it is called for, or a ring of such requests, is an error that names the ring; unlimited
    /// is only a hook that stores pictures, since it is called for each of them. The hook asks from its own
    /// task: a load that waits for another task's request keeps its place at the gate, and when all places
    /// are kept so, none goes on. A call that is cancelled ends soon, since its load keeps its place until then.
    /// Entities that share a URL share a load, so a slow call for one of them delays the others.
    /// Work that computes for
    /// many milliseconds belongs into a ``Drawing``, which runs on the worker threads.
    ///
    /// Cost: a decode without a hook and its drawing are one job of a worker thread, with a hook they are two.
    /// The decode, and the hook's bitmap for each entity of the load, stay in memory until the load is over;
    /// the gates of ``resources`` bound these loads, but for those whose hook waits for another picture of a
    /// cache. So load an overlay before, once.
    public var willStore: WillStore?

    /// The kind of device this is; formats made for other kinds are not stored.
    public var device: ImageFormat.Devices = .current

    /// Where originals are kept; `nil`, the default, keeps none.
    ///
    /// Caches may be given the same store. It is opened at the first miss; a hit does not touch it.
    public var originals: OriginalStore? {
      get { keeper as? OriginalStore }
      set { keeper = newValue }
    }

    /// ``originals``, or what tests put in their place.
    var keeper: (any OriginalKeeping)?

    /// The clock of ``LoadOptions/timeLimit``, which tests replace.
    var clock: any PatienceClock = ContinuousClock()

    /// The system calls of the tables, which tests replace.
    var system = SystemCalls.live

    /// Creates the default configuration.
    public init() {}
  }
}
