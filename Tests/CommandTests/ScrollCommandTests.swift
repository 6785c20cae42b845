import Foundation
import Pixels
import TestSupport
import Testing

@Suite("imagecache scroll", .timeLimit(.minutes(10)))
struct ScrollCommandTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private var leftovers: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
        .filter { $0.hasPrefix("imagecache-") }
    }
  }

  /// The page of a report, and the images in it.
  private func read(_ page: URL) throws -> (html: String, images: [Substring]) {
    let html = try String(contentsOf: page, encoding: .utf8)
    return (html, html.matches(of: /data:image\/png;base64,([A-Za-z0-9+\/=]+)/).map(\.output.1))
  }

  private func makePhotographs(_ count: Int) throws -> URL {
    let folder = directory.url.appending(path: "photos", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for number in 0..<count {
      try TestImages.writePNG(
        PixelSize(width: 60 + number, height: 50), seed: number,
        to: folder.appending(path: "\(number).png"))
    }
    return folder
  }

  @Test("draws photographs of its own, and prints every key as JSON")
  func json() async throws {
    let outcome = try await CommandProcess.run(
      "scroll", "--rows", "4", "--columns", "1", "--size", "40x30", "--json", in: directory.url)
    #expect(outcome.status == 0)
    let json = try #require(outcome.json)
    #expect(Set(json.keys) == ["pictures", "rows", "frames", "methods"])
    #expect(json["pictures"] as? Int == 4)
    #expect(json["rows"] as? Int == 4)
    #expect(json["frames"] as? Int == 1)
    let methods = try #require(json["methods"] as? [[String: Any]])
    #expect(
      methods.compactMap { $0["method"] as? String } == [
        "image table", "cached thumbnail", "decode original",
      ])
    for method in methods {
      #expect(
        Set(method.keys) == [
          "method", "busy_frames", "busy_ms", "frames_over_8_3", "frames_over_16_7",
          "private_bytes",
          "disk_bytes",
        ])
      let work = try #require(method["busy_ms"] as? [String: Double])
      #expect(Set(work.keys) == ["p50", "p99", "max"])
      #expect(work.values.allSatisfy { $0 > 0 })
      #expect(method["busy_frames"] as? Int == 1)
    }
    #expect(try leftovers == [])
  }

  @Test("shows few photographs again in other crops and says so, without files that are none")
  func folder() async throws {
    let photos = try makePhotographs(3)
    try Data("no image".utf8).write(to: photos.appending(path: "liar.jpg"))
    try Data("II*\0".utf8).write(to: photos.appending(path: "scan.tif"))
    let whole = try Data(contentsOf: photos.appending(path: "0.png"))
    try whole.prefix(whole.count / 2).write(to: photos.appending(path: "cut.png"))
    try FileManager.default.createSymbolicLink(
      atPath: photos.appending(path: "lost.jpg").path, withDestinationPath: "nowhere")
    let outcome = try await CommandProcess.run(
      "scroll", photos.path, "--rows", "20", "--columns", "2", "--size", "20x20", "--pixel-format",
      "bgra32", in: directory.url)
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("3 photographs for 40 places"))
    #expect(outcome.output.contains("image table"))
    #expect(outcome.errors.contains("skipped liar.jpg: The bytes are no image of a known kind."))
    #expect(outcome.errors.contains("skipped scan.tif: "))
    #expect(outcome.errors.contains("skipped cut.png: "))
    #expect(outcome.errors.contains("skipped lost.jpg: its link leads nowhere"))
  }

  @Test("writes a page with a chart and the images of all methods")
  func report() async throws {
    let photos = try makePhotographs(3)
    let page = directory.url.appending(path: "report.html")
    let outcome = try await CommandProcess.run(
      "scroll", photos.path, "--rows", "30", "--columns", "2", "--size", "16x16", "--speed", "16",
      "--report", page.path, in: directory.url)
    #expect(outcome.status == 0)
    let (html, images) = try read(page)
    #expect(html.matches(of: /<circle cx/).count == 3 * 18)
    #expect(images.count == 36)
    #expect(images.allSatisfy { Data(base64Encoded: String($0))?[1...3] == Data("PNG".utf8) })
    // The table and the original are drawn alike, so their strips are the same images.
    #expect(Array(images.prefix(12)) == Array(images.suffix(12)))
    #expect(Set(images.prefix(12)).count == 12)
  }

  @Test("shows what a slow network brings, and never anything worse than before")
  func slowNetwork() async throws {
    let photos = try makePhotographs(2)
    let page = directory.url.appending(path: "report.html")
    let outcome = try await CommandProcess.run(
      "scroll", photos.path, "--rows", "4", "--columns", "2", "--size", "40x30", "--slow-network",
      "200", "--json", "--report", page.path, in: directory.url)
    #expect(outcome.status == 0, "\(outcome.errors)")
    let json = try #require(outcome.json)
    #expect(json["pictures"] as? Int == 8 && json["kilobits_per_second"] as? Int == 200)
    let passes = try #require(json["passes"] as? [[String: Any]])
    #expect(
      passes.map { $0["pass"] as? String } == [
        "without previews", "with previews", "from originals",
      ])
    for pass in passes {
      #expect(pass["became_worse"] as? Int == 0)
      let (first, last) = (
        try #require(pass["first_ms"] as? [String: Double]),
        try #require(pass["picture_ms"] as? [String: Double])
      )
      for key in ["p50", "p90"] {
        #expect(try #require(first[key]) <= #require(last[key]))
      }
    }
    #expect(passes.map { $0["downloaded_bytes"] as? Int ?? 0 > 0 } == [true, true, false])
    #expect(passes[0]["previews"] as? Int == 0 && passes[2]["previews"] as? Int == 0)
    #expect(try read(page).images.count == 1)
    #expect(try leftovers == [])
  }

  @Test("writes what the screen showed as an image, a strip for each second")
  func strips() async throws {
    let photos = try makePhotographs(1)
    let file = directory.url.appending(path: "strips.png")
    let outcome = try await CommandProcess.run(
      "scroll", photos.path, "--rows", "2", "--columns", "3", "--size", "40x40", "--slow-network",
      "100000", "--report", file.path, in: directory.url)
    #expect(outcome.status == 0, "\(outcome.errors)")
    let (size, bytes) = try TestImages.pixels(of: file)
    // Three images of 40 pixels with a gap behind each, twice, and a wider gap between.
    #expect(size.width == 2 * 3 * 42 + 8 - 2)
    #expect(size.height >= 40)
    // At the end of the run both sides show the same images.
    let rows = (0..<40).map { (size.height - 40 + $0) * size.width * 4 }
    for row in rows {
      let (left, right) = (row, row + (3 * 42 + 8) * 4)
      #expect(bytes[left..<(left + 124 * 4)] == bytes[right..<(right + 124 * 4)])
    }
  }

  @Test(
    "ends with status 130 on Ctrl-C, a hangup and kill(1), and leaves nothing behind",
    arguments: [SIGINT, SIGHUP, SIGTERM])
  func interrupted(signal: Int32) async throws {
    let process = try CommandProcess(
      ["scroll", "--rows", "400"], temporaryFolder: directory.url)
    let outcome = try await process.run(sending: signal, after: "drawing photographs")
    #expect(outcome.status == 130)
    #expect(!outcome.isKilled)
    #expect(outcome.output.isEmpty)
    #expect(try leftovers == [])
  }

  @Test("leaves nothing behind when its output has no reader any more")
  func unheard() async throws {
    let photos = try makePhotographs(3)
    // The shell runs it into a pipe without a reader, and then becomes a call that only prints
    // help.
    let process = try CommandProcess(
      ["scroll", photos.path, "--rows", "4", "--columns", "1", "--size", "40x30"],
      temporaryFolder: directory.url, preparation: "\"$0\" \"$@\" 2>&1 | true; set -- --help")
    #expect(try await process.run().status == 0)
    #expect(try leftovers == [])
  }
}
