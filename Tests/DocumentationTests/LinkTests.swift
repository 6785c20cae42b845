import Foundation
import Testing

@Suite("A document", .timeLimit(.minutes(10)))
struct LinkTests {
  @Test("links only to files that exist", arguments: Document.all)
  func linksToFiles(document: Document) throws {
    let folder = document.url.deletingLastPathComponent()
    for (index, line) in try document.lines().enumerated() {
      for match in line.matches(of: /\]\(([^)#\s]+)[^)]*\)/) {
        let target = String(match.1)
        if target.contains(":") { continue }  // Another scheme: the web, or a symbol of DocC.
        let path = folder.appendingPathComponent(target).path
        #expect(
          FileManager.default.fileExists(atPath: path),
          "\(document.path):\(index + 1) links to \(target)")
      }
    }
  }

  @Test("links only to sections that exist", arguments: Document.all)
  func linksToSections(document: Document) throws {
    let folder = document.url.deletingLastPathComponent()
    for (index, line) in try document.lines().enumerated() {
      for match in line.matches(of: /\]\(([^)#\s:]*)#([^)\s]+)\)/) {
        let target =
          match.1.isEmpty ? document.url : folder.appendingPathComponent(String(match.1))
        guard target.pathExtension == "md" else { continue }
        let sections = try Document.sections(of: target)
        #expect(
          sections.contains(String(match.2)),
          "\(document.path):\(index + 1) links to \(match.1)#\(match.2)")
      }
    }
  }

  @Test("has sections named as the web shows them")
  func namesSections() {
    let lines = [
      "# A *hit*, `now`", "```", "# no section", "```", "## [Two](x.md) - 2_b", "## Two - 2_b",
    ]
    #expect(
      Document.sections(in: lines.map { $0[...] }) == ["a-hit-now", "two---2_b", "two---2_b-1"])
  }

  @Test("is reached from the map of the documents", arguments: Document.all)
  func isReached(document: Document) throws {
    guard document.path.hasPrefix("Docs/"), document.path != "Docs/README.md" else { return }
    let map = try Document(path: "Docs/README.md").lines().joined(separator: "\n")
    let path = document.path.dropFirst("Docs/".count)
    let folder = path.prefix { $0 != "/" }

    // Of a folder, the folder itself may be named.
    #expect(
      map.contains("(\(path))") || map.contains("(\(folder)/)") || map.contains("(\(folder))"))
  }

  @Test("names no folder of the machine it was written on", arguments: Document.all)
  func namesNoMachine(document: Document) throws {
    let text = try document.lines().joined(separator: "\n")
    let neighbours = Document.root.deletingLastPathComponent().path

    for folder in ["/home/", "/root/", "/tmp/", "/Users/", "\(neighbours)/"] where folder != "//" {
      #expect(!text.contains(folder))
    }
  }
}
