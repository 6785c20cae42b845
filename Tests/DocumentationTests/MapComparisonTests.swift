import Testing

@Suite("A comparison of map and tree", .timeLimit(.minutes(10)))
struct MapComparisonTests {
  private static let files = [
    "Sources/Tables/Table.swift", "Sources/Tables/Files/Opener.swift", "Tests/TableTests/A.swift",
    "Tests/TableTests/B.swift",
  ]

  @Test("finds nothing where each file has its line, or is in a folder that has one")
  func agrees() throws {
    let comparison = try comparison(tables: [
      "- `Table.swift`: one table", "- `Files/Opener.swift`: opens it",
    ])

    #expect(comparison.missing.isEmpty)
    #expect(comparison.superfluous.isEmpty)
  }

  @Test("finds a file without a line, and writes the line down")
  func findsMissing() throws {
    let comparison = try comparison(tables: ["- `Table.swift`: one table"])

    #expect(comparison.missing == ["Docs/Map/Tables.md: - `Files/Opener.swift`: …"])
    #expect(comparison.superfluous.isEmpty)
  }

  @Test("finds a file whose folder has no page")
  func findsUnmapped() throws {
    let comparison = MapComparison(pages: [try testsPage()], files: Self.files)

    #expect(comparison.missing.map { $0.prefix { $0 != " " } } == Self.files[..<2].map { $0[...] })
  }

  @Test("finds a line whose file is gone, also behind a file of the same end")
  func findsSuperfluous() throws {
    let comparison = try comparison(tables: [
      "- `Table.swift`: one table", "- `Files/Opener.swift`: opens it", "- `Opener.swift`: gone",
      "- `Files/Table.swift`: gone",
    ])

    #expect(comparison.missing.isEmpty)
    #expect(
      comparison.superfluous == [
        "Docs/Map/Tables.md: `Files/Table.swift` is not there.",
        "Docs/Map/Tables.md: `Opener.swift` is not there.",
      ])
  }

  @Test("finds a file that has two lines")
  func findsRepeated() throws {
    let comparison = try comparison(tables: [
      "- `Table.swift`: one table", "- `Files/Opener.swift`: opens it",
      "- `Table.swift`: once more",
    ])

    #expect(comparison.superfluous == ["Docs/Map/Tables.md: `Table.swift` stands there twice."])
  }

  @Test("asks the page of the innermost folder")
  func asksInnermost() throws {
    let inner = try page(
      "Docs/Map/TableTests.md", ["# `Tests/TableTests`", "", "- `A.swift`: one half"])
    let comparison = MapComparison(
      pages: [inner, try testsPage()], files: Array(Self.files[2...]))

    #expect(comparison.missing == ["Docs/Map/TableTests.md: - `B.swift`: …"])
    #expect(comparison.superfluous.isEmpty)
  }

  @Test("takes no page whose title names no folder")
  func refusesTitle() {
    #expect(MapPage(path: "a.md", lines: ["# The tables", "- `Table.swift`: one table"]) == nil)
  }

  private func comparison(tables lines: [Substring]) throws -> MapComparison {
    let tables = try page("Docs/Map/Tables.md", ["# `Sources/Tables`", ""] + lines)
    return MapComparison(pages: [tables, try testsPage()], files: Self.files)
  }

  private func testsPage() throws -> MapPage {
    try page("Docs/Map/Tests.md", ["# `Tests`", "", "- `TableTests/`: what tables promise"])
  }

  private func page(_ path: String, _ lines: [Substring]) throws -> MapPage {
    try #require(MapPage(path: path, lines: lines))
  }
}
