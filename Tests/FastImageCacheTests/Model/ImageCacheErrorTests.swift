import Foundation
import TestSupport
import Testing

@testable import FastImageCache
@testable import ImageSources

@Suite("An error of the cache", .timeLimit(.minutes(10)))
struct ImageCacheErrorTests {
  struct Broken: LocalizedError {
    var errorDescription: String? { "The moon is full." }
  }

  @Test("equals errors of its case and values, whose underlying errors say the same")
  func isEquatable() {
    let url = URL(fileURLWithPath: "/photos/7.jpg")
    let errors: [ImageCacheError] = [
      .unknownFormat("a"), .unknownFormat("b"), .duplicateFormat("a"), .cancelled,
      .sourceFailed(url, underlying: Broken()),
      .sourceFailed(url, underlying: ImageSourceError.httpStatus(404)),
      .sourceFailed(url, underlying: ImageSourceError.httpStatus(403)),
      .sourceFailed(nil, underlying: ImageSourceError.httpStatus(403)),
    ]
    for (number, error) in errors.enumerated() {
      #expect(errors.indices.filter { errors[$0] == error } == [number])
    }
    for error in errors as [any Error] + [ImageSourceError.httpStatus(418)] {
      #expect(error.localizedDescription == "\(error)")
    }
  }

  @Test("has the status of the web server that answered last")
  func hasStatus() {
    let chain = ImageSourceChain.Failure(
      errors: [
        ImageSourceError.httpStatus(503), ImageSourceError.httpStatus(404),
        ImageSourceError.notFound(path: "/a"),
      ])
    let failed = ImageCacheError.sourceFailed(nil, underlying: ImageSourceError.httpStatus(418))
    #expect(failed.httpStatus == 418)
    #expect(ImageCacheError.sourceFailed(nil, underlying: chain).httpStatus == 404)
    #expect(ImageCacheError.sourceFailed(nil, underlying: Broken()).httpStatus == nil)
    #expect(ImageCacheError.cancelled.httpStatus == nil)
  }
}
