import FastImageCache
import Foundation
import TestSupport

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
