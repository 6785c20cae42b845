import FastImageCache
import Foundation
import Testing

@Suite("A data URL source", .timeLimit(.minutes(10)))
struct DataURLSourceTests {
  @Test(
    "brings the bytes",
    arguments: [
      ("data:,abc", "abc"),
      ("data:text/plain,a%20b%2C", "a b,"),
      ("data:image/png;base64,YWJj", "abc"),
      ("DATA:image/png;BASE64,YWJj", "abc"),
      ("data:image/svg+xml;charset=utf-8;base64,YWJjZA==", "abcd"),
      ("data:;base64,YWJjZA", "abcd"),
      ("data:;base64,YW%0AJj%20ZA%3D%3D", "abcd"),
      ("data:;base64,", ""),
      ("data:,", ""),
      ("data:base64,YWJj", "YWJj"),
      ("data:;base64;charset=utf-8,YWJj", "YWJj"),
      ("data:,abc#def", "abc"),
      ("data:,a,b;c?d=e", "a,b;c?d=e"),
      ("data:image/png; base64,YWJj", "abc"),
      ("data:image/png;  BASE64  ,YWJj", "abc"),
      ("data: ;base64 ,YWJj", "abc"),
      ("data:;charset=utf-8; base64,YWJj", "abc"),
      ("data:base64 ,YWJj", "YWJj"),
      ("data:;base64x,YWJj", "YWJj"),
      ("data:;base 64,YWJj", "YWJj"),
      ("data:;base64,YWJ=", "ab"),
      ("data:;base64,YWK", "ab"),
      ("data:;base64,YWI%3d", "ab"),
      ("data:; base64,YWI%3D", "ab"),
      ("data:,100%", "100%"),
      ("data:,%4", "%4"),
      ("data:,%zz", "%zz"),
    ])
  func bytesOf(_ text: String, _ expected: String) async throws {
    let url = try #require(URL(string: text))
    #expect(try await bytes(url) == Data(expected.utf8))
  }

  @Test("brings every byte value in both forms")
  func allBytes() async throws {
    let all = Data((0...255).map { UInt8($0) })
    let escaped = all.map { String(format: "%%%02x", $0) }.joined()
    #expect(try await bytes(try #require(URL(string: "data:,\(escaped)"))) == all)
    let base64 = "data:;base64,\(all.base64EncodedString())"
    #expect(try await bytes(try #require(URL(string: base64))) == all)
  }

  @Test(
    "says what is wrong with one that contradicts its form",
    arguments: [
      "data:", "data:image/png;base64", "data:;base64,a", "data:;base64,YW=Jj", "data:a#b,c",
      "data:;base64,====", "data:;base64,YQ=", "data:;base64,YWJjZ=", "data:;base64,YQ%3D%3D%3D",
      "data:;base64,YW-_",
    ])
  func invalid(_ text: String) async throws {
    let url = try #require(URL(string: text))
    await #expect {
      try await bytes(url)
    } throws: {
      if case .invalidDataURL? = $0 as? ImageSourceError { true } else { false }
    }
  }

  @Test(
    "takes exactly the limit and refuses one byte more",
    arguments: ["data:,abcd", "data:,%61%62%63%64", "data:;base64,YWJjZA=="])
  func limit(_ text: String) async throws {
    let url = try #require(URL(string: text))
    #expect(try await bytes(url, limit: 4) == Data("abcd".utf8))
    await #expect(throws: ImageSourceError.tooLarge(byteCountLimit: 3)) {
      try await bytes(url, limit: 3)
    }
  }
}
