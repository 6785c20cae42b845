import Testing

@Suite("A snippet", .serialized, .timeLimit(.minutes(10)))
struct SnippetTests {
  @Test("compiles as a program of its own, and where the main actor is the default isolation")
  func compiles() async throws {
    let snippets = Snippet.all.filter(\.isDeclaring)
    let refusals = try await SnippetCompiler.use { compiler in
      try snippets.flatMap { snippet in
        try snippet.isolations.map { try compiler.check(snippet, $0) }
      }.filter { !$0.isAccepted }
    }

    #expect(snippets.count > 30)
    for refusal in refusals { Issue.record("\(refusal.text)") }
  }

  @Test("of statements compiles in a scope of its own")
  func compilesInScope() async throws {
    let verdict = try await SnippetCompiler.use { compiler in
      try compiler.check(scopesOf: Snippet.all.filter { !$0.isDeclaring })
    }

    #expect(verdict.isAccepted, "\(verdict.text)")
  }

  @Test("is refused when the library has no such thing, or only another snippet has")
  func isRefused() async throws {
    let codes = [
      "show(image)",
      "_ = try await cache.photograph(for: photo, format: .row)",
      "let text: String = cache.cachedImage(for: photo, format: .row)",
      "let image = cache.image(for: photo, format: .row)",
      "cache.cachedImage(for: photo, format: .row)",
    ]
    let other = Snippet(path: "Other.md", line: 1, code: "let image = 1\n")
    let verdicts = try await SnippetCompiler.use { compiler in
      try codes.flatMap { code in
        let snippet = Snippet(path: "Example.md", line: 7, code: code + "\n")
        return [try compiler.check(snippet), try compiler.check(scopesOf: [other, snippet])]
      }
    }

    #expect(verdicts.count == 10)
    for verdict in verdicts {
      #expect(!verdict.isAccepted)
      #expect(verdict.text.contains("Example.md:7"), "\(verdict.text)")
      #expect(!verdict.text.contains("Other.md:1:1: error"))
    }
  }

  @Test("is refused in one mode only, if it is fit for that mode only")
  func isRefusedByIsolation() async throws {
    let code = """
      extension ImageFormat {
        static let dot = ImageFormat(
          name: "dot", size: .exact(PixelSize(width: 4, height: 4)), capacity: 9)
      }
      nonisolated func dots() -> [ImageFormat] { [.dot] }
      """
    let snippet = Snippet(path: "Example.md", line: 7, code: code + "\n")
    let verdicts = try await SnippetCompiler.use { compiler in
      [try compiler.check(snippet), try compiler.check(snippet, .mainActor)]
    }

    #expect(snippet.isolations == [.none, .mainActor])
    #expect(verdicts.map(\.isAccepted) == [true, false])
  }

  @Test("is not the code of another library, whose fence names it")
  func isOurs() {
    let text = "```swift Nuke\nlet a = 1\n```\n\n```swift\nlet b = 2\n```\n"
    let snippets = Snippet.snippets(
      in: text.split(separator: "\n", omittingEmptySubsequences: false), path: "a.md")

    #expect(snippets.map(\.code) == ["let b = 2\n"])
  }

  @Test("is left to the check with stand-ins if it imports a toolkit of Apple's")
  func isForApple() {
    let codes = [
      "import FastImageCacheUI\nimport SwiftUI\n", "import UIKit\n", "import Foundation\n",
    ]
    let snippets = codes.map { Snippet(path: "Example.md", line: 7, code: $0) }

    #expect(snippets.map(\.isForApple) == [true, true, false])
    #expect(Snippet.all.allSatisfy { !$0.isForApple })
  }

  @Test(
    "leaves its fence to another library on migration pages only, and to a trait",
    arguments: Document.all)
  func namesNoOther(document: Document) throws {
    guard !document.path.hasPrefix("Docs/Migration/") else { return }

    #expect(
      try document.lines().allSatisfy { line in
        // `.ci/windows` compiles these.
        line == "```swift GTK" || !line.drop { $0 == " " }.hasPrefix("```swift ")
      })
  }

  @Test(
    "is found in the documents that teach by code, and in the reference of each module that users import",
    arguments: [
      "README.md", "Sources/FastImageCache/FastImageCache.docc/GettingStarted.md",
      "Sources/FastImageCache/Model/ImageEntity.swift",
      "Sources/FastImageCacheTesting/ScriptedImageSource.swift",
      "Sources/ImageCodecs/Encoding/ImageEncoder.swift", "Sources/ImageDrawing/Drawing.swift",
      "Sources/Pixels/PixelSize.swift",
    ])
  func isFound(path: String) {
    #expect(Snippet.all.contains { $0.path == path })
  }
}
