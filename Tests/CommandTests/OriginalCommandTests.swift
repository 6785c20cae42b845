import CommandSupport
import FastImageCache
import Foundation
import Locking
import Pixels
import TestSupport
import Testing

/// What the commands do with the originals that `fetch` keeps.
extension FetchCommandTests {
  private var folder: URL { URL(filePath: cache).appending(path: "Originals") }

  /// The files of originals.
  private func originalFiles() throws -> [URL] {
    let bodies = folder.appending(path: "bodies")
    return try FileManager.default.contentsOfDirectory(at: bodies, includingPropertiesForKeys: nil)
  }

  private func inspectStore() async throws -> [String: Any] {
    let stores = try await run(["inspect", cache, "--json"]).json?["originals"] as? [[String: Any]]
    return try #require(stores?.first)
  }

  private func ids() async throws -> Set<String> {
    let originals = try await inspectStore()["originals"] as? [[String: Any]]
    return Set((originals ?? []).compactMap { $0["id"] as? String })
  }

  /// Two images in one table, and their originals.
  private func fetchTwo() async throws -> (server: HTTPServer, urls: [URL]) {
    let server = try HTTPServer(files: try files(1...2))
    let urls = (1...2).map { server.url("/\($0).png") }
    #expect(try await fetch(urls).status == 0)
    return (server, urls)
  }

  @Test("keeps originals that inspect lists, also where there is no table any more")
  func inspect() async throws {
    let (server, urls) = try await fetchTwo()
    let store = try await inspectStore()
    #expect(store["name"] as? String == "Originals")
    let originals = try #require(store["originals"] as? [[String: Any]])
    #expect(Set(originals.compactMap { $0["id"] as? String }) == Set(urls.map(\.absoluteString)))
    let first = try #require(originals.first { $0["id"] as? String == urls[0].absoluteString })
    #expect(first["bytes"] as? Int == (try image(1).count))
    #expect(first["width"] as? Int == 16 && first["height"] as? Int == 8)
    #expect((store["partials"] as? [Any])?.isEmpty == true)
    let tables = try FileManager.default.contentsOfDirectory(atPath: cache)
    let table = try #require(tables.first { $0.hasPrefix("imagecache") })
    try FileManager.default.removeItem(atPath: cache + "/" + table)
    let text = try await run(["inspect", cache, "--matching", "*/2.png"])
    #expect(text.status == 0)
    #expect(text.output.hasPrefix("originals \"Originals\": 2 originals, "))
    #expect(text.output.contains(", 1 listed\n") && text.output.contains("\(urls[1])  "))
    #expect(!text.output.contains("\(urls[0])"))
    #expect(server.requests.value == 2)
  }

  @Test("keeps originals that verify proves, and names the one of which a byte has changed")
  func verify() async throws {
    let (server, urls) = try await fetchTwo()
    let intact = try await run(["verify", cache])
    #expect(intact.status == 0)
    #expect(intact.output.hasSuffix("originals \"Originals\": 2 originals intact\n"))
    let file = try #require(try originalFiles().first)
    var bytes = try Data(contentsOf: file)
    bytes[bytes.startIndex + 40] ^= 1
    try bytes.write(to: file)
    let outcome = try await run(["verify", cache])
    #expect(outcome.status == 1)
    #expect(urls.contains { outcome.output.contains("the original \($0) is damaged\n") })
    #expect(outcome.output.hasSuffix("1 original intact, 1 damaged\n"))
    #expect(try Data(contentsOf: file) == bytes)
    _ = try await run(["clear", cache, "row"])
    let again = lines(try await fetch(urls))
    #expect(again.count { $0.hasSuffix(": network") } == 1)
    #expect(again.count { $0.hasSuffix(": original") } == 1)
    #expect(server.requests.value == 3)
    #expect(try await run(["verify", cache]).status == 0)
  }

