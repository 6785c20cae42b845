import CommandSupport
import FastImageCache
import Foundation
import OriginalDatabase
import TestSupport

/// Downloads that broke off, and are continued.
struct BrokenDownloads: Scenario {
  static let id = "S11"
  static let name = "broken-downloads"
  static let summary = """
    bytes that a server on the loopback interface sent twice, of a JPEG file of 800 x 600 whose first \
    download failed in the middle, or was cancelled there: with an ETag, and with a date, where an \
    overlap of 256 bytes is compared. Against the length of the file. Then of a file of a megabyte whose \
    process was killed: another store gets the files that the first one has on disk at that moment
    """

  private static let clock = ["Date": "Sun, 06 Nov 1994 09:49:37 GMT"]

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let bytes = try KeptImage(setting.effort.photographs.small, setting).bytes
    let tagged = HTTPFile(bytes, entityTag: "\"5f3a-61b2c04e\"", headers: Self.clock)
    let dated = HTTPFile(bytes, lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", headers: Self.clock)
    let half = bytes.count / 2
    let server = try HTTPServer { request in
      let reply = (request.path.hasPrefix("/tagged") ? tagged : dated).reply(to: request)
      guard request.number == 1 else { return reply }
      return request.path.hasSuffix("failed")
        ? reply.inserting(.cut, after: half) : reply.stopping(after: half)
    }
    var http = HTTPOptions()
    http.retry = .never
    let source = URLImageSource(http: http)
    return try await setting.withCache(
      Self.name, formats: [KeptImage.format], .with { $0.source = source }
    ) { cache in
      var measures: [Measure] = []
      for (number, path) in ["/tagged-failed", "/tagged-left", "/dated-failed", "/dated-left"]
        .enumerated()
      {
        let image = BenchImage(number, file: server.url(path))
        // Breaking off ends the load, whose image nobody else waits for.
        for await step in cache.progress(for: image, format: KeptImage.format) {
          if path.hasSuffix("left"), case .receiving(half..., of: _) = step { break }
        }
        while cache.partialByteCount < half { try await Task.sleep(for: .microseconds(100)) }
        _ = try await cache.image(for: image, format: KeptImage.format)
        let what = path.dropFirst().replacing("-", with: " and ")
        measures.append(
          .counted(
            Self.id, "fetched twice of \(bytes.count), \(what)", unit: "bytes",
            server.bodyByteCount(for: path) - bytes.count,
            atMost: path.hasPrefix("/tagged") ? 0 : 256))
      }
      measures.append(try await killed(bytes, setting))
      return Findings(measures)
    }
  }

  // MARK: After a kill

  private func killed(_ bytes: Data, _ setting: BenchSetting) async throws -> Measure {
    // What stands behind its end changes no image, and makes blocks.
    let whole = bytes + Data(count: max(0, 1 << 20 - bytes.count))
    let half = whole.count * 3 / 5
    let file = HTTPFile(whole, entityTag: "\"5f3a-61b2c04f\"", headers: Self.clock)
    let server = try HTTPServer { request in
      let reply = file.reply(to: request)
      return request.number == 1 ? reply.stopping(after: half) : reply
    }
    let image = BenchImage(0, file: server.url("/killed"))
    let stores = ["before", "after"].map { name in
      OriginalStore(
        directory: setting.place.url.appending(path: "killed-\(name)"), byteLimit: 16 << 20)
    }
    try await setting.withCache(
      "before-kill", formats: [KeptImage.format], .with { $0.originals = stores[0] }
    ) { cache in
      for await step in cache.progress(for: image, format: KeptImage.format) {
        guard case .receiving(half..., of: _) = step else { continue }
        let blocks = half / Checksum.blockByteCount * Checksum.blockByteCount
        while try await stores[0].inspect().first?.arrivedByteCount ?? 0 < blocks {
          try await Task.sleep(for: .microseconds(100))
        }
        try FileManager.default.copyItem(at: stores[0].directory, to: stores[1].directory)
        break
      }
    }
    return try await setting.withCache(
      "after-kill", formats: [KeptImage.format], .with { $0.originals = stores[1] }
    ) { cache in
      _ = try await cache.image(for: image, format: KeptImage.format)
      return .counted(
        Self.id, "fetched twice of \(whole.count), tagged and killed at \(half)", unit: "bytes",
        server.bodyByteCount(for: "/killed") - whole.count, atMost: 256 << 10)
    }
  }
}

extension HTTPReply {
  /// The same reply whose body stops after so many bytes, until the client leaves.
  func stopping(after byteCount: Int) -> HTTPReply {
    let steps = inserting(.cut, after: byteCount).steps
    return HTTPReply(
      Array(
        steps.prefix { step in
          if case .cut = step { return false }
          return true
        }))
  }
}
