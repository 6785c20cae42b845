import Foundation
import OriginalStore
import TestSupport
import Testing

@testable import FastImageCache

@Suite("The blocks of a load's arrivals", .timeLimit(.minutes(10)))
struct ArrivalBlocksTests {
  @Test("are written as soon as the disk has time, those of an arrival in another's place too")
  func newerArrival() async throws {
    let directory = try TemporaryDirectory()
    let store = SourceStore(
      directory: directory.url, budget: StorageBudget(byteCount: 64 << 20))
    try await store.open()
    let name = OriginalName(id: "a", audience: .everyone)
    let load = store.begin(name, of: "a")
    let disk = try #require(store.partial(of: name, for: "a", load, with: [:]))
    let slot = ArrivalSlot(to: disk)
    let size = PartialFile.blockByteCount
    let (terms, limit) = (
      OriginalTerms(
        fields: ["ETag": "\"x\"", "Content-Length": "\(4 * size)"], received: Date()), 4 * size
    )
    let block = Data(repeating: 7, count: size)
    // Jobs wait on the lane behind this one.
    let gate = Gate()
    store.budget.shared.enqueue { gate.waitBlocking() }
    let first = slot.begin(terms, continuing: nil, byteCountLimit: limit)
    try first.append(block)
    let second = slot.begin(terms, continuing: nil, byteCountLimit: limit)
    try second.append(block + block + block)
    gate.open()
    // Each job begins the next one before it ends.
    for _ in 0..<8 { await store.budget.shared.run {} }
    let key = OriginalKey("a", .everyone)
    let path = store.directory.appendingPathComponent(key.digest.fileName + ".part").path
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.size] as? Int == 3 * size)
    disk.end(keeping: slot.take())
  }

  @Test("keep nothing alive once the load has ended")
  func ending() async throws {
    let directory = try TemporaryDirectory()
    let store = SourceStore(directory: directory.url)
    try await store.open()
    let name = OriginalName(id: "a", audience: .everyone)
    let gate = Gate()
    weak var last: PartialOnDisk?
    do {
      let load = store.begin(name, of: "a")
      let disk = try #require(store.partial(of: name, for: "a", load, with: [:]))
      last = disk
      let slot = ArrivalSlot(to: disk)
      let size = PartialFile.blockByteCount
      let terms = OriginalTerms(
        fields: ["ETag": "\"x\"", "Content-Length": "\(4 * size)"], received: Date())
      store.budget.shared.enqueue { gate.waitBlocking() }
      let arrival = slot.begin(terms, continuing: nil, byteCountLimit: 4 * size)
      // One job is begun, and more is there for it.
      for _ in 0..<2 { try arrival.append(Data(count: size)) }
      disk.end(keeping: nil)
      // A source may go on for a while.
      try arrival.append(Data(count: size))
    }
    gate.open()
    while last != nil, !Task.isCancelled { await Task.yield() }
    #expect(last == nil)
  }

  // MARK: Parts of several loads

  private static let size = PartialFile.blockByteCount
  private static let name = OriginalName(id: "a", audience: .everyone)

  private static func terms(_ fields: [String: String] = [:]) -> OriginalTerms {
    let own = ["ETag": "\"x\"", "Content-Length": "\(4 * size)"]
    return OriginalTerms(fields: own.merging(fields) { $1 }, received: Date())
  }

  private func part(
    _ store: SourceStore, with headers: [String: String] = [:]
  ) throws -> PartialOnDisk {
    let load = store.begin(Self.name, of: "a")
    return try #require(store.partial(of: Self.name, for: "a", load, with: headers))
  }

  /// Ends a load that broke off behind so many blocks.
  private func leave(
    _ count: Int, _ terms: OriginalTerms, by disk: PartialOnDisk, on store: SourceStore
  ) async throws {
    let slot = ArrivalSlot(to: disk)
    let arrival = slot.begin(terms, continuing: nil, byteCountLimit: 8 * Self.size)
    try arrival.append(Data(repeating: 7, count: count * Self.size))
    disk.end(keeping: slot.take())
    await store.budget.shared.run {}
  }

  private func withStore(_ body: (SourceStore) async throws -> Void) async throws {
    let directory = try TemporaryDirectory()
    let store = SourceStore(directory: directory.url, budget: StorageBudget(byteCount: 64 << 20))
    try await store.open()
    try await body(store)
  }

  @Test("are written when the load ends at the latest, and all of them are the whole original")
  func lateBlocks() async throws {
    try await withStore { store in
      let gate = Gate()
      store.budget.shared.enqueue { gate.waitBlocking() }
      let disk = try part(store)
      let slot = ArrivalSlot(to: disk)
      let arrival = slot.begin(Self.terms(), continuing: nil, byteCountLimit: 4 * Self.size)
      try arrival.append(Data(repeating: 7, count: 4 * Self.size))
      disk.end(keeping: slot.take())
      gate.open()
      await store.budget.shared.run {}
      let known = try #require(await part(store).known())
      #expect(known.bytes.count == 4 * Self.size && known.isWhole)
    }
  }

  enum Difference: CaseIterable {
    case entityTag, byteCount, origin, fields
  }

  @Test(
    "are begun anew behind the answer for another original, even if its bytes are the same",
    arguments: Difference.allCases)
  func otherOriginals(difference: Difference) async throws {
    try await withStore { store in
      let first = Self.terms(["Vary": "Accept-Language"])
      var (second, headers) = (first, [String: String]())
      switch difference {
      case .entityTag: second.entityTag = "\"y\""
      case .byteCount: second.byteCount = 5 * Self.size
      case .origin: second.origin = "https://other.example.com:443/a"
      case .fields: headers["Accept-Language"] = "fr"
      }
      try await leave(2, first, by: part(store), on: store)
      try await leave(2, second, by: part(store, with: headers), on: store)
      second.recordRequest(headers)
      #expect(try await part(store).known()?.terms == second)
    }
  }

  @Test(
    "leave nothing of earlier ones behind an answer that may not be continued or not be kept",
    arguments: [["ETag": "W/\"x\""], ["Cache-Control": "no-store"]])
  func uselessAnswer(fields: [String: String]) async throws {
    try await withStore { store in
      try await leave(2, Self.terms(), by: part(store), on: store)
      let disk = try part(store)
      #expect(await disk.known()?.bytes.count == 2 * Self.size)
      try await leave(2, Self.terms(fields), by: disk, on: store)
      #expect(try await part(store).known() == nil)
    }
  }

  @Test("are none of a file that is smaller, and count for nothing beyond the announced length")
  func lengths() async throws {
    try await withStore { store in
      let small = Self.terms(["Content-Length": "\(Self.size - 1)"])
      #expect(try part(store).begin(small) == nil)
      let announced = Self.terms(["Content-Length": "\(2 * Self.size)"])
      try await leave(3, announced, by: part(store), on: store)
      #expect(try await part(store).known() == nil)
    }
  }

  @Test("are not written once the picture was drawn")
  func drawn() async throws {
    try await withStore { store in
      let gate = Gate()
      store.budget.shared.enqueue { gate.waitBlocking() }
      let download = await Download.begin(
        of: Self.name, for: "a", with: [:], on: PartialShelf(), and: try part(store), isAnew: true,
        painter: nil)
      let arrival = download.arrivals.begin(
        Self.terms(), continuing: nil, byteCountLimit: 4 * Self.size)
      try arrival.append(Data(repeating: 7, count: 4 * Self.size))
      download.finish()
      gate.open()
      for _ in 0..<8 { await store.budget.shared.run {} }
      let names = try FileManager.default.contentsOfDirectory(atPath: store.directory.path)
      #expect(!names.contains { $0.hasSuffix(".part") })
      withExtendedLifetime(download) {}
    }
  }
}
