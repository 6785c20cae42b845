public import Foundation
package import LoadQueue

/// Several sources, asked in order until one brings the image.
///
/// ```swift
/// let bundled = ClosureImageSource { request in
///   .encoded(try Data(contentsOf: URL(fileURLWithPath: "/photos/\(request.url.lastPathComponent)")))
/// }
/// let source = ImageSourceChain([bundled, URLImageSource()])
/// ```
///
/// Progress starts anew with each source.
public struct ImageSourceChain: NeedNamingSource, IdleConnections {
  /// Why a chain brought nothing.
  public struct Failure: Error {
    /// One error from each source, in the order in which they were asked; empty for a chain without
    /// sources.
    public let errors: [any Error]
  }

  private let sources: [any ImageSource]

  /// Creates a chain.
  ///
  /// - Parameter sources: In the order of asking.
  public init(_ sources: [any ImageSource]) {
    self.sources = sources
  }

  /// The need of the first source; local for a chain without sources.
  package func need(for url: URL) -> LoadNeed {
    sources.first.map { LoadNeed(for: url, from: $0) } ?? .local
  }

  /// Brings the answer of the first source that succeeds.
  ///
  /// - Throws: ``Failure`` when every source failed; `CancellationError` when the task was cancelled
  ///   or a source threw it, and then no further source is asked.
  @concurrent
  public func response(to request: ImageSourceRequest) async throws -> ImageSourceResponse {
    var errors: [any Error] = []
    for source in sources {
      // Bytes that a local source has do not wait behind downloads.
      try await request.acquirePermit(LoadNeed(for: request.url, from: source))
      do {
        return try await source.response(to: request)
      } catch let cancellation as CancellationError {
        throw cancellation
      } catch let outOfReach as OutOfReach {
        throw outOfReach
      } catch {
        // A source may report its cancellation as any error.
        try Task.checkCancellation()
        errors.append(error)
      }
    }
    throw Failure(errors: errors)
  }

  package func closeIdleConnections() {
    for source in sources { (source as? any IdleConnections)?.closeIdleConnections() }
  }
}

extension ImageSourceChain.Failure: LocalizedError, CustomStringConvertible {
  /// The same as ``description``, so that `localizedDescription` says it too; in English.
  public var errorDescription: String? { description }

  /// A sentence, and one for each error.
  public var description: String {
    (["No source of the chain brought the image."] + errors.map(\.text)).joined(separator: " ")
  }
}
