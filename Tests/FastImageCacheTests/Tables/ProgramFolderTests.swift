import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A program's own folder", .timeLimit(.minutes(10)))
struct ProgramFolderTests {
  @Test(
    "has the name of the bundle, or the one that the program was started by",
    arguments: [
      ("org.example.Photos", "/usr/bin/photos", "org.example.Photos"),
      (nil, "/usr/bin/photos", "photos"), (nil, "photos", "photos"),
      ("", "./tool_2.0+x", "tool_2.0+x"), (nil, "PackageTests.xctest", "PackageTests.xctest"),
      (nil, "", "unnamed"), (nil, "///", "unnamed"),
    ] as [(String?, String, String)])
  func isNamed(bundle: String?, command: String, name: String) {
    #expect(ProgramFolder.name(bundleIdentifier: bundle, command: command) == name)
  }

  @Test("has one plain name, whatever the program is called, and no other program's")
  func isSafe() {
    let commands = [
      ".", "..", ".hidden", "-bash", "a b", "a\nb", "a\\b", "\u{E9}", "e\u{301}", "a:b", "~",
      String(repeating: "n", count: 101), String(repeating: "n", count: 5000),
      String(repeating: "\u{E9}", count: 300),
    ]
    let names = commands.map { ProgramFolder.name(bundleIdentifier: nil, command: $0) }
    #expect(Set(names.map { $0.lowercased() }).count == commands.count)
    for name in names {
      #expect(name.utf8.count <= 255 && !name.hasPrefix(".") && !name.contains("/"), "\(name)")
      #expect(name.allSatisfy { $0.isASCII && !$0.isWhitespace }, "\(name)")
    }
  }

  @Test("holds the tables of a cache that was given no folder, and leaves older ones alone")
  func holdsTables() async {
    await #expect(processExitsWith: .exitCode(7)) {
      let directory = try TemporaryDirectory()
      // Where Linux has caches, and where Foundation looks for the user's home elsewhere.
      setenv("XDG_CACHE_HOME", directory.url.path, 1)
      setenv("CFFIXED_USER_HOME", directory.url.path, 1)
      let former = try await Fixture(directory: directory)
      try await former.cache.store(solid(3), for: Photo("a"), format: .row)
      let cache = try await ImageCache(namespace: "test", formats: [.large])
      let program = ProgramFolder.name(
        bundleIdentifier: Bundle.main.bundleIdentifier, command: CommandLine.arguments[0])
      let path = Array(cache.directory.pathComponents.suffix(3).prefix(2))
      let isInside = cache.directory.path.hasPrefix(directory.url.path + "/")
      let isThere = former.cache.containsImage(for: Photo("a"), format: .row)
      exit(path == [program, "ImageTables"] && isInside && isThere ? 7 : 1)
    }
  }
}
