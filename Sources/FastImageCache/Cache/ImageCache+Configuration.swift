public import Foundation
public import ImageCodecs
public import ImageSources
public import LoadQueue
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
    /// By default such a cache opens all the same: it shows the images that can be read, keeps new ones in
    /// memory, and tells of it by ``ImageCache/storageState``. Set this where images that do not reach
    /// the disk are worth nothing, as in a tool that fills a cache for others.
    public var requiresStorage = false

    /// Where encoded images come from: files, data URLs, http and https by default.
    public var source: any ImageSource = URLImageSource()

    /// The first of these that recognises an image's bytes decodes it.
    public var decoders: [any ImageDecoder] = ImageDecoders.standard

    /// What becomes of images that are cut short or damaged within; they are errors by default.
    ///
    /// An image of which a part is shown is stored with a mark (``CachedImage/isDamaged``, ``CacheEntry/isDamaged``),
    /// and tells of itself by ``CacheEvent/drewDamaged(entity:format:)``. It is a miss for caches that refuse such
    /// images, also for those that share its table, and its file is not kept as an original. Only a file that came
    /// whole is shown so: a download that broke off is an error, or goes on later.
    public var damagedImages = DamagedImagePolicy.refuse

    /// How long a source that had no image is not asked again; `nil`, the default, asks each time.
    ///
    /// ```swift
    /// var configuration = ImageCache.Configuration()
    /// configuration.failureMemory = .seconds(600)
    /// ```
    ///
    /// Requests for the same URL, version and conditions then get the same error at once. Remembered are
    /// errors that come back: bytes that are no image, a missing file, and the statuses 400, 404, 405, 406, 410, 414,
    /// 415 and 451 of a server. After a timeout, without a network, and after any
    /// other status the source is asked again. A failure is forgotten by a request that asks its source in any case
    /// (``LoadOptions/cachePolicy-swift.property``), by removing or storing the entity's image, by
    /// ``ImageCache/trimMemory(_:)`` with ``MemoryTrim/partials`` or more, and with the cache. At most 1 024 are
    /// kept.
    public var failureMemory: Duration?

    /// The memory and the time that one decode may take.
    ///
    /// ``resources`` bound the memory of all decodes together. Raise both for larger images, for instance for
    /// progressive JPEG files of more than 80 megapixels.
    public var limits = DecodingLimits()

    /// The workers, the memory for decodes and the limiters of the cache's loads; `nil`, the default, gives
    /// each cache its own.
    ///
    /// Caches that are given one object share them.
    public var resources: LoadResources?

    /// Called with each image between its decode and its drawing; none by default.
    ///
    /// ```swift
    /// var configuration = ImageCache.Configuration()
    /// configuration.willStore = { image in
    ///   if image.origin == .load { image.metadata = Data("from the album".utf8) }
    ///   if image.bitmap.size.width < 16 { image.storage = .doNotStore }
    /// }
    /// ```
    ///
    /// The hook may change ``StoredImage/bitmap`` and ``StoredImage/metadata``, have the image delivered without
    /// being stored, and give an id to an image that was stored by hand without one. It is called for loads and
    /// for the `store` methods, once for each entity and each decode, for all formats that are drawn from that
    /// decode. Hits do not call it. A format for which a decode for all together is larger than the budget of
    /// ``resources`` has a decode of its own, and a call.
    ///
    /// An error reaches every request for the entity's image as
    /// ``ImageCacheError/willStoreFailed(entity:underlying:)``, and nothing is stored.
    ///
    /// The closure runs on the worker thread that has decoded the image, several times at once, and ends before
    /// the image is drawn. A closure that waits keeps a worker from other images. An image that takes another
    /// image of a cache, or an answer from elsewhere, comes from a source that asks for it: see ``ImageSource``.
    /// Nothing in the closure begins a thread, as ``LoadResources`` explains.
    ///
    /// Cost: a copy of decodes whose colours are not in sRGB. The decode, and the hook's bitmap for each entity of
    /// the load, stay in memory until the load is over; the limiters of ``resources`` bound these loads.
    public var willStore: (@Sendable (_ image: inout StoredImage) throws -> Void)?

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

    /// The clock of ``LoadOptions/timeout``, which tests replace.
    var clock: any TimeoutClock = ContinuousClock()

    /// The time of day that ages of images are measured by, which tests replace.
    var now: @Sendable () -> Date = { Date() }

    /// The system calls of the tables, which tests replace.
    var system = SystemCalls.live

    /// Creates the default configuration.
    public init() {}
  }
}

extension ImageRenderer {
  init(
    _ configuration: ImageCache.Configuration, _ workers: WorkerPool, _ recorder: CacheRecorder
  ) {
    var limits = configuration.limits
    limits.workingByteCount = min(limits.workingByteCount, workers.byteBudget)
    self.init(
      decoding: ImageDecoding(
        decoders: configuration.decoders,
        acceptedTypes: configuration.decoders.acceptedTypes, limits: limits,
        damagedImages: configuration.damagedImages,
        recorder: recorder),
      hook: configuration.willStore.map(StoreHook.init),
      drawing: RequestDrawing(recorder: recorder),
      workers: workers)
  }
}
