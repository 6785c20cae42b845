public import Foundation

/// The head of a server's answer, as far as it tells how an original may be kept, resumed and
/// revalidated.
public struct OriginalTerms: Hashable, Sendable {
  /// The number of bytes of the whole original, where the server announced it.
  public var byteCount: Int?

  /// `ETag` as it was sent, with its quotes and, for a weak one, its `W/`; RFC 9110 section 8.8.3.
  public var entityTag: String?

  /// `Last-Modified` as it was sent; RFC 9110 section 8.8.2.
  public var lastModified: String?

  /// The moment at which the head arrived, by this machine's clock.
  public var received: Date

  /// Creates terms of a server that said nothing.
  public init(received: Date) { self.received = received }
}
