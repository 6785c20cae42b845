public import FastImageCache
public import Foundation
import Locking

/// A source that answers as a test or a preview says, when it says so, and counts what it is asked.
///
/// ```swift
/// import FastImageCacheTesting
///
/// let source = ScriptedImageSource { url in .bitmap(try .sample(ImageID(url))) }
/// source.holdLoads()
/// // A row that asks for its image shows its placeholder now.
/// source.releaseLoads(of: photo.url)
/// ```
///
/// Loads that are held wait until they are released or cancelled; no time passes by itself. They are
/// under way meanwhile, and a cache has no more of them under way than the `localWidth` and the
/// `networkWidth` of its ``LoadResources`` say. Any thread may call any method.
public final class ScriptedImageSource: ImageSource {
  public typealias Answer = @Sendable (URL) throws -> ImageSourceResponse

  private let script: Watched<LoadScript>
  private let answers: Lock<[URL: Result<ImageSourceResponse, any Error>]>
  private let otherwise: Answer

  /// Creates a source.
  ///
  /// - Parameter answer: Brings the image behind a URL of which nothing else is said, or throws what
  ///   keeps it away. By default that is ``ScriptedSourceError/noImage(_:)``. It must not wait.
  public convenience init(
    _ answer: @escaping Answer = { throw ScriptedSourceError.noImage($0) }
  ) {
    self.init(holdsAll: false, answer)
  }

  private init(holdsAll: Bool, _ answer: @escaping Answer) {
    script = Watched(LoadScript(holdsAll: holdsAll))
    answers = Lock([:])
    otherwise = answer
  }

  /// A source that does not answer a load until it is cancelled: placeholders stay.
  ///
  /// Its loads keep their turns at the cache's gates, as at ``holdLoads(of:)``.
  public static func silent() -> ScriptedImageSource {
    ScriptedImageSource(holdsAll: true) { throw ScriptedSourceError.noImage($0) }
  }

  /// A source whose loads fail at once.
  ///
  /// - Parameter error: What they throw; ``ScriptedSourceError/noImage(_:)`` by default.
  public static func refusing(with error: (any Error)? = nil) -> ScriptedImageSource {
    ScriptedImageSource { throw error ?? ScriptedSourceError.noImage($0) }
  }

  // MARK: What it answers

  /// Has loads of a URL bring this image, those that are held too.
  public func setImage(_ image: ImageSourceResponse, for url: URL) {
    answers.withLock { $0[url] = .success(image) }
  }

  /// Has loads of a URL fail, those that are held too.
  public func setFailure(_ error: any Error, for url: URL) {
    answers.withLock { $0[url] = .failure(error) }
  }

  // MARK: When it answers

  /// Lets loads that begin from now on wait until they are released.
  ///
  /// A load that is held keeps its turn at the cache's gate, as a slow one does. File URLs have
  /// as many turns as the `localWidth` of ``LoadResources`` says, by default four more than there are
  /// cores; a test that holds many loads of them gives the configuration resources with at least as many.
  ///
  /// - Parameter url: The image's place; `nil` for all.
  public func holdLoads(of url: URL? = nil) { script.change { $0.hold(url, true) } }

  /// Answers the loads that wait, and no more lets others wait.
  ///
  /// - Parameter url: The image's place; `nil` for all.
  public func releaseLoads(of url: URL? = nil) { script.change { $0.hold(url, false) } }

  // MARK: What it was asked

  /// Loads that have begun.
  ///
  /// - Parameter url: The image's place; `nil` for all together.
  public func loadCount(of url: URL? = nil) -> Int { script.value.counts(of: url).loads }

  /// Loads that were cancelled before they were answered, while they were held as a rule.
  ///
  /// - Parameter url: The image's place; `nil` for all together.
  public func cancellationCount(of url: URL? = nil) -> Int {
    script.value.counts(of: url).cancellations
  }

  /// Waits until that many loads have begun.
  ///
  /// A cache begins no more loads at a time than its limiters have permits; ``holdLoads(of:)`` says how to
  /// widen them. So a wait for more loads than that, all held, does not end.
  ///
  /// - Parameters:
  ///   - count: 1 by default.
  ///   - url: The image's place; `nil` for all together.
  /// - Throws: `CancellationError` when the task is cancelled, as it is at a test's time limit.
  public func hasBegunLoads(_ count: Int = 1, of url: URL? = nil) async throws {
    try await script.waits { $0.counts(of: url).loads >= count }
  }

  /// Waits until that many loads were cancelled before they were answered.
  ///
  /// - Parameters:
  ///   - count: 1 by default.
  ///   - url: The image's place; `nil` for all together.
  /// - Throws: `CancellationError` when the task is cancelled, as it is at a test's time limit.
  public func hasCancelledLoads(_ count: Int = 1, of url: URL? = nil) async throws {
    try await script.waits { $0.counts(of: url).cancellations >= count }
  }

  // MARK: ImageSource

  /// Answers a load as the script says.
  ///
  /// - Throws: What was set for the URL, and `CancellationError` when the task is cancelled while the
  ///   load is held.
  @concurrent
  public func response(to request: ImageSourceRequest) async throws -> ImageSourceResponse {
    let url = request.url
    script.change { $0.noteLoad(of: url) }
    do {
      try await script.waits { !$0.isHeld(url) }
    } catch {
      script.change { $0.noteCancellation(of: url) }
      throw error
    }
    guard let answer = answers.withLock({ $0[url] }) else { return try otherwise(url) }
    return try answer.get()
  }
}

/// Why a ``ScriptedImageSource`` brought no image.
public enum ScriptedSourceError: Error, Hashable, Sendable {
  /// The script says nothing of this URL.
  case noImage(URL)
}

extension ScriptedSourceError: LocalizedError, CustomStringConvertible {
  /// The same as ``description``, so that `localizedDescription` says it too; in English.
  public var errorDescription: String? { description }

  /// One sentence that names the URL.
  public var description: String {
    switch self {
    case .noImage(let url): "The script has no image for \(url.absoluteString)."
    }
  }
}
