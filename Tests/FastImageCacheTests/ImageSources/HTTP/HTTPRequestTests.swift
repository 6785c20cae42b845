import Foundation
import Testing

@testable import FastImageCache
@testable import ImageSources

@Suite("A request to a web server", .timeLimit(.minutes(10)))
struct HTTPRequestTests {
  private func request(_ headers: [String: String]) throws -> HTTPRequest {
    HTTPRequest(url: try #require(URL(string: "https://example.com/a")), headers: headers)
  }

  @Test("is equal to one of the same address and headers, whoever asked first")
  func equality() throws {
    let first = try request(["A": "1"])
    var second = first
    second.firstEntity = 7
    #expect(first == second && Set([first, second]).count == 1)
    second.headers["A"] = "2"
    #expect(first != second)
    second = first
    second.url.appendPathComponent("b")
    #expect(first != second)
  }

  @Test("keeps of the named fields none that another case replaces")
  func replacement() throws {
    var request = try request([
      "User-Agent": "1", "user-agent": "2", "Accept": "3", "X-A": "4", "x-a": "5",
    ])
    request.dropReplaced(["User-Agent", "Accept"])
    #expect(request.headers == ["user-agent": "2", "Accept": "3", "X-A": "4", "x-a": "5"])
  }
}
