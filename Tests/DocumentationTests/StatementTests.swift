import Foundation
import Testing

/// Sentences that a change of the code elsewhere makes false.
@Suite("A statement of the documents", .timeLimit(.minutes(10)))
struct StatementTests {
  private func text(of path: String) throws -> String {
    try String(contentsOf: Document(path: path).url, encoding: .utf8)
  }

  @Test("has one command that scrolls a list, and one that runs the tests as the stage does")
  func testsOneself() throws {
    let commands = try text(of: "README.md").split(separator: "\n").filter {
      $0.hasPrefix(".ci/install")
    }
    #expect(commands.contains { $0.contains("&& swift run -c release imagecache scroll") })
    let stage = try #require(
      try text(of: ".ci/run").firstMatch(of: /\ntests\(\) \{ (.*); \}\n/))
    #expect(commands.contains { $0 == ".ci/install && \(stage.1)" })
  }

  @Test("names the steps of a load and the verbs of a window to users of Nuke")
  func namesCases() throws {
    let page = try text(of: "Docs/Migration/Nuke.md")
    let source = try text(of: "Sources/FastImageCache/Model/ImageProgress.swift")
    let cases = try #require(source.firstMatch(of: /enum ImageProgress[^}]*/)).0
    let names = cases.matches(of: /\n  case (\w+)/).map { String($0.1) }
    #expect(names.count == 9)
    for name in names { #expect(page.contains("`.\(name)`"), "\(name)") }
    let window = try text(of: "Sources/FastImageCache/Cache/Prefetching/PrefetchWindow.swift")
    let verbs = window.matches(of: /\n  public func (\w+)/).map { String($0.1) }
    #expect(verbs.count == 3)
    for verb in verbs { #expect(page.contains("`\(verb)("), "\(verb)") }
  }

  @Test(
    "names three ids to users whose library has one key",
    arguments: [
      ("Kingfisher", "`cacheKey`"), ("SDWebImage", "`cacheKeyFilter`"), ("Nuke", "`cacheKey`"),
    ])
  func namesIDs(library: String, key: String) throws {
    let rows = try text(of: "Docs/Migration/\(library).md").split(separator: "\n").filter {
      $0.hasPrefix("| ") && $0.contains(key)
    }
    #expect(!rows.isEmpty)
    for row in rows {
      for id in ["`imageID`", "`versionID(for:)`", "`originalID(for:)`"] {
        #expect(row.contains(id), "\(row)")
      }
    }
  }

  @Test("calls no chain of sources what asks other addresses")
  func namesAlternatives() throws {
    let rows = try text(of: "Docs/Migration/Kingfisher.md").split(separator: "\n")
    let row = try #require(rows.first { $0.contains("`.alternativeSources(_:)`") })
    #expect(row.contains("`request.with(url:)`"))
  }

  @Test("shows a closure with a canvas, and an awaited size, in the first article")
  func showsCalls() throws {
    let snippets = Snippet.all.filter { $0.path.hasSuffix("/GettingStarted.md") }
    #expect(
      snippets.contains { $0.code.contains("Drawing.custom { ") && $0.code.contains("canvas.") })
    #expect(snippets.contains { $0.code.contains("await ImageCache.diskUsage(") })
  }

  @Test("calls what stores by a name of the interface, and says of what each form is")
  func namesStores() throws {
    let interface = try text(of: ".ci/api/FastImageCache.txt")
    var formCount = 0
    for document in Document.all {
      let page = try text(of: document.path)
      for name in page.matches(of: /`(?:ImageCache\/)?(store\([^`…]+:\))`/).map(\.1) {
        let isThere = interface.contains("\nImageCache.\(name): ")
        #expect(isThere, "\(name) in \(document.path)")
      }
      // Of a `Bitmap` alone, which keeps no original and has no account.
      for form in page.matches(of: /`store\(_:for:format:metadata:\)`(.{0,14})/).map(\.1) {
        #expect(form == " of a `Bitmap`", "\(form) in \(document.path)")
        formCount += 1
      }
    }
    #expect(formCount == 7)
  }

  @Test("lists names that are gone")
  func listsNames() throws {
    let changes = try text(of: "CHANGELOG.md")
    for name in ["prefetchProgress(_:format:depth:options:)", "load(_:progress:)"] {
      #expect(changes.contains("\n| `\(name)`"), "\(name)")
    }
  }

  @Test("names each C target that loads a library late")
  func namesLoaders() throws {
    let page = try text(of: "Docs/Concurrency.md").split(separator: "\n")
    let line = try #require(page.first { $0.contains("held through dlopen(3)") })
    let sources = Document.root.appendingPathComponent("Sources")
    let below = FileManager.default.enumerator(atPath: sources.path)?.compactMap { $0 as? String }
    let targets = try Set(
      (below ?? []).filter { $0.hasSuffix(".c") }.filter {
        try text(of: "Sources/\($0)").contains("dlopen(")
      }.compactMap { $0.split(separator: "/").first })
    #expect(targets.count > 3)
    for target in targets { #expect(line.contains("`\(target)`"), "\(target)") }
  }

  @Test("gives each task a name, or the reason why it has none")
  func namesTasks() throws {
    for path in SourceTree.files {
      let lines = try text(of: path).split(separator: "\n", omittingEmptySubsequences: false)
      for (index, line) in lines.enumerated() where line.contains("Task") {
        guard !line.contains("//"), !line.contains("name:"),
          line.contains(/\bTask(\.detached|\.immediate)?(\(| \{)/)
        else { continue }
        // The name may stand in the next line.
        let isNamed = index + 1 < lines.count && lines[index + 1].contains("name:")
        let before = lines[max(0, index - 3)..<index]
        #expect(
          isNamed || before.contains { $0.contains("// Without a name") }, "\(path):\(index + 1)")
      }
    }
  }
}
