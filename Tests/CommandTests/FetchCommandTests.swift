import FastImageCache
import Foundation
import Locking
import Pixels
import TestSupport
import Testing

@Suite("The command that fetches", .timeLimit(.minutes(10)))
struct FetchCommandTests {
  let directory: TemporaryDirectory
  let cache: String
  let size = PixelSize(width: 16, height: 8)

  init() throws {
    directory = try TemporaryDirectory()
    cache = directory.url.appending(path: "cache").path
  }

  func run(_ words: [String]) async throws -> CommandProcess.Outcome {
    try await CommandProcess(words, temporaryFolder: directory.url).run()
  }

  func fetch(
    _ urls: [URL], formats: [String] = ["row:16x8:bgrx32"], _ words: String...
  ) async throws -> CommandProcess.Outcome {
    try await run(arguments(urls, formats: formats) + words)
  }

  func arguments(_ urls: [URL], formats: [String] = ["row:16x8:bgrx32"]) -> [String] {
    ["fetch"] + urls.map(\.absoluteString) + ["--cache", cache]
      + formats.flatMap { ["--format", $0] }
  }

  func image(_ seed: Int) throws -> Data {
    try TestImages.bitmap(size, seed: seed).pngData()
  }

  func files(_ seeds: ClosedRange<Int>) throws -> [String: HTTPFile] {
    try Dictionary(
      uniqueKeysWithValues: seeds.map {
        ("/\($0).png", HTTPFile(try image($0), entityTag: "\"\($0)\""))
      })
  }

  func pixels(_ table: String, _ url: URL) async throws -> [UInt8] {
    let file = directory.url.appending(path: "out.png")
    let outcome = try await run(["export", cache, table, url.absoluteString, file.path])
    #expect(outcome.status == 0, "\(outcome.errors)")
    return try TestImages.pixels(of: file).bytes
  }

  func expectedPixels(_ seed: Int) throws -> [UInt8] {
    TestImages.pixels(of: try TestImages.bitmap(size, seed: seed))
  }

  /// The lines about images, in the order of their addresses.
  func lines(_ outcome: CommandProcess.Outcome) -> [String] {
    outcome.output.split(separator: "\n").map(String.init).sorted()
  }

  @Test(
    "says that images come from the network, then from their table, then from their originals")
  func origins() async throws {
    let server = try HTTPServer(files: try files(1...3))
    let urls = (1...3).map { server.url("/\($0).png") }
    let first = try await fetch(urls)
    #expect(first.status == 0)
    #expect(lines(first) == urls.map { "\($0): network" })
    #expect(first.errors.hasSuffix("3 there, 0 failed\n"))
    for (index, url) in urls.enumerated() {
      #expect(try await pixels("row", url) == expectedPixels(index + 1))
    }
    #expect(lines(try await fetch(urls)) == urls.map { "\($0): table" })
    #expect(try await run(["clear", cache, "row"]).status == 0)
    #expect(lines(try await fetch(urls)) == urls.map { "\($0): original" })
    // A format that is new beside one that is there.
    let formats = ["row:16x8:bgrx32", "dot:8x4"]
    #expect(lines(try await fetch(urls, formats: formats)) == urls.map { "\($0): original" })
    // A format of another layout has other images.
    let fitting = ["row:16x8:bgrx32:aspectFit"]
    #expect(lines(try await fetch(urls, formats: fitting)) == urls.map { "\($0): original" })
    #expect(lines(try await fetch(urls, formats: fitting)) == urls.map { "\($0): table" })
    #expect(server.requests.value == 3)
    #expect(server.arrivedRequests.allSatisfy { $0.headers["user-agent"] == "imagecache" })
  }

