import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache
@testable import TableStore

@Suite("An image damaged on disk", .timeLimit(.minutes(10)))
struct DamageTests {
  @Test("is told of, counted, and loaded anew")
  func isTold() async throws {
    let directory = try TemporaryDirectory()
    let photo = Photo("a", url: "test:/5")
    let first = try await Fixture(directory: directory)
    _ = try await first.cache.image(for: photo, format: .row)
    await first.cache.close()
    let folder = first.cache.directory
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    let name = try #require(names.first { $0.hasSuffix(".imagetable") })
    let file = folder.appendingPathComponent(name)
    var bytes = try Data(contentsOf: file)
    // The last byte is in the only image's trailer.
    bytes[bytes.count - 1] ^= 1
    try bytes.write(to: file)

    let second = try await Fixture(directory: directory)
    let events = second.cache.events()
    #expect(try await second.cache.image(for: photo, format: .row).solidNumber == 5)
    #expect(second.source.started.value == 1)
    let table = try #require(await second.cache.statistics().tables.first)
    #expect(table.damageCount == 1 && table.entryCount == 1)
    await second.cache.close()
    var damaged: [String] = []
    for await case .damaged(let entity, let format) in events {
      damaged.append("\(entity.map { "\($0)" } ?? "unknown") \(format)")
    }
    #expect(damaged == ["a row"])
  }
}

@Suite("Statistics", .timeLimit(.minutes(10)))
struct StatisticsCostTests {
  @Test("look at each table once")
  func lookOnce() async throws {
    let looks = Counter()
    let system = SystemCalls { call throws(SystemError) in
      // Each look at a table asks for the size of its file.
      if call.kind == .status { looks.increment() }
    }
    let cache = try await Fixture([.row, .large, .dot]) { $0.system = system }.cache
    let before = looks.value
    #expect(await cache.statistics().tables.count == 3)
    #expect(looks.value - before == 3)
  }
}
