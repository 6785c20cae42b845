public import Foundation
package import LoadQueue
public import Pixels

/// Where images come from: a URL in, encoded bytes or pixels out.
///
/// ```swift
/// struct BundledPhotos: ImageSource {
///   let folder: URL
///
///   func response(to request: ImageSourceRequest) async throws -> ImageSourceResponse {
///     .encoded(try Data(contentsOf: folder.appending(path: request.url.lastPathComponent)))
///   }
/// }
/// ```
///
/// Requests that wait for one URL at the same time share one call. There is a second call where the
/// requests want different versions of an entity's image, where their ``LoadOptions`` forbid it, where an
/// image was removed since the first call began, and where sharing would make a load wait for itself. Loads run beside
/// each other, never on an actor of the cache.
///
/// A load of an http or https URL waits for its turn among those that use the network, and any other among the local
/// ones (``LoadResources``). While a source waits for another image of a cache, its load gives its turn to others.
///
/// A source may ask the cache, or another cache, for other images and make its own of them. A source that asks for the
/// very URL that it is asked for, directly or through other images, gets
/// ``ImageCacheError/sourceFailed(_:underlying:)``, whose underlying error names the cycle. The cache notices cycles in
/// the calling task and in the tasks that it begins, until the source has answered. It notices none in detached tasks
/// and callbacks of other libraries, and none through another cache: a source that waits for one of these can wait for
/// ever.
public protocol ImageSource: Sendable {
  /// Fetches the image behind a URL, all of it or nothing.
  ///
  /// When the last request's task is cancelled, this task is cancelled too, before `cancel()` returns
  /// there. So its cancellation handlers run on the thread that cancels, and must take no lock that is
  /// held around `cancel()`. The task has no task-local values of the requests.
  ///
  /// - Parameter request: The URL, its priority, and how many bytes are too many. A source that can tell reports
  ///   its progress to the request (``ImageSourceRequest/report(_:)``).
  /// - Throws: The reason why there is no image; every request gets it. A load whose task is
  ///   cancelled ends soon, with any error.
  @concurrent
  func response(to request: ImageSourceRequest) async throws -> ImageSourceResponse
}

/// One call to a source: the image's address, the call's priority and its limit.
public struct ImageSourceRequest: Sendable {
  package typealias Report = @Sendable (ImageSourceProgress) -> Void

  /// The image's address.
  public private(set) var url: URL

  /// The most bytes that the answer may have; a source stops when it meets more.
  public let byteCountLimit: Int

  /// The entity whose image began the load; `nil` outside a cache.
  ///
  /// For logs, and never for authorisation: one load serves every request for the URL, and this
  /// is the first one's entity.
  public let firstEntity: ImageID?

  /// The account on whose behalf the image is loaded; `nil` for everyone.
  public package(set) var account: AccountID?

  /// Header fields that the requests ask for, by name; a source that sends none ignores them.
  public package(set) var headers: [String: String] = [:]

  /// The kinds of images that can be decoded, as an `Accept` field names them.
  package var acceptedTypes = "image/*"

  /// Whether the requests allow networks that the system takes for expensive. A source that would need one
  /// against their will throws ``ImageSourceError/networkRefused``; one that cannot tell networks apart ignores the
  /// property, as ``URLImageSource`` does on Linux.
  public var allowsExpensiveNetworkAccess: Bool { !avoids.contains(.expensive) }

  /// Whether the requests allow networks on which the user saves data; otherwise as
  /// ``allowsExpensiveNetworkAccess``.
  public var allowsConstrainedNetworkAccess: Bool { !avoids.contains(.constrained) }

  /// The networks that the requests do not allow.
  package var avoids: NetworkCosts = []

  /// The original as far as it is kept already: to be continued, or to be asked about.
  package var known: KnownOriginal?

  /// Makes the buffers of ``begin(_:continuing:)``; `nil` outside a cache, which keeps none.
  package var makeBuffer: (@Sendable (ResponseMetadata, KnownOriginal?) -> DownloadBuffer)?

  /// Takes the times of each request to a web server; `nil` outside a cache.
  package var measure: (@Sendable (NetworkDurations) -> Void)?

  /// The priority of the load.
  package let urgency: Urgency

  /// The permit of the load; `nil` outside a cache.
  package let permit: (any SourcePermit)?

  private let listener: Report?

  /// The highest priority among the image's requests at this moment; it may rise and fall during the
  /// load.
  public var priority: TaskPriority { urgency.priority.task }

  /// Creates a request of a priority that stays as it is.
  ///
  /// - Parameters:
  ///   - url: The image's address.
  ///   - priority: How urgent it is.
  ///   - byteCountLimit: The most bytes that the answer may have.
  ///   - progress: Told what the source reports, on any thread.
  public init(
    url: URL, priority: TaskPriority = .medium, byteCountLimit: Int = 100 << 20,
    progress: (@Sendable (ImageSourceProgress) -> Void)? = nil
  ) {
    self.init(
      url: url, urgency: Urgency(Priority(priority)), byteCountLimit: byteCountLimit,
      progress: progress)
  }

  package init(
    url: URL, urgency: Urgency, byteCountLimit: Int, permit: (any SourcePermit)? = nil,
    firstEntity: ImageID? = nil, progress: Report? = nil
  ) {
    self.url = url
    self.firstEntity = firstEntity
    self.urgency = urgency
    self.byteCountLimit = byteCountLimit
    self.permit = permit
    listener = progress
  }

  /// Reports how far the source is, from any thread; returns at once.
  public func report(_ progress: ImageSourceProgress) { listener?(progress) }

