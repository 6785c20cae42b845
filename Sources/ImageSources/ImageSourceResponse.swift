public import Foundation
public import Pixels

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
