import Foundation
import LoadQueue

/// Images behind `file`, `data`, `https` and `http` URLs: the default source.
///
/// Files are read, and data URLs decoded, on threads that may block. A web server's answer counts only when it is
/// complete. Requests that fail are sent again (``HTTPOptions/retry``), and a download that broke off is continued
/// (``HTTPOptions/resumes``). Where a cache keeps the original or a part of it, the server is asked only for the rest,
/// or only whether it changed. What is in a table is not asked about again.
///
/// Requests of a cache tell servers which kinds of images its decoders read (`Accept`), so that a server with AVIF or
/// WebP files may send them. ``LoadOptions/headers`` and ``HTTPOptions/modifyRequest`` replace the field.
///
/// ```swift
/// actor Tokens {
///   func current() async throws -> String { "…" }
/// }
///
/// let tokens = Tokens()
/// var http = HTTPOptions()
/// http.modifyRequest = { request in
///   var request = request
///   if request.url.host == "photos.example.com" {
///     request.headers["Authorization"] = "Bearer \(try await tokens.current())"
///   }
///   return request
/// }
/// let source = URLImageSource(http: http)
/// ```
///
/// Copies share connections and threads, which end with the last copy.
public struct URLImageSource: ImageSource, IdleConnections {
  /// Few, since a disk gains little from more; several, so that a slow volume does not hold up the
  /// others.
  private static let fileWorkerCount = 3

  private let files: WorkerPool
  let client: HTTPClient

  /// Creates a source; it connects to nothing yet.
  ///
  /// - Parameter http: How web servers are talked to.
  public init(http: HTTPOptions = HTTPOptions()) {
    self.init(http: http, clock: ContinuousClock())
  }

  init(
    http: HTTPOptions, clock: any TimeoutClock,
    random: @escaping @Sendable () -> Double = { .random(in: 0...1) }
  ) {
    // Without a budget: a file's bytes live on, for the decoder, when its reading is over.
    files = WorkerPool(name: "FastImageCache.files", width: Self.fileWorkerCount)
    client = HTTPClient(options: http, clock: clock, random: random)
  }

  /// Fetches an image file's bytes.
  ///
  /// - Throws: ``ImageSourceError``, what ``HTTPOptions/modifyRequest`` throws, and
  ///   `CancellationError` when the task is cancelled.
  @concurrent
  public func response(to request: ImageSourceRequest) async throws -> ImageSourceResponse {
    let (url, limit) = (request.url, request.byteCountLimit)
    switch url.scheme?.lowercased() {
    case "file":
      let path = try LocalPath(url)
      return .encoded(
        try await read(request) { isCancelled in
          try FileReader.read(
            path, limit: limit, isCancelled: isCancelled, progress: request.report)
        })
    case "data":
      return .encoded(
        try await read(request) { _ in
          try DataURL.bytes(of: url, limit: limit)
        })
    case "http", "https":
      return try await HTTPLoad(client, request).response()
    case let scheme:
      throw ImageSourceError.unsupportedScheme(scheme ?? "")
    }
  }

  package func closeIdleConnections() { client.connections.closeIdle() }

  private func read(
    _ request: ImageSourceRequest,
    _ body: @escaping @Sendable (@escaping @Sendable () -> Bool) throws -> Data
  ) async throws -> Data {
    do {
      return try await files.run(urgency: request.urgency, body)
    } catch {
      throw error.reason
    }
  }
}
