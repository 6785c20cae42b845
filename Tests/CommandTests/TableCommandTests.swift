import FastImageCache
import Foundation
import Pixels
import TestSupport
import Testing

@Suite("The table commands", .timeLimit(.minutes(10)))
struct TableCommandTests {
  let directory: TemporaryDirectory
  let photos: URL
  let cache: String
  private let size = PixelSize(width: 16, height: 8)

  init() throws {
    directory = try TemporaryDirectory()
    photos = directory.url.appending(path: "photos/inner", directoryHint: .isDirectory)
      .deletingLastPathComponent()
    cache = directory.url.appending(path: "cache").path
    try FileManager.default.createDirectory(
      at: photos.appending(path: "inner"), withIntermediateDirectories: true)
    try TestImages.writePNG(size, seed: 1, to: photos.appending(path: "a b.png"))
    try TestImages.writePNG(size, seed: 2, to: photos.appending(path: "inner/é.jpg"))
  }

  func run(_ words: String...) async throws -> CommandProcess.Outcome {
    try await CommandProcess(words, temporaryFolder: directory.url).run()
  }

  func warm(_ formats: String...) async throws -> CommandProcess.Outcome {
    try await CommandProcess(
      ["warm", photos.path, "--cache", cache] + formats.flatMap { ["--format", $0] },
      temporaryFolder: directory.url
    ).run()
  }

  private func export(_ table: String, _ entity: String) async throws
    -> (size: PixelSize, bytes: [UInt8])
  {
    let file = directory.url.appending(path: "out.png")
    let outcome = try await run("export", "--", cache, table, entity, file.path)
    #expect(outcome.status == 0)
    return try TestImages.pixels(of: file)
  }

  /// What `inspect` tells of the tables.
  func tables(_ words: String...) async throws -> [[String: Any]] {
    let outcome = try await CommandProcess(
      ["inspect", cache, "--json"] + words, temporaryFolder: directory.url
    ).run()
    return try #require(outcome.json?["tables"] as? [[String: Any]])
  }

  private var tableFiles: [URL] {
    FileManager.default.enumerator(at: URL(filePath: cache), includingPropertiesForKeys: nil)?
      .compactMap { $0 as? URL }.filter { $0.pathExtension == "imagetable" } ?? []
  }

  /// Changes a byte of the second image.
  private func damage(_ file: URL) throws {
    var bytes = try Data(contentsOf: file)
    let row = TestImages.pixels(of: try TestImages.bitmap(size, seed: 2)).prefix(64)
    let place = try #require(bytes.firstRange(of: row))
    bytes[place.lowerBound + 5] ^= 1
    try bytes.write(to: file)
  }