  /// The same request for another address, for a source that passes the load on to another source.
  ///
  /// ```swift
  /// let web = URLImageSource()
  /// let source = ClosureImageSource { request in
  ///   let large = request.url.appending(queryItems: [URLQueryItem(name: "size", value: "large")])
  ///   return try await web.response(to: request.with(url: large))
  /// }
  /// ```
  ///
  /// It follows the load's priority, reports its progress, and continues its download; a new request does
  /// none of these. It keeps ``headers`` only where scheme, host and port stay the same, since they may be
  /// secrets.
  ///
  /// - Parameter url: Where the image is.
  public func with(url: URL) -> ImageSourceRequest {
    var request = self
    request.url = url
    if HTTPHost(url) != HTTPHost(self.url) { request.headers = [:] }
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
  ///   (``ImageSourceResponse/arrived(_:)``).
  package func begin(
    _ terms: ResponseMetadata, continuing known: KnownOriginal? = nil
  ) -> DownloadBuffer {
    makeBuffer?(terms, known)
      ?? DownloadBuffer(terms, continuing: known, byteCountLimit: byteCountLimit)
  }

  /// Waits for a permit of the resource that the source uses next, in the place of the present one.
  ///
  /// Returns at once if the load has that permit already, and outside a cache. A load that returned its permit
  /// because its source asked the cache for another image comes back with this call. While that image is
  /// missing, the load waits for its turn and goes on without counting. Of two calls at a time the later decides.
  ///
  /// - Throws: `CancellationError` when the task is cancelled while it waits, or when the load is over.
  ///   ``OutOfReach`` where the requests may not go so far; a source passes it on.
  package func acquirePermit(_ need: LoadNeed) async throws { try await permit?.acquire(need) }
}

/// A source's answer.
public struct ImageSourceResponse: Sendable {
  package enum Content: Sendable {
    case encoded(Data)
    case bitmap(Bitmap)
    /// An image file whose bytes came in pieces, all of them.
    case arrived(DownloadBuffer)
    /// The whole original that the request knew is still the present one; the terms are the newer answer's.
    case unchanged(ResponseMetadata)
  }

  package let content: Content

  /// The bytes that are stored beside the pixels; `nil` where there are none.
  public private(set) var metadata: Data?

  /// An image file's bytes; the first of them tell the file format.
  public static func encoded(_ data: Data) -> Self { Self(.encoded(data)) }

  /// Pixels that need no decoder.
  public static func bitmap(_ bitmap: Bitmap) -> Self { Self(.bitmap(bitmap)) }

  package static func arrived(_ buffer: DownloadBuffer) -> Self { Self(.arrived(buffer)) }

  package static func unchanged(_ terms: ResponseMetadata) -> Self { Self(.unchanged(terms)) }

  package init(_ content: Content) { self.content = content }

  /// The same image with metadata, which ``CachedImage/metadata`` returns.
  ///
  /// - Parameter metadata: Any bytes, in place of those that the image had. The image is shown but
  ///   not stored in formats with less room, which ``ImageFormat/metadataByteLimit`` tells.
  public func with(metadata: Data) -> ImageSourceResponse {
    var response = self
    response.metadata = metadata
    return response
  }

  /// The image file, for a source that looks at the answer of another one; `nil` for pixels, and where the
  /// other source says only that what is kept has not changed.
  public var encodedData: Data? {
    switch content {
    case .encoded(let data): data
    case .arrived(let buffer): buffer.bytes
    case .bitmap, .unchanged: nil
    }
  }

  /// The pixels; `nil` for an image file.
  public var bitmap: Bitmap? { if case .bitmap(let bitmap) = content { bitmap } else { nil } }
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

/// The permit of a load, as its source sees it.
///
/// A source says which resource it uses next, and that it will wait for something else. It never waits with a
/// permit: no two loads wait for each other then.
package protocol SourcePermit: Sendable {
  /// See ``ImageSourceRequest/acquirePermit(_:)``.
  func acquire(_ need: LoadNeed) async throws

  /// Lets another load use the permit until the next ``acquire(_:)``; returns at once.
  func giveUp()
}

/// A source needs what the requests of its load do not allow.
package struct OutOfReach: Error {
  package init() {}
}

/// Networks that a request does not use, as systems tell them apart.
package struct NetworkCosts: OptionSet, Hashable, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }

  /// Networks on which the user saves data: Low Data Mode on Apple platforms.
  package static let constrained = NetworkCosts(rawValue: 1 << 0)

  /// Networks that the system takes for expensive, such as cellular ones and personal hotspots.
  package static let expensive = NetworkCosts(rawValue: 1 << 1)

  package mutating func set(_ cost: NetworkCosts, _ isMember: Bool) {
    if isMember { insert(cost) } else { remove(cost) }
  }
}

extension LoadNeed {
  /// What a source needs first: what it names, or else the network for http and https.
  package init(for url: URL, from source: any ImageSource) {
    self.init(for: url, naming: source as? any NeedNamingSource)
  }

  /// - Parameter source: The source, if it names what it needs.
  package init(for url: URL, naming source: (any NeedNamingSource)?) {
    if let source {
      self = source.need(for: url)
    } else {
      self = ["http", "https"].contains(url.scheme?.lowercased() ?? "") ? .network : .local
    }
  }
}

/// A source that names the resource with which its loads begin.
package protocol NeedNamingSource: ImageSource {
  /// Called when a load begins, on the thread of the load, and by chains before each of their sources; returns at once.
  func need(for url: URL) -> LoadNeed
}

/// A source that keeps connections for later downloads.
package protocol IdleConnections {
  /// Closes the connections that no download uses, at once or when no download is under way.
  func closeIdleConnections()
}
