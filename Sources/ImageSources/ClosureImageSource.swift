/// A source made from a closure.
///
/// ```swift
/// let source = ClosureImageSource { request in
///   .encoded(try Data(contentsOf: URL(fileURLWithPath: "/photos/\(request.url.lastPathComponent)")))
/// }
/// ```
public struct ClosureImageSource: ImageSource {
  /// ``ImageSource/response(to:)`` as a closure.
  public typealias Load =
    @concurrent @Sendable (ImageSourceRequest) async throws -> ImageSourceResponse

  private let load: Load

  /// Creates a source that asks `load` for every image.
  ///
  /// - Parameter load: Runs off every actor, several times at once; see
  ///   ``ImageSource/response(to:)``.
  public init(_ load: @escaping Load) {
    self.load = load
  }

  @concurrent
  public func response(to request: ImageSourceRequest) async throws -> ImageSourceResponse {
    try await load(request)
  }
}

extension ImageSource where Self == ClosureImageSource {
  /// A source made from a closure, where a source is expected.
  public static func closure(_ load: @escaping ClosureImageSource.Load) -> ClosureImageSource {
    ClosureImageSource(load)
  }
}