  @Test("bring images into a table and out of it pixel by pixel")
  func roundTrip() async throws {
    let outcome = try await warm("row:16x8:bgrx32", "soft:16x8:bgra32")
    #expect(outcome.status == 0)
    #expect(outcome.output == "2 stored, 0 already there, 0 failed\n")
    for (entity, seed) in [("a b.png", 1), ("inner/é.jpg", 2)] {
      for table in ["row", "soft"] {
        let exported = try await export(table, entity)
        #expect(exported.size == size)
        #expect(
          exported.bytes == TestImages.pixels(of: try TestImages.bitmap(size, seed: seed)))
      }
    }
  }

  @Test("keep colours in Display P3, show that, and write it into the file")
  func keepsWideColors() async throws {
    #expect(try await warm("row:16x8:bgrx32:stretch:displayP3").status == 0)
    #expect(try await run("inspect", cache).output.contains("row: 16x8 bgrx32, displayP3, 2 of 18"))
    #expect(
      try await run("inspect", cache, "--json").output.contains("\"color_space\": \"displayP3\""))
    // A call with other formats leaves the table as it is.
    #expect(try await warm("soft:16x8:bgra32").status == 0)
    let listed = try await run("inspect", cache).output
    #expect(
      listed.contains("row: 16x8 bgrx32, displayP3, 2 of")
        && listed.contains("soft: 16x8 bgra32, 2"))
    let file = directory.url.appending(path: "wide.png")
    #expect(try await run("export", "--", cache, "row", "a b.png", file.path).status == 0)
    #expect(try Data(contentsOf: file).range(of: Data("iCCP".utf8)) != nil)
    #expect(try await run("export", "--", cache, "soft", "a b.png", file.path).status == 0)
    #expect(try Data(contentsOf: file).range(of: Data("iCCP".utf8)) == nil)
  }

  @Test("keep in a guest file what they draw while another program has the table")
  func warmsAsGuest() async throws {
    #expect(try await warm("row:16x8:bgrx32").status == 0)
    let file = try #require(tableFiles.first)
    let descriptor = open(file.path, O_RDWR | O_CLOEXEC)
    defer { close(descriptor) }
    try #require(flock(descriptor, LOCK_EX) == 0)
    #expect(try await warm("row:16x8:bgrx32").status == 0)
    try TestImages.writePNG(size, seed: 3, to: photos.appending(path: "c.png"))
    let outcome = try await warm("row:16x8:bgrx32")
    #expect(outcome.status == 0)
    #expect(outcome.output == "1 stored, 2 already there, 0 failed\n")
    flock(descriptor, LOCK_UN)
    #expect(try await warm("row:16x8:bgrx32").output == "0 stored, 3 already there, 0 failed\n")
  }

  @Test("name the images for which there is no room on the disk, and end with status 1")
  func fullDisk() async throws {
    // After several failures a table refuses images without a try.
    for seed in 3...12 {
      try TestImages.writePNG(size, seed: seed, to: photos.appending(path: "\(seed).png"))
    }
    // Enough for a table without images and for the thread sanitizer's file of 512 KiB, too
    // little for an image of 2 MiB, whether the shell counts in 512 or in 1024 bytes. The signal
    // is ignored, so that the write fails instead.
    let outcome = try await CommandProcess(
      ["warm", photos.path, "--cache", cache, "--format", "row:1024x512"],
      temporaryFolder: directory.url, preparation: "trap '' XFSZ; ulimit -f 1100"
    ).run()
    #expect(outcome.status == 1)
    for name in ["a b.png", "7.png", "12.png"] {
      #expect(
        outcome.errors.contains("failed \(name): the table \"row\" could not take it: The disk of ")
      )
    }
    #expect(outcome.errors.matches(of: /is full\./).count == 12)
    #expect(outcome.output == "0 stored, 0 already there, 12 failed\n")
  }

  @Test("name a cache folder that they cannot use, and draw nothing for it")
  func unusableFolder() async throws {
    try Data().write(to: URL(filePath: cache))
    let outcome = try await warm("row:16x8:bgrx32")
    #expect(outcome.status == 1 && outcome.output.isEmpty)
    #expect(outcome.errors.contains("\(cache) is a file or a link in the place of a folder."))
  }

  @Test("list the tables that can be read, and end with status 1 where one cannot")
  func unreadableTable() async throws {
    _ = try await warm("row:16x8:bgrx32")
    #expect(try await run("inspect", cache).status == 0)
    let file = try #require(tableFiles.first).deletingLastPathComponent()
      .appending(path: "x.imagetable")
    try Data("none".utf8).write(to: file)
    let outcome = try await run("inspect", cache)
    #expect(outcome.status == 1)
    #expect(outcome.output.contains("row: 16x8 bgrx32, 2 of"))
    #expect(outcome.errors.contains("\(file.path) is not a table that can be read."))
  }

  @Test("draw as each format says")
  func drawings() async throws {
    let outcome = try await warm(
      "fit:8x8:bgra32:aspectFit", "in:8x8:bgra32:within", "all:8x8:bgrx32:stretch",
      "dot:8x8:bgra32:circle", "gray:8x8:gray8:aspectFit")
    #expect(outcome.status == 0)
    let fit = try await export("fit", "a b.png")
    #expect(fit.size == PixelSize(width: 8, height: 8))
    #expect(fit.bytes[..<64].allSatisfy { $0 == 0 })
    #expect(fit.bytes[8 * 4 * 4 + 3] == 255)
    #expect(try await export("in", "a b.png").size == PixelSize(width: 8, height: 4))
    let all = try await export("all", "a b.png")
    #expect(all.size == PixelSize(width: 8, height: 8))
    // Where `fit` is clear, `all` has colours, other ones in each row.
    #expect(all.bytes[4..<7].contains { $0 != 0 })
    // A loop: the compiler takes seconds for the same as one expression.
    var firstPixels: Set<[UInt8]> = []
    for start in stride(from: 0, to: 8 * 32, by: 32) {
      firstPixels.insert(Array(all.bytes[start..<start + 3]))
    }
    #expect(firstPixels.count == 8)
    let dot = try await export("dot", "a b.png")
    #expect(dot.bytes[3] == 0)
    let middle = (4 * 8 + 4) * 4
    #expect(dot.bytes[middle + 3] == 255)
  }

  @Test("find images of unchanged files, and draw those of changed files anew")
  func again() async throws {
    _ = try await warm("row:16x8:bgrx32")
    #expect(try await warm("row:16x8:bgrx32").output == "0 stored, 2 already there, 0 failed\n")
    try TestImages.writePNG(size, seed: 9, to: photos.appending(path: "a b.png"))
    #expect(try await warm("row:16x8:bgrx32").output == "1 stored, 1 already there, 0 failed\n")
    let exported = try await export("row", "a b.png")
    #expect(exported.bytes == TestImages.pixels(of: try TestImages.bitmap(size, seed: 9)))
    #expect(try await run("inspect", cache).output.contains("2 of 18 images"))
  }

  @Test("draw images anew that are wanted in another way")
  func otherDrawing() async throws {
    _ = try await warm("row:8x8:bgra32:aspectFit")
    let outcome = try await warm("row:8x8:bgra32:stretch")
    #expect(outcome.output == "2 stored, 0 already there, 0 failed\n")
    let row = try await export("row", "a b.png")
    #expect(row.bytes.prefix(4).last == 255)
    #expect(
      try await warm("row:8x8:bgra32:stretch").output == "0 stored, 2 already there, 0 failed\n")
  }

  @Test("keep the tables of earlier calls")
  func otherTables() async throws {
    _ = try await warm("row:16x8:bgrx32", "in:8x8:gray8:within")
    _ = try await warm("other:4x4")
    let exported = try await export("row", "a b.png")
    #expect(exported.bytes == TestImages.pixels(of: try TestImages.bitmap(size, seed: 1)))
    #expect(
      try await warm("in:8x8:gray8:within").output == "0 stored, 2 already there, 0 failed\n")
  }

  @Test("name images that fail or cannot be read, store the others, and end with status 1")
  func failing() async throws {
    let whole = try Data(contentsOf: photos.appending(path: "a b.png"))
    try whole.prefix(whole.count / 2).write(to: photos.appending(path: "cut.png"))
    try FileManager.default.createSymbolicLink(
      atPath: photos.appending(path: "lost.png").path, withDestinationPath: "nowhere")
    let outcome = try await warm("row:16x8")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("failed cut.png: "))
    #expect(outcome.errors.contains("failed lost.png: its link leads nowhere"))
    #expect(outcome.output == "2 stored, 0 already there, 2 failed\n")
  }

  @Test(
    "export an image by any number that can be an id", arguments: ["7", "-7", "\(UInt64.max)"])
  func numbers(text: String) async throws {
    var configuration = ImageCache.Configuration()
    configuration.directory = URL(filePath: cache)
    let format = ImageFormat(name: "row", size: .exact(size), pixelFormat: .bgrx32, capacity: 4)
    let images = try await ImageCache(
      namespace: "numbers", formats: [format], configuration: configuration)
    let id = Int64(text).map { ImageID($0) } ?? ImageID(UInt64(text) ?? 0)
    let bitmap = try TestImages.bitmap(size, seed: 3)
    try await images.store(bitmap, for: Numbered(imageID: id), format: format)
    await images.close()
    #expect(try await run("inspect", cache).output.contains(text))
    #expect(try await export("row", text).bytes == TestImages.pixels(of: bitmap))
  }

  @Test("show names with control characters in one line, and none of these characters")
  func controlCharacters() async throws {
    let name = "two\nlines\u{1b}[2J\u{9b}é\u{2028}"
    try TestImages.writePNG(size, seed: 3, to: photos.appending(path: "\(name).png"))
    try Data("none".utf8).write(to: photos.appending(path: "\(name).jpg"))
    let shown = "two\\nlines\\u{1B}[2J\\u{009B}é\\u{2028}"
    let whole = try Data(contentsOf: photos.appending(path: "a b.png"))
    try whole.prefix(whole.count / 2).write(to: photos.appending(path: "\(name) cut.png"))
    let told = try await warm("row:16x8").errors
    #expect(told.contains("skipped \(shown).jpg: ") && told.contains("failed \(shown) cut.png: "))
    let listed = try await run("inspect", cache).output
    #expect(listed.contains("\(shown).png") && !listed.contains("\u{1b}"))
    let wrong = try await run("export", cache, name, "x", cache + "/x.png")
    #expect(wrong.status == 2 && wrong.errors.contains(shown))
    #expect(try await export("row", "\(name).png").size == size)
    let empty = directory.url.appending(path: name)
    try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: true)
    let failed = try await run("warm", empty.path, "--cache", cache, "--format", "row:16x8")
    #expect(failed.status == 1 && failed.errors.contains("\(shown)\" has no images"))
  }

  @Test("draw an image that takes much memory when the call allows it")
  func decodeMemory() async throws {
    try FileManager.default.removeItem(at: photos.appending(path: "inner"))
    let large = PixelSize(width: 1000, height: 500)
    try TestImages.writePNG(large, seed: 1, to: photos.appending(path: "a b.png"))
    for (memory, status) in [("2M", 1), ("3M", 0)] as [(String, Int32)] {
      let outcome = try await run(
        "warm", photos.path, "--cache", cache, "--format", "page:1000x500", "--decode-memory",
        memory)
      #expect(outcome.status == status)
      #expect(outcome.errors.contains("The limit is 2097152.") == (status == 1))
    }
  }

  @Test("show names of tables and of other files with control characters in one line")
  func controlCharactersOfTables() async throws {
    let shown = "two\\nlines"
    #expect(try await warm("two\nlines:16x8:bgrx32").status == 0)
    let file = try #require(tableFiles.first)
    try Data("none".utf8).write(
      to: file.deletingLastPathComponent().appending(path: "not\none.imagetable"))
    let listed = try await run("inspect", cache)
    #expect(listed.output.contains("\(shown): 16x8 bgrx32"))
    #expect(listed.errors.contains("not\\none.imagetable is not a table"))
    let verified = try await run("verify", cache)
    #expect(verified.status == 1 && verified.output.contains("\(shown): 2 images intact"))
    #expect(verified.output.contains("not\\none.imagetable: not a table"))
    try damage(file)
    #expect(try await run("verify", cache).output.contains("\(shown): slot "))
    let descriptor = open(file.path, O_RDWR | O_CLOEXEC)
    defer { close(descriptor) }
    try #require(flock(descriptor, LOCK_EX) == 0)
    #expect(try await run("clear", cache).errors.contains("\"\(shown)\" is open in another"))
    flock(descriptor, LOCK_UN)
    #expect(try await run("clear", cache).output.contains("\(shown): "))
  }

  @Test("list tables with geometry and entries, as text and as JSON")
  func inspect() async throws {
    #expect(try await warm("row:16x8:bgr16", "in:8x8:bgra32:within:best").status == 0)
    let text = try await run("inspect", cache).output
    #expect(text.contains("row: 16x8 bgr16, 2 of 18 images"))
    #expect(text.contains("in: up to 8x8 bgra32, best quality, "))
    #expect(text.contains("inner/é.jpg"))
    let tables = try await tables()
    let table = try #require(tables.first { $0["name"] as? String == "in" })
    #expect(table["width"] as? Int == 8)
    #expect(table["pixel_format"] as? String == "bgra32")
    #expect(table["keeps_proportions"] as? Bool == true)
    #expect(tables.compactMap { $0["quality"] as? String }.sorted() == ["balanced", "best"])
    #expect(table["disk_bytes"] as? Int ?? 0 > 0)
    // Asked for as a file's pages, which kernels before 6.5 do not count.
    #expect(table["resident_bytes"] as? Int ?? 1 > 0 && table["dirty_bytes"] != nil)
    let entries = try #require(table["entries"] as? [[String: Any]])
    #expect(Set(entries.compactMap { $0["entity"] as? String }) == ["a b.png", "inner/é.jpg"])
    #expect(entries.allSatisfy { $0["width"] as? Int == 8 && $0["height"] as? Int == 4 })
  }

  @Test("prove intact images, and name the one of which a byte has changed")
  func verify() async throws {
    _ = try await warm("row:16x8:bgrx32")
    #expect(try await run("verify", cache).status == 0)
    try damage(#require(tableFiles.first))
    let outcome = try await run("verify", cache)
    #expect(outcome.status == 1)
    #expect(outcome.output.contains("the image of inner/é.jpg is damaged"))
    #expect(!outcome.output.contains("a b.png"))
    let export = try await run("export", cache, "row", "inner/é.jpg", cache + "/x.png")
    #expect(export.status == 2)
    // The next opener mends the table.
    #expect(try await warm("row:16x8:bgrx32").output == "1 stored, 1 already there, 0 failed\n")
    #expect(try await run("verify", cache).status == 0)
  }

  #if os(Linux)
    @Test(
      "read each table once to prove it intact",
      .enabled(if: access("/proc/self/io", R_OK) == 0, "Some kernels do not count bytes."))
    func verifyOnce() async throws {
      // Two images of 4 MB each, beside which all else that the command reads is little.
      _ = try await warm("big:1000x1000:bgrx32")
      let file = try #require(tableFiles.first)
      let byteCount = try Data(contentsOf: file).count
      // A shell has the bytes that its children have read among its own.
      let outcome = try await CommandProcess(
        ["verify", cache], temporaryFolder: directory.url,
        preparation: "\"$0\" \"$@\" > /dev/null; exec cat /proc/$$/io"
      ).run()
      let words = outcome.output.split(whereSeparator: \.isWhitespace)
      let place = try #require(words.firstIndex(of: "rchar:"))
      let readCount = try #require(Int(words[place + 1]))
      #expect(readCount > byteCount && readCount < byteCount * 3 / 2, "\(readCount), \(byteCount)")
    }
  #endif

  @Test("write the kind of file that its extension names, and PNG to standard output")
  func kindsOfFiles() async throws {
    #expect(try await warm("row:16x8:bgrx32").status == 0)
    func bytes(_ name: String) async throws -> Data {
      let file = directory.url.appending(path: name)
      #expect(try await run("export", cache, "row", "a b.png", file.path).status == 0)
      return try Data(contentsOf: file)
    }
    #expect(try await bytes("out.JPG").prefix(3) == Data([0xFF, 0xD8, 0xFF]))
    #expect(try await bytes("out.png").prefix(4) == Data([0x89, 0x50, 0x4E, 0x47]))
    #if os(Linux)
      #expect(try await bytes("out.webp").prefix(4) == Data("RIFF".utf8))
    #endif
    let piped = try await CommandProcess(
      ["export", cache, "row", "a b.png", "-"], temporaryFolder: directory.url,
      preparation: #""$0" "$@" >"$TMPDIR/piped.png"; exit $?"#
    ).run()
    #expect(piped.status == 0)
    let file = directory.url.appending(path: "piped.png")
    #expect(
      try TestImages.pixels(of: file).bytes
        == TestImages.pixels(of: try TestImages.bitmap(size, seed: 1)))
  }

  @Test("name the file that cannot be written, and the system's reason")
  func unwritable() async throws {
    #expect(try await warm("row:16x8:bgrx32").status == 0)
    let file = directory.url.appending(path: "none/out.png").path
    let outcome = try await run("export", cache, "row", "a b.png", file)
    #expect(outcome.status == 1)
    #expect(outcome.errors == "imagecache: \(file) cannot be written: No such file or directory.\n")
  }

  @Test(
    "name what they may not read, and end with status 1",
    .enabled(if: geteuid() != 0 || access("/usr/bin/setpriv", X_OK) == 0))
  func forbidden() async throws {
    #expect(try await warm("row:16x8:bgrx32").status == 0)
    // Root may read everything.
    let user =
      geteuid() == 0 ? "exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$0\" \"$@\"" : ":"
    func run(_ words: String...) async throws -> CommandProcess.Outcome {
      try await CommandProcess(words, temporaryFolder: directory.url, preparation: user).run()
    }
    let file = try #require(tableFiles.first)
    let folder = file.deletingLastPathComponent().path
    for path in [directory.url.path, cache, folder] { #expect(chmod(path, 0o755) == 0) }
    #expect(chmod(file.path, 0) == 0)
    for command in ["inspect", "verify"] {
      let outcome = try await run(command, cache)
      #expect(outcome.status == 1)
      #expect((outcome.output + outcome.errors).contains(file.path))
    }
    let clear = try await run("clear", cache)
    #expect(clear.status == 1)
    #expect(clear.errors == "imagecache: \(file.path) cannot be read, and is left as it is.\n")
    #expect(chmod(folder, 0) == 0)
    let locked = try await run("inspect", cache)
    #expect(chmod(folder, 0o755) == 0)
    #expect(
      locked.status == 1 && locked.errors == "imagecache: The folder \(folder) cannot be read.\n")
  }

  @Test("empty one table or all, and nothing else")
  func clear() async throws {
    _ = try await warm("row:16x8", "dot:4x4")
    let bystander = try #require(tableFiles.first).deletingLastPathComponent()
      .appending(path: "notes.imagetable")
    try Data("mine".utf8).write(to: bystander)
    #expect(try await run("clear", cache, "dot").output == "dot: 2 images removed\n")
    #expect(try await run("inspect", cache).output.contains("dot: 4x4 bgra32, 0 of 18"))
    #expect(try await run("inspect", cache).output.contains("row: 16x8 bgra32, 2 of 18"))
    #expect(try await run("clear", cache, "dots").status == 2)
    #expect(try await run("clear", cache).status == 0)
    #expect(try await run("inspect", cache).output.contains("row: 16x8 bgra32, 0 of 18"))
    #expect(try Data(contentsOf: bystander) == Data("mine".utf8))
  }
}

private struct Numbered: ImageEntity {
  let imageID: ImageID

  func sourceURL(for format: ImageFormat) -> URL? { nil }
}
