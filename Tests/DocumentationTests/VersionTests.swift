import Foundation
import Testing

@Suite("The version", .timeLimit(.minutes(10)))
struct VersionTests {
  private func firstMatch(_ pattern: Regex<(Substring, Substring)>, in path: String) throws
    -> String
  {
    let text = try String(contentsOf: Document.root.appendingPathComponent(path), encoding: .utf8)
    return String(try #require(text.firstMatch(of: pattern)).1)
  }

  @Test("is the same in the library, the changelog and the README")
  func isOne() throws {
    let version = try firstMatch(
      /static let text = "([^"]*)"/, in: "Sources/ImageSources/LibraryVersion.swift")
    // The newest section stands first.
    #expect(try firstMatch(/\n## (\d+\.\d+\.\d+)/, in: "CHANGELOG.md") == version)
    #expect(try firstMatch(/FastImageCache\.git", from: "([^"]*)"/, in: "README.md") == version)
  }
}
