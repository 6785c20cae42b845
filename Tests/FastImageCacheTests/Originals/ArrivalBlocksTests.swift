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
}
