public import Foundation
public import Pixels

/// Where pictures come from: a URL in, encoded bytes or pixels out.
///
/// ```swift
/// struct BundledPhotos: ImageSource {
///   func load(
///     _ request: ImageSourceRequest, progress: @escaping @Sendable (ImageSourceProgress) -> Void
///   ) async throws -> ImageSourceContent {
///     .encoded(try await archive.bytes(named: request.url.lastPathComponent))
///   }
/// }
/// ```
///
/// Requests that wait for one URL at the same time share one call. There is a second one where they
/// want different versions of an entity's picture, where a picture was removed meanwhile, and where
/// sharing would make a load wait for itself. Loads run beside each other, never on an actor of the
/// cache.
///
/// A source may ask the cache for other pictures, to make one of them: its load then leaves its gate,
/// which bounds the loads under way, and goes on without counting there; see
/// ``ImageSourceRequest/pass(_:)``. A source that asks for the very URL that it is asked for, be it
/// through others, gets ``ImageCacheError/sourceFailed(_:underlying:)``, whose underlying error names
/// the ring. The cache notices both for the calling task and for those that it begins, as long as the
/// source has not answered. It does not for detached tasks and callbacks of other libraries, nor for
/// rings through another cache: a source that waits for those can wait for ever.
public protocol ImageSource: Sendable {
  /// Tells what a load uses first, so that the cache begins it at the right gate.
  ///
  /// By default http and https need the network, and everything else is local. Asked when a load
  /// begins, and by chains before each of their sources, from no actor in particular; it returns at
  /// once.
  ///
  /// - Parameter url: The picture's place.
  func need(for url: URL) -> LoadNeed

  /// Fetches the picture behind a URL, all of it or nothing.
  ///
  /// When the last waiter's task is cancelled, so is this one's, before `cancel()` returns there: its
  /// cancellation handlers run on the thread that cancels, and must take no lock that is held around
  /// `cancel()`.
  ///
  /// - Parameters:
  ///   - request: The URL, how urgent it is, and how many bytes are too many.
  ///   - progress: To be called, from any thread, as bytes arrive; it returns at once. A source that
  ///     cannot tell need not call it.
  /// - Throws: Whatever kept the picture away; it reaches every waiter. When the task is cancelled,
  ///   a load ends soon, with any error: nobody waits for it any more.
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

/// What a load uses, and with it which loads it has to wait for.
public enum LoadNeed: Hashable, Sendable {
  /// Disk, memory, processor: bounded by ``ImageCache/Configuration/localWidth``.
  case local

  /// A network: bounded by ``ImageCache/Configuration/networkWidth``.
  case network
}

/// What one load is to bring.
public struct ImageSourceRequest: Sendable {
  /// The picture's place.
  public let url: URL

  /// The most bytes that the answer may have; a source stops when it meets more.
  public let byteCountLimit: Int

  /// How urgent the flight is on whose behalf this is loaded.
  let urgency: Urgency

  /// What the load holds of its cache's gates; none outside a cache.
  let permit: LoadPermit?

  /// The highest priority among those who wait for the picture at this moment; it may rise and fall
  /// during the load.
  public var priority: TaskPriority { urgency.priority.task }

  /// Creates a request of a priority that stays as it is.
  ///
  /// - Parameters:
  ///   - url: The picture's place.
  ///   - priority: How urgent it is.
  ///   - byteCountLimit: The most bytes that the answer may have.
  public init(url: URL, priority: TaskPriority = .medium, byteCountLimit: Int = 50 << 20) {
    self.init(url: url, urgency: Urgency(Priority(priority)), byteCountLimit: byteCountLimit)
  }

  init(
    url: URL, urgency: Urgency, byteCountLimit: Int, permit: LoadPermit? = nil
  ) {
    self.url = url
    self.urgency = urgency
    self.byteCountLimit = byteCountLimit
    self.permit = permit
  }

  /// The same request for another place, for a source that has another one load from there.
  ///
  /// ```swift
  /// try await web.load(request.with(url: signed), progress: progress)
  /// ```
  ///
  /// It keeps the load's place at its gate and goes on following its priority; a new request does
  /// neither.
  ///
  /// - Parameter url: Where the picture is.
  public func with(url: URL) -> ImageSourceRequest {
    ImageSourceRequest(
      url: url, urgency: urgency, byteCountLimit: byteCountLimit, permit: permit)
  }

  /// Waits at another gate, having left the present one: a source says what it is about to use at
  /// the moment when it needs it.
  ///
  /// ```swift
  /// if let bytes = try await disk.bytes(for: request.url) { return .encoded(bytes) }
  /// try await request.pass(.network)
  /// return .encoded(try await bucket.download(request.url))
  /// ```
  ///
  /// Returns at once if the load is inside that gate already, and for a request that was made outside
  /// a cache. A load that left its gate, since its source asked the cache for another picture, comes
  /// back so; while it still waits for that picture it waits for its turn and goes on without counting.
  /// The most urgent load is let in first. One task of a load calls this at a time: of two
  /// calls the later decides.
  ///
  /// - Parameter need: What the source uses from here on.
  /// - Throws: `CancellationError` when the task is cancelled while it waits, or when the load is over.
  public func pass(_ need: LoadNeed) async throws {
    try await permit?.pass(need)
  }
}

/// What a source brings.
public enum ImageSourceContent: Sendable {
  /// A picture file's bytes, recognised by what they begin with.
  case encoded(Data)

  /// Pixels that need no decoder.
  case bitmap(Bitmap)
}

/// How far one load has come.
public struct ImageSourceProgress: Hashable, Sendable {
  /// Bytes that have arrived.
  public var receivedByteCount: Int

  /// Bytes that will have arrived in the end, where that was announced.
  public var expectedByteCount: Int?

  /// Creates a report.
  public init(receivedByteCount: Int, expectedByteCount: Int? = nil) {
    self.receivedByteCount = receivedByteCount
    self.expectedByteCount = expectedByteCount
  }
}