  @Test(
    "takes addresses of web servers only",
    arguments: ["ftp://example.com/1.png", "https:///1.png", "file:///1.png", "pictures/1.png"])
  func refusedAddresses(address: String) async throws {
    let outcome = try await run([
      "fetch", address, "--cache", cache, "--format", "row:16x8:bgrx32",
    ])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("is no address of a web server"))
  }

  @Test("draws all formats of a call from one download")
  func oneDownload() async throws {
    let server = try HTTPServer(files: try files(1...2))
    let urls = [server.url("/1.png"), server.url("/2.png"), server.url("/1.png")]
    let outcome = try await fetch(
      urls, formats: ["row:16x8:bgrx32", "dot:8x4", "gray:8x8:gray8:within"])
    #expect(outcome.status == 0)
    #expect(lines(outcome) == urls.prefix(2).map { "\($0): network" })
    #expect(server.requests.value == 2)
    let listed = try await run(["inspect", cache]).output
    for table in ["row: 16x8 bgrx32, 2", "dot: 8x4 bgra32, 2", "gray: up to 8x8 gray8, 2"] {
      #expect(listed.contains("\(table) of 18 images"))
    }
  }

  @Test("keeps the images of earlier calls, however many follow")
  func growingTables() async throws {
    let server = try HTTPServer(files: try files(1...36))
    let first = server.url("/1.png")
    _ = try await fetch([first])
    // The second call leaves room for fewer than the third brings.
    for numbers in [2...20, 21...36] {
      let outcome = try await fetch(numbers.map { server.url("/\($0).png") })
      #expect(outcome.output.split(separator: "\n").count == numbers.count)
    }
    #expect(lines(try await fetch([first])) == ["\(first): table"])
    #expect(try await run(["inspect", cache]).output.contains("36 of "))
  }

  @Test("asks whether images have changed when told to, and draws those anew that have")
  func revalidation() async throws {
    let served = Lock(HTTPFile(try image(1), entityTag: "\"1\""))
    let server = try HTTPServer { request in served.withLock { $0 }.reply(to: request) }
    let (url, formats) = (server.url("/a.png"), ["row:16x8:bgrx32", "other:16x8:bgrx32"])
    _ = try await fetch([url], formats: formats)
    let same = try await fetch([url], formats: formats, "--revalidate")
    #expect(lines(same) == ["\(url): unchanged"])
    #expect(server.requests.value == 2)
    #expect(server.arrivedRequests.last?.headers["if-none-match"] == "\"1\"")
    let changed = HTTPFile(try image(2), entityTag: "\"2\"")
    served.withLock { $0 = changed }
    #expect(lines(try await fetch([url], formats: formats)) == ["\(url): table"])
    #expect(server.requests.value == 2)
    let anew = try await fetch([url], formats: formats, "--revalidate")
    #expect(lines(anew) == ["\(url): network"])
    #expect(server.requests.value == 3)
    for table in ["row", "other"] { #expect(try await pixels(table, url) == expectedPixels(2)) }
    _ = try await run(["clear", cache, "row"])
    #expect(lines(try await fetch([url])) == ["\(url): original"])
    #expect(try await pixels("row", url) == expectedPixels(2))
  }

  @Test("names an image that fails, draws the others, and ends with status 1")
  func failing() async throws {
    var files = try files(1...1)
    files["/none.png"] = HTTPFile(Data("no image".utf8))
    let server = try HTTPServer(files: files)
    let urls = ["/1.png", "/missing.png", "/none.png"].map { server.url($0) }
    let outcome = try await fetch(urls)
    #expect(outcome.status == 1)
    #expect(lines(outcome) == ["\(urls[0]): network"])
    #expect(outcome.errors.contains("failed \(urls[1]): ") && outcome.errors.contains("404"))
    #expect(outcome.errors.contains("failed \(urls[2]): "))
    #expect(outcome.errors.hasSuffix("1 there, 2 failed\n"))
  }

  @Test("sends a request that failed again, as often as it may", arguments: [0, 1])
  func retries(limit: Int) async throws {
    let server = try HTTPServer(scripts: ["/1.png": [.status(503), .ok(try image(1))]])
    let outcome = try await fetch(
      [server.url("/1.png")], formats: ["row:16x8"], "--retries", "\(limit)")
    #expect(outcome.status == (limit == 0 ? 1 : 0))
    #expect(server.requests.value == limit + 1)
  }

  @Test("calls an image there whose file a server does not send on, and asks again the next time")
  func brokenOffAndDrawn() async throws {
    let noise = try TestImages.noise(PixelSize(width: 400, height: 400), seed: 1)
    let file = HTTPFile(noise, entityTag: "\"1\"")
    let (cut, whole) = (
      file.reply(to: .init(path: "/")).inserting(.cut, after: 300_000), Lock(false)
    )
    let server = try HTTPServer { request in
      if request.number == 1 { return cut }
      if request.number > 2, !whole.withLock({ $0 }) { return .status(500) }
      return file.reply(to: request)
    }
    let url = server.url("/1.png")
    #expect(try await fetch([url], formats: ["row:16x8"], "--retries", "0").status == 1)
    let drawn = try await fetch([url], formats: ["row:16x8"], "--originals", "0")
    #expect(lines(drawn) == ["\(url): network"])
    let failing = try await fetch([url], formats: ["row:16x8"], "--retries", "0")
    #expect(failing.status == 0 && lines(failing) == ["\(url): table"])
    whole.withLock { $0 = true }
    let last = try await fetch([url], formats: ["row:16x8"])
    #expect(lines(last).first?.hasPrefix("\(url): resumed ") == true)
  }

  @Test("keeps no originals where there is no room for them", arguments: ["0", "4k"])
  func withoutOriginals(byteCount: String) async throws {
    let server = try HTTPServer(files: try files(1...1))
    let url = server.url("/1.png")
    #expect(try await fetch([url], formats: ["row:16x8"], "--originals", byteCount).status == 0)
    _ = try await run(["clear", cache, "row"])
    let again = try await fetch([url], formats: ["row:16x8"], "--originals", byteCount)
    #expect(lines(again) == ["\(url): network"])
    #expect(server.requests.value == 2)
  }

  @Test("writes each preview beside the image, named by its time, and keeps only the image")
  func previews() async throws {
    let jpeg = try TestImages.bitmap(PixelSize(width: 400, height: 300), seed: 1)
      .data(encodedBy: JPEGEncoder(isProgressive: true))
    let (half, gate) = (jpeg.count / 2, Gate())
    let server = try HTTPServer([
      "/a%20b.jpg": .chunked([
        .bytes(jpeg.prefix(half)), .wait(gate), .bytes(jpeg.dropFirst(half)),
      ])
    ])
    let url = server.url("/a%20b.jpg")
    let folder = directory.url.appending(path: "new/previews")
    let words = arguments([url], formats: ["row:200x150:bgrx32"]) + ["--previews", folder.path]
    let outcome = try await CommandProcess(words, temporaryFolder: directory.url).run { _, errors in
      if errors.contains("preview \(url): 1-a_b.jpg-row-") { gate.open() }
    }
    #expect(
      outcome.status == 0 && lines(outcome) == ["\(url): network"], "\(outcome)")
    // Sorted by name they are sorted by time.
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    let kinds = try names.map { name in
      let parts = try #require(
        name.wholeMatch(of: /1-a_b\.jpg-row-\d{8}ms-(frame\d|picture)\.png/))
      return String(parts.output.1)
    }
    // A slow loop misses some, and none comes twice or late.
    let frames = Array(kinds.dropLast())
    #expect(kinds.last == "picture" && !frames.isEmpty)
    #expect(frames.allSatisfy { $0.hasPrefix("frame") } && frames == Set(frames).sorted())
    let images = try names.map { try TestImages.pixels(of: folder.appending(path: $0)) }
    #expect(images.allSatisfy { $0.size == PixelSize(width: 200, height: 150) })
    #expect(try await images.last?.bytes == pixels("row", url))
    // The image alone has a place in a table.
    let requestCount = server.requests.value
    let again = try await run(words)
    #expect(lines(again) == ["\(url): table"] && server.requests.value == requestCount)
  }

  @Test("asks no server where previews cannot be written")
  func noPlaceForPreviews() async throws {
    let server = try HTTPServer(files: try files(1...1))
    let file = directory.url.appending(path: "file")
    try Data().write(to: file)
    let outcome = try await fetch([server.url("/1.png")], "--previews", file.path + "/folder")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("The folder \"\(file.path)/folder\" cannot be made"))
    #expect(server.requests.value == 0)
  }

  @Test("keeps what is done at Ctrl-C, and says how much is left")
  func interrupted() async throws {
    let (slow, gate) = (try TestImages.noise(PixelSize(width: 200, height: 200), seed: 1), Gate())
    let server = try HTTPServer([
      "/1.png": .ok(try image(1)), "/slow.png": .ok(slow).inserting(.wait(gate), after: 1000),
    ])
    let urls = ["/1.png", "/slow.png"].map { server.url($0) }
    let process = try CommandProcess(arguments(urls), temporaryFolder: directory.url)
    let outcome = try await process.run(sending: SIGINT, after: "fetching: 1 of 2")
    #expect(outcome.status == 130)
    #expect(lines(outcome) == ["\(urls[0]): network"])
    #expect(outcome.errors.hasSuffix("1 there, 0 failed\n1 of 2 left; the next call goes on.\n"))
    #expect(lines(try await fetch([urls[0]])) == ["\(urls[0]): table"])
    gate.open()
  }
}
