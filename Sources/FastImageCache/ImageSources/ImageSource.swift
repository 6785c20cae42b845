public import Foundation
public import Pixels

/// Where pictures come from: a URL in, encoded bytes or pixels out.
///
/// ```swift
/// struct BundledPhotos: ImageSource {
///   let folder: URL
///
///   func load(
///     _ request: ImageSourceRequest, progress: @escaping @Sendable (ImageSourceProgress) -> Void
///   ) async throws -> ImageSourceContent {
///     .encoded(try Data(contentsOf: folder.appending(path: request.url.lastPathComponent)))
///   }
/// }
/// ```
///
/// Requests that wait for one URL at the same time share one call. There is a second call where the
/// requests want different versions of an entity's picture, where their ``LoadOptions`` forbid it, where a
/// picture was removed meanwhile, and where sharing would make a load wait for itself. Loads run beside each
/// other, never on an actor of the cache.
///
/// A source may ask the cache, or another cache, for other pictures and make its own of them. Its load
/// then leaves its gate, which bounds the loads under way, and goes on without counting there; see
/// ``ImageSourceRequest/pass(_:)``. A source that asks for the very URL that it is asked for, directly
/// or through other pictures, gets ``ImageCacheError/sourceFailed(_:underlying:)``, whose underlying
/// error names the ring. The cache notices both in the calling task and in the tasks that it begins,
/// until the source has answered. It notices neither in detached tasks and callbacks of other
/// libraries, and no ring through another cache: a source that waits for one of these can wait for
/// ever.
public protocol ImageSource: Sendable {
  /// Names the need that a load begins with, and so the gate at which it waits for its turn.
  ///
  /// By default http and https need the network, and everything else is local. Called when a load
  /// begins, on the thread of the request that begins it, which may be the main one, and by chains before
  /// each of their sources; it returns at once.
  ///
  /// - Parameter url: The picture's address.
  func need(for url: URL) -> LoadNeed

  /// Fetches the picture behind a URL, all of it or nothing.
  ///
  /// When the last waiter's task is cancelled, this task is cancelled too, before `cancel()` returns
  /// there. So its cancellation handlers run on the thread that cancels, and must take no lock that is
  /// held around `cancel()`. A load that waited for its gate has no task-local values of its requests.
  ///
  /// - Parameters:
  ///   - request: The URL, how urgent it is, and how many bytes are too many.
  ///   - progress: To be called, from any thread, as bytes arrive; it returns at once. A source that
  ///     cannot tell need not call it.
  /// - Throws: The reason why there is no picture; it reaches every waiter. A load whose task is
  ///   cancelled ends soon, with any error: it has no waiters any more.
  @concurrent
  func load(
    _ request: ImageSourceRequest, progress: @escaping @Sendable (ImageSourceProgress) -> Void
  ) async throws -> ImageSourceContent
}

extension ImageSource {
  /// The network for http and https, and local means for everything else.
  public func need(for url: URL) -> LoadNeed {
    ["http", "https"].contains(url.scheme?.lowercased() ?? "") ? .network : .local
  }
}

/// The kind of resource that a load uses; it decides at which gate the load waits for its turn.
public enum LoadNeed: Hashable, Sendable {
  /// Disk, memory, processor: bounded by the `localWidth` of ``LoadResources``.
  case local

  /// A network: bounded by the `networkWidth` of ``LoadResources``.
  case network
}

/// One call to a source: the picture's address, the call's urgency and its limit.
public struct ImageSourceRequest: Sendable {
  /// The picture's address.
  public let url: URL

  /// The most bytes that the answer may have; a source stops when it meets more.
  public let byteCountLimit: Int

  /// The entity whose picture began the load; `nil` outside a cache.
  ///
  /// For logs, and never for authorisation: one load serves every request for the URL, and this
  /// is the first one's entity.
  public let firstEntity: ImageID?

  /// The account on whose behalf the picture is loaded.
  public internal(set) var audience = Audience.everyone

  /// Header fields that the requests ask for, by name; a source that sends none ignores them.
  public internal(set) var headers: [String: String] = [:]

  /// Networks that are too dear for the requests. A source that would need one of them throws
  /// ``ImageSourceError/networkRefused``; one that cannot tell networks apart ignores it, as
  /// ``URLImageSource`` does on Linux.
  public internal(set) var avoids: NetworkCosts = []

  /// The original as far as it is kept already: to be continued, or to be asked about.
  public internal(set) var known: KnownOriginal?

  /// The limit of the load's way.
  var reach = LoadOptions.Reach.network

  /// Takes the arrivals that ``begin(_:continuing:)`` makes; `nil` outside a cache.
  var arrivals: ArrivalSlot?

  /// That of the flight that loads.
  let urgency: Urgency

  /// That of the flight that loads; `nil` outside a cache.
  let permit: LoadPermit?

  /// The highest priority among the picture's waiters at this moment; it may rise and fall during the
  /// load.
  public var priority: TaskPriority { urgency.priority.task }

  /// Creates a request of a priority that stays as it is.
  ///
  /// - Parameters:
  ///   - url: The picture's address.
  ///   - priority: How urgent it is.
  ///   - byteCountLimit: The most bytes that the answer may have.
  public init(url: URL, priority: TaskPriority = .medium, byteCountLimit: Int = 100 << 20) {
    self.init(url: url, urgency: Urgency(Priority(priority)), byteCountLimit: byteCountLimit)
  }

  init(
    url: URL, urgency: Urgency, byteCountLimit: Int, permit: LoadPermit? = nil,
    firstEntity: ImageID? = nil
  ) {
    self.url = url
    self.firstEntity = firstEntity
    self.urgency = urgency
    self.byteCountLimit = byteCountLimit
    self.permit = permit
  }

