package import Foundation
import Locking

/// A part or the whole of an original that is kept already, for a source that may ask the server only
/// for the rest, or only whether it changed.
package struct KnownOriginal: Sendable {
  /// The head that came with the bytes.
  package let terms: ResponseMetadata

  /// The first bytes of the original, or all of them.
  package let bytes: Data

  /// Whether ``bytes`` is the whole original.
  package let isWhole: Bool

  /// How a store knows these bytes again; `nil` where they are of no store.
  package var body: UInt64?

  /// Whether they are of the version that is wanted; others answer only once their server was asked.
  package var isOfVersion = true

  /// How many of the bytes earlier loads have left.
  package var earlierByteCount: Int

  /// Creates a known original.
  package init(terms: ResponseMetadata, bytes: Data, isWhole: Bool) {
    (self.terms, self.bytes, self.isWhole) = (terms, bytes, isWhole)
    earlierByteCount = bytes.count
  }
}

/// The bytes of an original on their way: a source appends them, and what has arrived outlives a
/// failure or a cancellation of the source.
package final class DownloadBuffer: Sendable {
  /// The head of the answer whose bytes these are.
  package let terms: ResponseMetadata

  /// How many of the first bytes came with an earlier answer.
  private let knownByteCount: Int

  /// How many of the first bytes earlier loads have left.
  package let earlierByteCount: Int

  /// Called after each append, with the new bytes, on its thread and under no lock.
  private let didAppend: (@Sendable (DownloadBuffer, Data) -> Void)?

  private let content: Lock<Data>
  private let byteCountLimit: Int

  package init(
    _ terms: ResponseMetadata, continuing known: KnownOriginal? = nil, byteCountLimit: Int,
    didAppend: (@Sendable (DownloadBuffer, Data) -> Void)? = nil
  ) {
    (self.terms, self.byteCountLimit, self.didAppend) = (terms, byteCountLimit, didAppend)
    var content = known?.bytes ?? Data()
    knownByteCount = content.count
    earlierByteCount = known?.earlierByteCount ?? 0
    // Otherwise the bytes are copied each time they have doubled.
    content.reserveCapacity(max(0, min(terms.byteCount ?? 0, byteCountLimit)))
    self.content = Lock(content)
  }

  /// How many bytes have arrived, those of an earlier download included.
  package var byteCount: Int { content.withLock { $0.count } }

  /// Whether the first bytes came with an earlier answer.
  package var isContinued: Bool { knownByteCount > 0 }

  /// How many bytes came with this answer.
  package var newByteCount: Int { byteCount - knownByteCount }

  /// The bytes that have arrived; a copy is made only when more arrive.
  package var bytes: Data { content.withLock { $0 } }

  /// A copy of some bytes; `nil` before all of them have arrived. Sharing them would copy all bytes when
  /// the next ones come.
  package func copy(_ range: Range<Int>) -> Data? {
    content.withLock { content in
      range.upperBound <= content.count ? content.withUnsafeBytes { Data($0[range]) } : nil
    }
  }

  /// What has arrived, where a later load can continue it or ask whether it is still the present one.
  ///
  /// - Parameter headers: The fields that the load asked for.
  package func partial(askedWith headers: [String: String] = [:]) -> KnownOriginal? {
    let bytes = bytes
    var terms = terms
    terms.recordRequest(headers)
    guard terms.mayBeContinued, let total = terms.byteCount, !bytes.isEmpty, bytes.count <= total
    else { return nil }
    // A copy: a buffer reserves room for the whole original.
    let copy = bytes.withUnsafeBytes { Data($0) }
    return KnownOriginal(terms: terms, bytes: copy, isWhole: bytes.count == total)
  }

  /// Takes the next bytes, from one thread at a time.
  ///
  /// - Throws: ``ImageSourceError/tooLarge(byteCountLimit:)``, and takes nothing then.
  package func append(_ bytes: Data) throws(ImageSourceError) {
    try take(bytes)
    tell(of: bytes)
  }

  /// As ``append(_:)``, for a caller that holds a lock: it calls ``tell(of:)`` once the lock is free.
  func take(_ bytes: Data) throws(ImageSourceError) {
    let fits = content.withLock { content in
      let fits = bytes.count <= byteCountLimit - content.count
      if fits { content.append(bytes) }
      return fits
    }
    guard fits else { throw .tooLarge(byteCountLimit: byteCountLimit) }
  }

  /// Tells whoever watches of bytes that were taken, in their order.
  func tell(of bytes: Data) { didAppend?(self, bytes) }
}
