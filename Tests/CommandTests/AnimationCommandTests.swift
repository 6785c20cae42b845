import FastImageCache
import Foundation
import ImageCodecs
import Pixels
import TestSupport
import Testing

@Suite("The commands, of animations,", .timeLimit(.minutes(10)))
struct AnimationCommandTests {
  private let directory: TemporaryDirectory
  private let stickers: URL
  private let cache: String
  private let size = PixelSize(width: 64, height: 16)
  private let format = "row:64x16:bgrx32:stretch:animated"

  init() throws {
    directory = try TemporaryDirectory()
    stickers = directory.url.appending(path: "stickers", directoryHint: .isDirectory)
    cache = directory.url.appending(path: "cache").path
    try FileManager.default.createDirectory(at: stickers, withIntermediateDirectories: true)
    try TestAnimation(size, seeds: [1, 2, 3], milliseconds: [100, 250, 40], loopCount: 2).png()
      .write(to: stickers.appending(path: "a.png"))
    try TestImages.writePNG(size, seed: 9, to: stickers.appending(path: "still.png"))
  }

  private func run(_ words: String..., preparation: String? = nil) async throws
    -> CommandProcess.Outcome
  {
    try await CommandProcess(words, temporaryFolder: directory.url, preparation: preparation).run()
  }

  private func warm(_ format: String? = nil, _ words: String...) async throws
    -> CommandProcess.Outcome
  {
    try await CommandProcess(
      ["warm", stickers.path, "--cache", cache, "--format", format ?? self.format] + words,
      temporaryFolder: directory.url
    ).run()
  }

  /// The entries of the one table.
  private func entries() async throws -> [String: [String: Any]] {
    let json = try await run("inspect", cache, "--json").json
    let table = try #require((json?["tables"] as? [[String: Any]])?.first)
    let entries = try #require(table["entries"] as? [[String: Any]])
    return Dictionary(uniqueKeysWithValues: entries.map { ($0["entity"] as? String ?? "", $0) })
  }

  private func expected(_ seed: Int) throws -> [UInt8] {
    TestImages.pixels(of: try TestImages.bitmap(size, seed: seed))
  }