  /// The same request for another address, for a source that passes the load on to another source.
  ///
  /// ```swift
  /// let web = URLImageSource()
  /// let source = ClosureImageSource { request, progress in
  ///   let large = request.url.appending(queryItems: [URLQueryItem(name: "size", value: "large")])
  ///   return try await web.load(request.with(url: large), progress: progress)
  /// }
  /// ```
  ///
  /// It keeps the load's permit for its gate and follows the load's priority; a new request does
  /// neither. It keeps ``headers`` only where scheme, host and port stay the same, since they may be
  /// secrets. ``known`` goes along, and its terms name the address that its validators are for.
  ///
  /// - Parameter url: Where the picture is.
  public func with(url: URL) -> ImageSourceRequest {
    var request = ImageSourceRequest(
      url: url, urgency: urgency, byteCountLimit: byteCountLimit, permit: permit,
      firstEntity: firstEntity)
    (request.audience, request.avoids) = (audience, avoids)
    if HTTPHost(url) == HTTPHost(self.url) { request.headers = headers }
    (request.known, request.arrivals, request.reach) = (known, arrivals, reach)
    return request
  }

  /// Says that the original's bytes are coming. What has arrived is kept if they break off, and the
  /// next load of the URL gets it as ``known``.
  ///
  /// Of several calls in one load the last one counts, and none counts before the first: a source that
  /// finds ``known`` to be of no use begins with terms that say nothing.
  ///
  /// - Parameters:
  ///   - terms: The head of the answer.
  ///   - known: The bytes that the answer continues; `nil` where it begins with the first byte.
  /// - Returns: The bytes so far, for the source to append to and to answer with
  ///   (``ImageSourceContent/arrived(_:)``).
  public func begin(_ terms: OriginalTerms, continuing known: KnownOriginal? = nil) -> Arrival {
    arrivals?.begin(terms, continuing: known, byteCountLimit: byteCountLimit)
      ?? Arrival(terms, continuing: known, byteCountLimit: byteCountLimit)
  }

  /// Leaves the present gate and waits at another one, to be called when the source needs that one's
  /// resource.
  ///
  /// ```swift
  /// struct CopiedPhotos: ImageSource {
  ///   let web = URLImageSource()
  ///
  ///   func need(for url: URL) -> LoadNeed { .local }
  ///
  ///   func load(
  ///     _ request: ImageSourceRequest, progress: @escaping @Sendable (ImageSourceProgress) -> Void
  ///   ) async throws -> ImageSourceContent {
  ///     let copy = URL(fileURLWithPath: "/copies/\(request.url.lastPathComponent)")
  ///     if let bytes = try? Data(contentsOf: copy) { return .encoded(bytes) }
  ///     try await request.pass(.network)
  ///     return try await web.load(request, progress: progress)
  ///   }
  /// }
  /// ```
  ///
  /// Returns at once if the load is inside that gate already, and for a request that was made outside
  /// a cache. A load that left its gate because its source asked the cache for another picture comes
  /// back with this call. While that picture is missing, the load waits for its turn and goes on without
  /// counting. The most urgent load is let in first. One task of a load calls this at a time: of two
  /// calls the later decides.
  ///
  /// - Parameter need: The resource that the source uses from here on.
  /// - Throws: `CancellationError` when the task is cancelled while it waits, or when the load is over. An
  ///   error of the cache where the requests may not go so far (``LoadOptions/reach-swift.property``); a source
  ///   passes it on.
  public func pass(_ need: LoadNeed) async throws {
    guard reach.covers(need) else { throw OutOfReach() }
    try await permit?.pass(need)
  }
}

/// A source needs what the requests of its load do not allow.
struct OutOfReach: Error {}

/// A source's answer.
public enum ImageSourceContent: Sendable {
  /// A picture file's bytes; the first of them tell the file format.
  case encoded(Data)

  /// Pixels that need no decoder.
  case bitmap(Bitmap)

  /// A picture file whose bytes came in pieces, all of them.
  case arrived(Arrival)

  /// The whole original that the request knew (``ImageSourceRequest/known``) is still the present one;
  /// the terms are the newer answer's.
  case unchanged(OriginalTerms)

  /// A picture, and what is stored beside its pixels; made by ``with(metadata:)``.
  indirect case annotated(ImageSourceContent, metadata: Data)

  /// The same picture with metadata, which ``CachedImage/metadata`` returns.
  ///
  /// - Parameter metadata: Any bytes, in place of those that the picture had. The picture is shown but
  ///   not stored in formats with less room, which ``ImageFormat/metadataByteLimit`` tells.
  public func with(metadata: Data) -> ImageSourceContent {
    if case .annotated(let content, _) = self { return .annotated(content, metadata: metadata) }
    return .annotated(self, metadata: metadata)
  }
}

/// The progress of one load.
public struct ImageSourceProgress: Hashable, Sendable {
  /// Bytes that have arrived.
  public var receivedByteCount: Int

  /// The number of all bytes, where it was announced.
  public var expectedByteCount: Int?

  /// The repetition that the source waits for; `nil` where it does not wait.
  public var retry: Retry?

  /// A request that failed and will be sent again.
  public struct Retry: Hashable, Sendable {
    /// 1 for the first repetition of a load.
    public var attempt: Int

    /// The pause of the source before it.
    public var pause: Duration

    /// Creates a repetition.
    public init(attempt: Int, pause: Duration) { (self.attempt, self.pause) = (attempt, pause) }
  }

  /// Creates a report.
  public init(receivedByteCount: Int, expectedByteCount: Int? = nil) {
    self.receivedByteCount = receivedByteCount
    self.expectedByteCount = expectedByteCount
  }
}
