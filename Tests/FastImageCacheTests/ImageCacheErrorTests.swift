import FastImageCache
import Foundation
import TestSupport
import Testing

@Suite("An error of the cache", .timeLimit(.minutes(10)))
struct ImageCacheErrorTests {
  struct Broken: LocalizedError {
    var errorDescription: String? { "The moon is full." }
  }

  static let errors: [(ImageCacheError, values: [String])] = {
    let url = URL(fileURLWithPath: "/photos/7.jpg")
    return [
      (.unknownFormat("row"), ["row"]), (.duplicateFormat("row"), ["row"]),
      (.invalidFormat("row", reason: "its scale is 0"), ["row", "its scale is 0"]),
      (.invalidNamespace(""), ["0"]),
      (.noSourceURL(entity: "a", format: "row"), ["a", "row"]),
      (.sourceFailed(url, underlying: Broken()), ["/photos/7.jpg", "The moon is full."]),
      (.sourceFailed(url, underlying: ImageSourceError.httpStatus(404)), ["/photos/7.jpg", "404"]),
      (.undecodable(url, reason: .damaged("the header")), ["/photos/7.jpg", "the header"]),
      (.pictureTooLarge(url, "5 of 4 bytes"), ["/photos/7.jpg", "5 of 4 bytes"]),
      (
        .drawingFailed(entity: "a", format: "row", underlying: Broken()),
        ["a", "row", "The moon is full."]
      ),
      (.diskFull, ["disk"]), (.storageUnavailable("EIO"), ["EIO"]), (.cancelled, ["cancelled"]),
      (.closed, ["closed"]), (.protectedNow(format: "row"), ["row", "locked"]),
    ]
  }()

  @Test("is described to people in a sentence that names the offending values")
  func isDescribed() {
    for (error, values) in Self.errors {
      let text = (error as any Error).localizedDescription
      #expect(text == error.description)
      #expect(values.allSatisfy(text.contains), "\(text)")
    }
  }
}