  @Test("keeps originals that clear removes with the tables, or without them, or not")
  func clear() async throws {
    let (server, urls) = try await fetchTwo()
    let tables = try await run(["clear", cache, "--tables"])
    #expect(tables.status == 0 && tables.output == "row: 2 images removed\n")
    #expect(lines(try await fetch(urls)) == urls.map { "\($0): original" })
    let originals = try await run(["clear", cache, "--originals"])
    #expect(originals.status == 0)
    #expect(originals.output == "originals \"Originals\": 2 originals removed\n")
    #expect(try await ids().isEmpty && originalFiles().isEmpty)
    #expect(lines(try await fetch(urls)) == urls.map { "\($0): table" })
    _ = try await run(["clear", cache, "row"])
    #expect(lines(try await fetch(urls)) == urls.map { "\($0): network" })
    #expect(try await run(["clear", cache]).output.hasSuffix("2 originals removed\n"))
    #expect(lines(try await fetch(urls)) == urls.map { "\($0): network" })
    #expect(server.requests.value == 6)
  }

  @Test("keeps originals of which clear removes those of an age or a form")
  func clearSome() async throws {
    let (server, urls) = try await fetchTwo()
    let old = try await run(["clear", cache, "--older-than", "1h"])
    #expect(old.output == "row: 0 images removed\noriginals \"Originals\": 0 originals removed\n")
    let one = try await run(["clear", cache, "--matching", "*/1.png"])
    #expect(one.output == "row: 1 image removed\noriginals \"Originals\": 1 original removed\n")
    #expect(try await ids() == [urls[1].absoluteString])
    #expect(lines(try await fetch(urls)) == ["\(urls[0]): network", "\(urls[1]): table"])
    let all = try await run(["clear", cache, "--originals", "--older-than", "0s"])
    #expect(all.output == "originals \"Originals\": 2 originals removed\n")
    #expect(server.requests.value == 3)
  }

  @Test("keeps originals that clear removes while another program has them open")
  func clearOpen() async throws {
    let (server, _) = try await fetchTwo()
    let store = OriginalStore(directory: folder)
    #expect(try await store.inspect().count == 2)
    #expect(try await run(["clear", cache, "--originals"]).status == 0)
    #expect(try await store.inspect().isEmpty)
    #expect(server.requests.value == 2)
  }

  // MARK: Partials

  /// A server of one image of about 1 MB. Its first answer stops after 600 kB, and others bring nothing
  /// until the download has ended: on a busy machine the command may give up waiting and ask again.
  private func stoppingServer(
    _ image: Data, until gate: Gate, _ hasEnded: Lock<Bool>
  ) throws -> (server: HTTPServer, url: URL) {
    let file = HTTPFile(image, entityTag: "\"1\"")
    let server = try HTTPServer { request in
      let reply = file.reply(to: request)
      if hasEnded.withLock({ $0 }) { return reply }
      return reply.inserting(.wait(gate), after: request.number == 1 ? 600_000 : 0)
    }
    return (server, server.url("/large.png"))
  }

