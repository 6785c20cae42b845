import FastImageCache
import Foundation
import Pixels
import TestSupport
import Testing

extension TableCommandTests {
  @Test("list and remove images by the form of their ids")
  func matching() async throws {
    #expect(try await warm("row:16x8", "dot:4x4").status == 0)
    let listed = try await run("inspect", cache, "--matching", "inner/*").output
    #expect(listed.contains("row: 16x8 bgra32, 2 of 18 images"))
    #expect(listed.contains("1 listed") && !listed.contains("a b.png"))
    for table in try await tables("--matching=? b.png") {
      let entries = try #require(table["entries"] as? [[String: Any]])
      #expect(entries.map { $0["entity"] as? String } == ["a b.png"])
    }
    let cleared = try await run("clear", cache, "row", "--matching", "*.jpg")
    #expect(cleared.status == 0 && cleared.output == "row: 1 image removed\n")
    let left = try await run("inspect", cache).output
    #expect(left.contains("row: 16x8 bgra32, 1 of 18") && left.contains("dot: 4x4 bgra32, 2 of 18"))
    // The table is whole, and what was removed is drawn again.
    #expect(try await run("verify", cache).status == 0)
    #expect(try await warm("row:16x8").output == "1 stored, 1 already there, 0 failed\n")
  }

  @Test("list and remove images by the time of their storing")
  func olderThan() async throws {
    #expect(try await warm("row:16x8").status == 0)
    let table = try #require(try await tables("--older-than", "0s").first)
    let entries = try #require(table["entries"] as? [[String: Any]])
    let times = entries.compactMap { $0["stored"] as? String }
    let dates = try times.map { try Date($0, strategy: .iso8601) }
    #expect(dates.count == 2 && dates.allSatisfy { $0 <= Date() })
    #expect(
      try await run("clear", cache, "--older-than", "900w").output == "row: 0 images removed\n")
    let some = try await run("clear", cache, "--older-than", "0s", "--matching", "a*").output
    #expect(some == "row: 1 image removed\n")
    #expect(
      try await run("clear", cache, "--older-than", "0s").output == "row: 1 image removed\n")
    let wrong = try await run("clear", cache, "--older-than", "5")
    #expect(wrong.status == 2 && wrong.errors.contains("--older-than is \"5\""))
  }

  @Test("list the namespaces below a folder")
  func namespaces() async throws {
    var configuration = ImageCache.Configuration()
    configuration.directory = URL(filePath: cache)
    let format = ImageFormat(name: "row", size: .exact(PixelSize(width: 8, height: 8)), capacity: 4)
    for namespace in ["one", "two\nlines"] {
      let cache = try await ImageCache(
        namespace: namespace, formats: [format], configuration: configuration)
      await cache.close()
    }
    let text = try await run("inspect", cache)
    #expect(text.status == 0 && text.output.contains("namespace two\\nlines"))
    let tables = try await run("inspect", cache, "--json").json?["tables"] as? [[String: Any]]
    #expect(tables?.compactMap { $0["namespace"] as? String } == ["one", "two\nlines"])
  }

  #if !canImport(ImageIO)
    @Test("show images that are cut short if they are told to, and mark them")
    func showsDamaged() async throws {
      let noise = try TestImages.noise(PixelSize(width: 64, height: 64), seed: 1)
      try noise.prefix(noise.count / 2).write(to: photos.appending(path: "cut.png"))
      let words = ["warm", photos.path, "--cache", cache, "--format", "row:16x8:bgrx32"]
      func warm(_ more: String...) async throws -> CommandProcess.Outcome {
        try await CommandProcess(words + more, temporaryFolder: directory.url).run()
      }
      let refused = try await warm()
      #expect(refused.status == 1 && refused.output == "2 stored, 0 already there, 1 failed\n")
      let shown = try await warm("--damaged", "show")
      #expect(shown.status == 0 && shown.output == "1 stored, 2 already there, 0 failed\n")
      let listed = try await run("inspect", cache).output.split(separator: "\n")
      #expect(listed.filter { $0.hasSuffix(", of a damaged file") }.count == 1)
      let entries = try #require(try await tables().first?["entries"] as? [[String: Any]])
      let marks = entries.map { ($0["entity"] as? String, $0["damaged_file"] as? Bool) }
      #expect(marks.contains { $0 == ("cut.png", true) } && marks.count == 3)
      #expect(marks.filter { $0.1 == true }.count == 1)
      #expect(try await warm("--damaged", "refuse").status == 1)
      let misspelt = try await warm("--damaged", "hide")
      #expect(misspelt.status == 2 && misspelt.errors.contains("not \"hide\""))
    }
  #endif
}
