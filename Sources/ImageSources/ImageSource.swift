package import Foundation
package import LoadQueue

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