  /// Fetches an image, and sends a signal when half of it has come and its partial is written.
  private func breakOff(
    _ url: URL, by signal: Int32, _ hasEnded: Lock<Bool>
  ) async throws -> (outcome: CommandProcess.Outcome, partial: [String: Any]) {
    let process = try CommandProcess(
      arguments([url]) + ["--retries", "100"], temporaryFolder: directory.url)
    let child = Lock<Int32>(0)
    async let outcome = {
      defer { hasEnded.withLock { $0 = true } }
      return try await process.run { started, _ in child.withLock { $0 = started } }
    }()
    var partial: [String: Any]?
    // The partial is written beside the download: inspect looks on.
    while partial == nil, !hasEnded.withLock({ $0 }) {
      let stores = try await run(["inspect", cache, "--json"]).json?["originals"]
      let partials = (stores as? [[String: Any]])?.first?["partials"] as? [[String: Any]]
      partial = partials?.first { $0["bytes"] as? Int == 512 << 10 }
    }
    if partial != nil { kill(child.withLock { $0 }, signal) }
    return (try await outcome, try #require(partial))
  }

  /// Has the command ended by a signal in the middle of a download.
  private func breakOffDownload(by signal: Int32) async throws -> BrokenDownload {
    let image = try TestImages.noise(PixelSize(width: 700, height: 500), seed: 7)
    let (gate, hasEnded) = (Gate(), Lock(false))
    defer { gate.open() }
    let (server, url) = try stoppingServer(image, until: gate, hasEnded)
    let (outcome, partial) = try await breakOff(url, by: signal, hasEnded)
    return BrokenDownload(
      server: server, url: url, byteCount: image.count, requestCount: server.requests.value,
      outcome: outcome, partial: partial)
  }

  private struct BrokenDownload {
    let server: HTTPServer
    let url: URL
    let byteCount: Int
    let requestCount: Int
    let outcome: CommandProcess.Outcome
    let partial: [String: Any]
    var kept: String { "512 kB of \(byteCount.byteText)" }
  }

  @Test(
    "goes on after kill -9 and Ctrl-C where the download broke off", arguments: [SIGKILL, SIGINT])
  func continues(signal: Int32) async throws {
    let broken = try await breakOffDownload(by: signal)
    #expect(broken.outcome.isKilled == (signal == SIGKILL))
    if signal == SIGINT {
      #expect(broken.outcome.status == 130)
      #expect(broken.outcome.errors.hasSuffix("1 of 1 left; the next call goes on.\n"))
    }
    #expect(broken.partial["id"] as? String == broken.url.absoluteString)
    #expect(broken.partial["total_bytes"] as? Int == broken.byteCount)
    let verified = try await run(["verify", cache])
    #expect(verified.status == 0)
    #expect(verified.output.contains("0 originals and 1 partial intact"))
    #expect(try await run(["inspect", cache]).output.contains(broken.kept))
    #expect(lines(try await fetch([broken.url])) == ["\(broken.url): resumed \(broken.kept)"])
    #expect(broken.server.arrivedRequests.last?.headers["range"] == "bytes=\(512 << 10)-")
    #expect(broken.server.requests.value == broken.requestCount + 1)
    let store = try await inspectStore()
    let originals = store["originals"] as? [[String: Any]]
    #expect(originals?.first?["bytes"] as? Int == broken.byteCount)
    #expect((store["partials"] as? [Any])?.isEmpty == true)
  }

  @Test("finishes what broke off of an image that is in its table")
  func finishes() async throws {
    let broken = try await breakOffDownload(by: SIGKILL)
    let (url, formats) = (broken.url, ["row:16x8:bgrx32"])
    #expect(
      lines(try await fetch([url], formats: formats, "--originals", "0")) == ["\(url): network"])
    #expect(lines(try await fetch([url])) == ["\(url): resumed \(broken.kept)"])
    #expect(lines(try await fetch([url])) == ["\(url): table"])
    _ = try await run(["clear", cache, "row"])
    #expect(lines(try await fetch([url])) == ["\(url): original"])
    #expect(broken.server.requests.value == broken.requestCount + 2)
  }

  @Test("keeps partials that verify names where they are damaged, and clear removes")
  func damagedPartial() async throws {
    let broken = try await breakOffDownload(by: SIGKILL)
    #expect(broken.outcome.isKilled)
    let content = try FileHandle(forUpdating: try #require(try originalFiles().first))
    try content.seek(toOffset: 300_000)
    try content.write(contentsOf: Data("other".utf8))
    try content.close()
    // The fetch may have asked again before it was killed; these two never ask.
    let outcomes = try await run(["verify", cache])
    #expect(outcomes.status == 1)
    #expect(outcomes.output.contains("the partial \(broken.url) is damaged\n"))
    let cleared = try await run(["clear", cache])
    #expect(cleared.output.hasSuffix("0 originals and 1 partial removed\n"))
    #expect(try originalFiles().isEmpty)
    #expect(broken.server.requests.value == broken.requestCount)
  }
}
