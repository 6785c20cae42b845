public import Foundation
package import LoadQueue

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
  package func pass(_ need: LoadNeed) async throws { try await permit?.pass(need) }
}

/// The permit of a load, as its source sees it.
///
/// A source says which resource it uses next, and that it will wait for something else. It never waits with a
/// permit: no two loads wait for each other then.
package protocol SourcePermit: Sendable {
  /// See ``ImageSourceRequest/pass(_:)``.
  func pass(_ need: LoadNeed) async throws

  /// Lets another load use the permit until the next ``pass(_:)``; returns at once.
  func giveUp()
}

/// A source needs what the requests of its load do not allow.
package struct OutOfReach: Error {
  package init() {}
}
