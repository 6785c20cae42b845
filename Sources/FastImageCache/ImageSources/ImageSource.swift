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
/// A cache asks once per URL however many requests wait for it. Loads run beside each other, never
/// on an actor of the cache.
public protocol ImageSource: Sendable {
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

/// What one load is to bring.
public struct ImageSourceRequest: Sendable {
  /// The picture's place.
  public let url: URL

  /// The most bytes that the answer may have; a source stops when it meets more.
  public let byteCountLimit: Int

  /// How urgent the flight is on whose behalf this is loaded.
  package let urgency: Urgency

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

  package init(url: URL, urgency: Urgency, byteCountLimit: Int) {
    self.url = url
    self.urgency = urgency
    self.byteCountLimit = byteCountLimit
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
