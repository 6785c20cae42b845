import Foundation
import TestSupport

@testable import FastImageCache

/// A cache in a directory of its own, above a source that the test scripts.
struct Fixture {
  let directory: TemporaryDirectory
  let source: ScriptedSource
  let cache: ImageCache

  init(
    _ formats: [ImageFormat] = [.row], source: ScriptedSource = ScriptedSource(),
    directory: TemporaryDirectory? = nil, device: ImageFormat.Devices = .desktop,
    configure: (inout ImageCache.Configuration) -> Void = { _ in }
  ) async throws {
    self.source = source
    let directory = try directory ?? TemporaryDirectory()
    self.directory = directory
    var configuration = ImageCache.Configuration()
    configuration.directory = directory.url
    configuration.source = source
    configuration.device = device
    configure(&configuration)
    cache = try await ImageCache(
      namespace: "test", formats: formats, configuration: configuration)
  }

  init(
    _ formats: [ImageFormat] = [.row], from encoded: any ImageSource,
    originals: MemoryOriginals? = nil, directory: TemporaryDirectory? = nil,
    configure: (inout ImageCache.Configuration) -> Void = { _ in }
  ) async throws {
    try await self.init(formats, directory: directory) { configuration in
      configuration.source = encoded
      if let originals { configuration.keeper = originals }
      configure(&configuration)
    }
  }

  /// A cache whose source waits at a gate.
  static func gated(
    _ formats: [ImageFormat] = [.row]
  ) async throws -> (fixture: Fixture, gate: CancellableGate) {
    let gate = CancellableGate()
    return (try await Fixture(formats, source: ScriptedSource(gate: gate)), gate)
  }

  /// A cache whose source on a network waits at a gate.
  static func gatedNetwork(
    _ formats: [ImageFormat] = [.row], originals: MemoryOriginals? = nil
  ) async throws -> (fixture: Fixture, source: EncodedSource, gate: CancellableGate) {
    let gate = CancellableGate()
    let source = EncodedSource(gate: gate)
    return (try await Fixture(formats, from: source, originals: originals), source, gate)
  }

  /// The image of an entity, loaded if need be.
  @discardableResult
  nonisolated(nonsending) func image(
    _ entity: some ImageEntity, _ format: ImageFormat = .row, _ options: LoadOptions? = nil
  ) async throws(ImageCacheError) -> CachedImage {
    guard let options else { return try await cache.image(for: entity, format: format) }
    return try await cache.image(for: entity, format: format, options: options)
  }

  /// Waits until that many callers and streams wait for loads, or the test's time is over.
  func subscribers(_ count: Int) async {
    while await cache.statistics().pendingRequests != count, !Task.isCancelled {
      await Task.yield()
    }
  }

  /// Waits until no load is under way, or the test's time is over.
  func quiet() async {
    while await cache.statistics().activeLoads != 0, !Task.isCancelled { await Task.yield() }
  }
}

extension Error {
  /// Whether this is how the cache tells a cancelled task of its cancellation.
  var isCancelled: Bool {
    if case .cancelled? = self as? ImageCacheError { true } else { false }
  }
}

/// A source that does what a test says, and counts what it was asked.
final class ScriptedSource: ImageSource {
  let started = Counter()
  let cancelled = Counter()
  private let answer: @Sendable (URL, _ call: Int, Report) async throws -> ImageSourceResponse

  typealias Report = @Sendable (ImageSourceProgress) -> Void

  /// - Parameter answer: Called for each load with the number of the call, the first being 1.
  init(
    _ answer: @escaping @Sendable (URL, _ call: Int, Report) async throws -> ImageSourceResponse
  ) {
    self.answer = answer
  }

  /// Waits at `gate`, if there is one, and delivers a solid image of the number in the URL.
  convenience init(gate: CancellableGate? = nil) {
    self.init { url, _, _ in
      try await gate?.pass()
      return .bitmap(try solid(Int(url.lastPathComponent) ?? 0))
    }
  }

  func response(to request: ImageSourceRequest) async throws -> ImageSourceResponse {
    let call = started.increment()
    do {
      return try await answer(request.url, call, request.report)
    } catch let error as CancellationError {
      cancelled.increment()
      throw error
    }
  }
}
