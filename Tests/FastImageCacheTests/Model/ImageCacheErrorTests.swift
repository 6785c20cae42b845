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

  static let errors: [(ImageCacheError, values: [String])] = {
    let url = URL(fileURLWithPath: "/photos/7.jpg")
    return [
      (.unknownFormat("row"), ["row"]), (.duplicateFormat("row"), ["row"]),
      (.invalidFormat("row", reason: "its scale is 0"), ["row", "its scale is 0"]),
      (.invalidNamespace(""), ["0"]),
      (.noSourceURL(entity: "a", format: "row"), ["a", "row"]),
      (.notCached(entity: "a", format: "row"), ["a", "row", "scope"]),
      (.timedOut(entity: "a", format: "row", after: .seconds(3)), ["a", "row", "3"]),
      (.sourceFailed(url, underlying: Broken()), ["/photos/7.jpg", "The moon is full."]),
      (.sourceFailed(url, underlying: ImageSourceError.httpStatus(404)), ["/photos/7.jpg", "404"]),
      (.undecodable(url, reason: .damaged("the header")), ["/photos/7.jpg", "the header"]),
      (.imageTooLarge(url, "5 of 4 bytes"), ["/photos/7.jpg", "5 of 4 bytes"]),
      (
        .drawingFailed(entity: "a", format: "row", underlying: Broken()),
        ["a", "row", "The moon is full."]
      ),
      (.willStoreFailed(entity: "a", underlying: Broken()), ["entity a", "The moon is full."]),
      (.willStoreFailed(entity: nil, underlying: Broken()), ["an image", "The moon is full."]),
      (.noImageID(format: "row"), ["row", "willStore"]),
      (.diskFull, ["disk"]), (.storageUnavailable("EIO"), ["EIO"]), (.cancelled, ["cancelled"]),
      (.closed, ["closed"]), (.protectedDataUnavailable(format: "row"), ["row", "locked"]),
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

  @Test("equals errors of its case and values, whose underlying errors say the same")
  func isEquatable() {
    for (number, (error, _)) in Self.errors.enumerated() {
      for (other, (second, _)) in Self.errors.enumerated() {
        #expect((error == second) == (number == other), "\(error) \(second)")
      }
    }
    #expect(ImageCacheError.unknownFormat("a") != .unknownFormat("b"))
    let url = URL(fileURLWithPath: "/a")
    #expect(
      ImageCacheError.sourceFailed(url, underlying: ImageSourceError.httpStatus(404))
        != .sourceFailed(url, underlying: ImageSourceError.httpStatus(403)))
  }

  @Test(
    "of a source is a sentence, with the words that help",
    arguments: [
      (.unsupportedScheme(""), ["no scheme", "URL(fileURLWithPath:)"]),
      (.unsupportedScheme("ftp"), ["ftp"]),
      (
        .insecureHTTPRefused(URL(fileURLWithPath: "/a")),
        ["file:///a", "HTTPOptions.allowsInsecureHTTP"]
      ),
      (.truncatedBody(received: 12, expected: 914), ["12 of 914 bytes"]),
      (.truncatedBody(received: 12, expected: nil), ["12 bytes"]),
      (.timedOut(after: .seconds(60)), ["60"]), (.tooLarge(byteCountLimit: 5), ["5 bytes"]),
      (.notFound(path: "/a"), ["/a"]), (.unreadable(path: "/a", reason: "b."), ["/a", "b."]),
      (.invalidHeader("a"), ["a"]), (.reservedHeader("Range"), ["\"Range\""]),
      (.invalidDataURL("a."), ["a."]), (.network("a."), ["a."]),
      (.serverNotTrusted("a.example"), ["a.example", "HTTPOptions.serverTrust"]),
      (.offline, ["network"]), (.networkRefused, ["does not allow"]),
      (.tooManyRedirects(limit: 5), ["5"]), (.httpStatus(418), ["418"]),
      (
        .redirectRefused(from: URL(fileURLWithPath: "/a"), to: URL(fileURLWithPath: "/b")),
        ["/a", "/b"]
      ),
    ] as [(ImageSourceError, [String])])
  func describesSources(error: ImageSourceError, words: [String]) {
    let text = (error as any Error).localizedDescription
    #expect(text == "\(error)" && text.hasSuffix("."))
    #expect(words.allSatisfy(text.contains) && !text.contains("Optional"), "\(text)")
    let outer = ImageCacheError.sourceFailed(nil, underlying: error)
    #expect(outer.description.hasSuffix(text))
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
