import Testing

// `swift test --filter MapTests` prints the lines that a map lacks; no build is needed for it, since
// maps and tree are read when the test runs.
@Suite("The map of the source files", .timeLimit(.minutes(10)))
struct MapTests {
  private static let comparison = MapComparison(
    pages: MapPage.all, files: SourceTree.files)

  @Test("has a line for every file")
  func isComplete() {
    let missing = Self.comparison.missing

    #expect(missing.isEmpty, "\(missing.joined(separator: "\n"))")
  }

  @Test("names nothing that is gone, and nothing twice")
  func isTrue() {
    let superfluous = Self.comparison.superfluous

    #expect(superfluous.isEmpty, "\(superfluous.joined(separator: "\n"))")
  }

  @Test("says something of each file, and names each file of the sources by itself")
  func saysSomething() {
    #expect(!MapPage.all.isEmpty)
    for page in MapPage.all {
      for entry in page.entries {
        #expect(
          entry.sentence.split(separator: " ").count > 2, "\(page.path) on `\(entry.path)`")
        #expect(
          !entry.path.hasSuffix("/") || !page.folder.hasPrefix("Sources"),
          "\(page.path) on `\(entry.path)`")
      }
    }
  }

  @Test("has a readable page in each file of its folder")
  func isReadable() {
    let paths = Document.all.map(\.path).filter { $0.hasPrefix("Docs/Map/") }

    #expect(MapPage.all.map(\.path) == paths)
  }
}
