import Foundation
import Testing

@testable import FastImageCache

@Suite("A memory of failures", .timeLimit(.minutes(10)))
struct FailureMemoryTests {
  private let start = ContinuousClock.now
  private let error = ImageCacheError.undecodable(nil, reason: .truncated)
  private var memory = FailureMemory(for: .seconds(10), limit: 3)

  private func name(_ number: Int, version: ImageID = "1") -> FailureMemory.Name {
    let url = URL(fileURLWithPath: "/\(number)")
    return FailureMemory.Name(loadKey: .url(url), version: version)
  }

  private mutating func note(
    _ number: Int, _ error: ImageCacheError? = nil, entity: ImageID = "a", load: Int = 1,
    after seconds: Int = 0
  ) {
    memory.note(
      error ?? self.error, of: name(number), for: entity, load: load, at: start + .seconds(seconds))
  }

  private mutating func refuses(
    _ number: Int, entity: ImageID = "a", version: ImageID = "1", after seconds: Int = 0
  ) -> Bool {
    memory.refusal(
      of: name(number, version: version), for: entity, at: start + .seconds(seconds)) == error
  }

  @Test("keeps no more than its limit, and asks again for an address that everything has")
  mutating func isBounded() {
    for number in 1...4 { note(number, after: number) }
    #expect(memory.count == 3 && !refuses(1))
    for number in 5...6 { note(number, after: 13) }
    #expect(memory.count == 3)
    #expect(refuses(6, after: 13) && !refuses(3, after: 13))
    for entity in ["a", "b", "c"] { #expect(refuses(6, entity: ImageID(entity), after: 13)) }
    #expect(!refuses(6, entity: "d", after: 13))
  }

  @Test("remembers errors that come back, and no others")
  mutating func choosesErrors() async {
    func failed(_ error: any Error) -> ImageCacheError { .sourceFailed(nil, underlying: error) }
    let definite: [ImageCacheError] = [
      error, failed(ImageSourceError.httpStatus(404)), failed(ImageSourceError.httpStatus(410)),
      failed(ImageSourceError.notFound(path: "/1")),
      failed(await chained(ImageSourceError.offline, ImageSourceError.httpStatus(404))),
    ]
    let passing: [ImageCacheError] =
      [
        .cancelled, .undecodable(nil, reason: .outOfMemory), .undecodable(nil, reason: .cancelled),
        .imageTooLarge(nil, ""), failed(ImageSourceError.offline),
        failed(ImageSourceError.timedOut(after: .seconds(1))),
        failed(ImageSourceError.network("reset")), failed(CancellationError()),
        failed(await chained(ImageSourceError.httpStatus(404), ImageSourceError.offline)),
      ] + [401, 403, 408, 429, 500, 503].map { failed(ImageSourceError.httpStatus($0)) }
    for error in definite + passing {
      #expect(error.isDefinite == definite.contains(error), "\(error)")
    }
    for error in passing { note(1, error) }
    #expect(memory.count == 0)
  }

  /// The failure of a chain whose sources fail so.
  private func chained(_ errors: ImageSourceError...) async -> any Error {
    let chain = ImageSourceChain(errors.map { error in ClosureImageSource { _ in throw error } })
    let request = ImageSourceRequest(url: URL(fileURLWithPath: "/1"))
    do { _ = try await chain.response(to: request) } catch { return error }
    return CancellationError()
  }
}
