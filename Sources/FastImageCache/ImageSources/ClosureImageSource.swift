/// A source made from a closure.
///
/// ```swift
/// let source = ClosureImageSource { request, _ in
///   .encoded(try Data(contentsOf: URL(fileURLWithPath: "/photos/\(request.url.lastPathComponent)")))
/// }
/// ```
public struct ClosureImageSource: ImageSource {
  /// ``ImageSource/load(_:progress:)`` as a closure.
  public typealias Load =
    @concurrent @Sendable (
      ImageSourceRequest, _ progress: @escaping @Sendable (ImageSourceProgress) -> Void
    ) async throws -> ImageSourceContent

  private let load: Load

  /// Creates a source that asks `load` for every picture.
  ///
  /// - Parameter load: Runs off every actor, several times at once; see
  ///   ``ImageSource/load(_:progress:)``.
  public init(_ load: @escaping Load) {
    self.load = load
  }

  @concurrent
  public func load(
    _ request: ImageSourceRequest, progress: @escaping @Sendable (ImageSourceProgress) -> Void
  ) async throws -> ImageSourceContent {
    try await load(request, progress)
  }
}

extension ImageSource where Self == ClosureImageSource {
  /// A source made from a closure, where a source is expected.
  public static func closure(_ load: @escaping ClosureImageSource.Load) -> ClosureImageSource {
    ClosureImageSource(load)
  }
}