  /// Changes a byte of a frame in the table's file.
  private func damage(seed: Int) throws {
    let files = FileManager.default.enumerator(
      at: URL(filePath: cache), includingPropertiesForKeys: nil)
    let file = try #require(
      files?.compactMap { $0 as? URL }.first { $0.pathExtension == "imagetable" })
    var bytes = try Data(contentsOf: file)
    let place = try #require(bytes.firstRange(of: try expected(seed).prefix(64)))
    bytes[place.lowerBound + 5] ^= 1
    try bytes.write(to: file)
  }

  @Test("show one with its frames as one image, and verify each frame")
  func oneEntry() async throws {
    #expect(try await warm().output == "2 stored, 0 already there, 0 failed\n")
    #expect(try await warm().output == "0 stored, 2 already there, 0 failed\n")
    let text = try await run("inspect", cache).output
    #expect(text.contains("row: 64x16 bgrx32, animated, 2 images, 4 of 20 frames"), "\(text)")
    #expect(text.split(separator: "\n").count == 4)
    let entries = try await entries()
    #expect(entries.keys.sorted() == ["a.png", "still.png"])
    #expect(entries.mapValues { $0["frames"] as? Int } == ["a.png": 3, "still.png": 1])
    #expect(entries.values.allSatisfy { $0["metadata_bytes"] as? Int == 0 })
    #expect(try await run("verify", cache).output == "row: 2 images of 4 frames intact\n")
  }

  @Test("write a frame, or all of them as an animated PNG file")
  func exports() async throws {
    #expect(try await warm().status == 0)
    let file = directory.url.appending(path: "out.png")
    for (frame, seed) in [(0, 1), (2, 3)] {
      let outcome = try await run("export", cache, "row", "a.png", file.path, "--frame", "\(frame)")
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(try TestImages.pixels(of: file).bytes == expected(seed))
    }
    #expect(try await run("export", cache, "row", "a.png", file.path, "--frame=3").status == 2)
    #expect(try await run("export", cache, "row", "a.png", file.path).status == 0)
    let data = try Data(contentsOf: file)
    let decoder = try #require(
      try ImageDecoders.standard.decoder(for: data) as? any AnimationDecoder)
    let header = try #require(try decoder.animation(of: data, within: DecodingLimits()))
    #expect(header.frameDurations == [.milliseconds(100), .milliseconds(250), .milliseconds(40)])
    #expect(header.loopCount == 2 && !header.isCut)
    let reader = try decoder.frames(of: data, DecodeRequest())
    for seed in 1...3 {
      #expect(TestImages.pixels(of: try #require(try reader.next())) == (try expected(seed)))
    }
    #expect(try await run("export", cache, "row", "still.png", file.path).status == 0)
    #expect(try Data(contentsOf: file).range(of: Data("acTL".utf8)) == nil)
    let jpeg = directory.url.appending(path: "out.jpg").path
    let refused = try await run("export", cache, "row", "a.png", jpeg)
    #expect(refused.status == 2 && refused.errors.contains("--frame"))
    #expect(try await run("export", cache, "row", "a.png", jpeg, "--frame=1").status == 0)
  }

  @Test(
    "keep the first frame of one beyond the limit, say so, and store all of them once there is room"
  )
  func beyondLimit() async throws {
    let outcome = try await warm("\(format)=1k")
    #expect(outcome.status == 0)
    #expect(outcome.errors.contains("kept a.png: its first frame only"))
    #expect(outcome.output == "2 stored, 0 already there, 0 failed\n")
    #expect(try await run("inspect", cache).output.contains("streamed"))
    #expect(try await entries()["a.png"]?["streamed"] as? Bool == true)
    #expect(try await warm("\(format)=1k").output == "0 stored, 2 already there, 0 failed\n")
    #expect(try await warm().output == "1 stored, 1 already there, 0 failed\n")
    #expect(try await entries()["a.png"]?["frames"] as? Int == 3)
  }

  @Test("name the frame that is damaged, and store the animation anew")
  func damagedFrame() async throws {
    #expect(try await warm().status == 0)
    try damage(seed: 3)
    let verified = try await run("verify", cache)
    #expect(verified.status == 1)
    #expect(verified.output.contains("frame 2 of a.png is damaged"))
    #expect(verified.output.contains("row: 2 images of 3 frames intact, 1 damaged"))
    #expect(try await run("inspect", cache).output.contains("2 of 3"))
    let file = directory.url.appending(path: "out.png").path
    let lost = try await run("export", cache, "row", "a.png", file)
    #expect(lost.status == 1 && lost.errors.contains("has lost frame 2 of \"a.png\""))
    #expect(try await run("export", cache, "row", "a.png", file, "--frame", "1").status == 0)
    #expect(try await warm().output == "1 stored, 1 already there, 0 failed\n")
    #expect(try await run("verify", cache).output == "row: 2 images of 4 frames intact\n")
  }

  @Test("remove all frames with the first, whatever their ids' form")
  func clear() async throws {
    #expect(try await warm().status == 0)
    #expect(
      try await run("clear", cache, "--matching", "a.*").output == "row: 1 image removed\n")
    #expect(try await run("inspect", cache).output.contains("1 image, 1 of 20 frames"))
    #expect(try await warm().output == "1 stored, 1 already there, 0 failed\n")
    #expect(try await run("clear", cache, "--matching", "*").output == "row: 2 images removed\n")
    #expect(try await run("inspect", cache).output.contains("0 images, 0 of 20 frames"))
    #expect(try await warm().status == 0)
    #expect(try await run("clear", cache).output == "row: 2 images removed\n")
  }

  @Test("remove the frames of one whose id is too long for its slot")
  func longIDs() async throws {
    let folder = Array(repeating: String(repeating: "long", count: 50), count: 6)
      .joined(separator: "/")
    let name = folder + "/a.png"
    try FileManager.default.createDirectory(
      at: stickers.appending(path: folder), withIntermediateDirectories: true)
    try FileManager.default.moveItem(
      at: stickers.appending(path: "a.png"), to: stickers.appending(path: name))
    #expect(try await warm().status == 0)
    #expect(try await entries().keys.contains { $0.hasPrefix("sha256:") })
    #expect(try await run("verify", cache).output == "row: 2 images of 4 frames intact\n")
    let file = directory.url.appending(path: "out.png")
    #expect(try await run("export", cache, "row", name, file.path, "--frame=1").status == 0)
    #expect(try TestImages.pixels(of: file).bytes == expected(2))
    #expect(
      try await run("clear", cache, "--matching", "sha256:*").output == "row: 1 image removed\n")
    #expect(try await run("inspect", cache).output.contains("1 image, 1 of 20 frames"))
  }

  @Test("fetch all frames, and bring back those that are lost from the file that was kept")
  func fetches() async throws {
    let data = try Data(contentsOf: stickers.appending(path: "a.png"))
    let server = try HTTPServer(files: ["/a.png": HTTPFile(data)])
    let words = [
      "fetch", server.url("/a.png").absoluteString, "--cache", cache, "--format", format,
    ]
    for _ in 1...2 {
      let outcome = try await CommandProcess(words, temporaryFolder: directory.url).run()
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(
        try await entries().values.first.map {
          [$0["frames"] as? Int, $0["intact_frames"] as? Int]
        } == [3, 3])
      try damage(seed: 2)
    }
    #expect(server.requests.value == 1)
  }

  @Test("say that the disk is full where a frame finds no room")
  func fullDisk() async throws {
    // As in the test of stills: enough for a table and a frame of 2 MiB, too little for two.
    let outcome = try await CommandProcess(
      [
        "warm", stickers.path, "--cache", cache, "--format", "row:1024x512:bgrx32:stretch:animated",
      ],
      temporaryFolder: directory.url, preparation: "trap '' XFSZ; ulimit -f 5000"
    ).run()
    #expect(outcome.status == 1)
    #expect(
      outcome.errors.contains("failed a.png: the table \"row\" could not take it: The disk of "))
    #expect(outcome.errors.contains(" is full."))
  }

  // MARK: scroll --animated

  @Test("play alike from a table and from the file, and draw the chart")
  func scroll() async throws {
    let page = directory.url.appending(path: "report.html")
    let outcome = try await run(
      "scroll", "--animated", stickers.path, "--size", "64x16", "--json", "--report", page.path)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.errors.contains("skipped still.png: It does not move."))
    let methods = try #require(outcome.json?["methods"] as? [[String: Any]])
    #expect(
      methods.compactMap { $0["method"] as? String } == ["image table", "decode in each loop"])
    // 3 frames in 390 ms, over 10 s of 60 frames.
    #expect(methods.map { $0["shown_frames"] as? Int } == [76, 76])
    #expect(methods.allSatisfy { ($0["shown_frame_us"] as? Double ?? 0) > 0 })
    let html = try String(contentsOf: page, encoding: .utf8)
    #expect(html.matches(of: /<circle cx/).count == 2 * 76)
    let images = html.matches(of: /data:image\/png;base64,([A-Za-z0-9+\/=]+)/).map(\.output.1)
    #expect(images.count == 2 && images[0] == images[1])
    let leftovers = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
      .filter { $0.hasPrefix("imagecache-") }
    #expect(leftovers == [])
  }

  @Test("are refused where there are none, and with words about rows")
  func scrollRefusals() async throws {
    #expect(try await run("scroll", "--animated").status == 2)
    let rows = try await run("scroll", "--animated", stickers.path, "--rows", "3")
    #expect(rows.status == 2 && rows.errors.contains("--rows"))
    try FileManager.default.removeItem(at: stickers.appending(path: "a.png"))
    let none = try await run("scroll", "--animated", stickers.path)
    #expect(none.status == 1 && none.errors.contains("has no animations"))
  }
}
