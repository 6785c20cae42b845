import CommandSupport
import FastImageCache
import Foundation
import TableStore
import TestSupport

/// An image whose server says that it has not changed.
struct Unchanged: Scenario {
  static let id = "S7"
  static let name = "unchanged"
  static let summary = """
    image(for:format:) with the policy .revalidate, answered with status 304 by a server on the \
    loopback interface, against .reload, which gets the file of 800 x 600 again. The bytes of all \
    heads and bodies, both ways, are counted by the server, writes of bodies by the store. The original \
    is read before the server is asked, since a 304 is of no use without it
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let photograph = try KeptImage(setting.effort.photographs.small, setting)
    let file = HTTPFile(
      photograph.bytes, entityTag: "\"5f3a-61b2c04e\"",
      lastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
      headers: ["Date": "Sun, 06 Nov 1994 09:49:37 GMT", "Cache-Control": "max-age=60"])
    let server = try HTTPServer(files: ["/picture.jpg": file])
    let calls = CountedCalls()
    let configuration = ImageCache.Configuration.with {
      $0.originals = calls.makeStore(
        Self.name, in: setting.place.url.appending(path: "originals"))
    }
    return try await setting.withCache(
      Self.name, formats: [KeptImage.format], configuration
    ) { cache in
      let image = BenchImage(0, file: server.url("/picture.jpg"))
      func ask(_ policy: LoadOptions.CachePolicy) async throws {
        var options = LoadOptions()
        options.cachePolicy = policy
        _ = try await cache.image(for: image, format: KeptImage.format, options: options)
      }
      // Waits for the rest of a load, which belongs to its request.
      func rest() async { while await cache.statistics().activeLoads > 0 { await Task.yield() } }
      var events = cache.events().makeAsyncIterator()
      try await ask(.useCache)
      // The original is written behind the answer.
      while let event = await events.next() {
        if case .original(_, .stored) = event { break }
      }
      await rest()
      let before = await cache.statistics()
      let (wire, writes) = (server.wireByteCount, calls.count(.write))
      try await ask(.revalidate)
      await rest()
      let now = await cache.statistics()
      let counts = (wire: server.wireByteCount - wire, writes: calls.count(.write) - writes)
      let results = try await Contest([
        Contest.Contender(prepare: rest) {
          try await Contest.time(1) { try await ask(.revalidate) }
        },
        Contest.Contender(prepare: rest) { try await Contest.time(1) { try await ask(.reload) } },
      ]).run(roundCount: min(setting.effort.roundCount, 51))
      return Findings([
        Measure(
          Self.id, "request that its server calls unchanged", ours: results[0],
          reference: results[1], named: "reload"),
        .counted(
          Self.id, "bytes on the wire", unit: "bytes", counts.wire, atMost: 1000),
        .counted(Self.id, "decodes", now.decodes - before.decodes, mustBe: 0),
        .counted(Self.id, "drawings", now.drawings - before.drawings, mustBe: 0),
        .counted(Self.id, "stores", now.stores - before.stores, mustBe: 0),
        .counted(Self.id, "writes of bodies", counts.writes, atMost: 0),
      ])
    }
  }
}
