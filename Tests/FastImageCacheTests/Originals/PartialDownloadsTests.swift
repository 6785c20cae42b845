import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache

@Suite("Partial downloads", .timeLimit(.minutes(10)))
struct PartialDownloadsTests {
  private let partials = PartialDownloads(room: 100)

  private func name(_ number: Int, _ account: AccountID? = nil) -> OriginalName {
    OriginalName(id: ImageID(number), account: account, address: "test:/")
  }

  private func arrival(_ count: Int, of total: Int, _ fields: [String: String] = [:])
    -> DownloadBuffer
  {
    let head = ["ETag": #""x""#, "Content-Length": "\(total)"].merging(fields) { $1 }
    let terms = ResponseMetadata(fields: head, received: Date(timeIntervalSince1970: 784_112_000))
    let bytes = Data(repeating: UInt8(truncatingIfNeeded: count), count: count)
    return DownloadBuffer(
      terms, continuing: KnownOriginal(terms: terms, bytes: bytes, isWhole: false),
      byteCountLimit: count)
  }

  /// What a load finds that begins now.
  private func take(_ name: OriginalName, from other: PartialDownloads? = nil) -> KnownOriginal? {
    let partials = other ?? partials
    let (load, known) = partials.begin(name, of: OriginalOwner(namespace: "a", entity: 0))
    partials.end(load, keeping: nil)
    return known
  }

  private func put(
    _ arrival: DownloadBuffer, as name: OriginalName, of entity: ImageID = 0,
    on other: PartialDownloads? = nil
  ) {
    let partials = other ?? partials
    let owner = OriginalOwner(namespace: "a", entity: entity)
    partials.end(partials.begin(name, of: owner).load, keeping: arrival)
  }

  @Test("keeps nothing that cannot be continued")
  func refusing() throws {
    let arrivals = [
      arrival(10, of: 20, ["ETag": #"W/"x""#]), arrival(10, of: 20, ["Accept-Ranges": "none"]),
      arrival(10, of: 20, ["Content-Length": ""]), arrival(0, of: 20), arrival(21, of: 20),
      arrival(101, of: 200),
    ]
    for (number, arrival) in arrivals.enumerated() {
      put(arrival, as: name(number))
      #expect(take(name(number)) == nil && partials.byteCount == 0, "\(number)")
    }
    put(arrival(100, of: 100), as: name(7))
    #expect(try #require(take(name(7))).isWhole)
  }

  @Test("has room for so many bytes, and lets the oldest go first")
  func room() {
    for number in 1...4 { put(arrival(30, of: 50), as: name(number)) }
    #expect(partials.byteCount == 90 && take(name(1)) == nil)
    put(arrival(20, of: 50), as: name(2))
    #expect(partials.byteCount == 80)
    put(arrival(50, of: 60), as: name(5))
    #expect(take(name(3)) == nil && take(name(2)) != nil && take(name(5)) != nil)
  }

  @Test("hands out nothing that is older than a week")
  func age() {
    let now = Lock(ContinuousClock.now)
    let partials = PartialDownloads(room: 100) { now.withLock { $0 } }
    for isOld in [false, true] {
      put(arrival(10, of: 20), as: name(1), on: partials)
      now.withLock { $0 += PartialDownloads.lifetime + (isOld ? .seconds(1) : .zero) }
      #expect((take(name(1), from: partials) == nil) == isOld)
    }
  }

  @Test("gives its memory back when it is told to; loads under way may fill it again")
  func trimming() {
    let memory = TrimmableMemory(
      tables: TableSet([]), source: URLImageSource(), partials: partials,
      watch: MemoryPressureWatch { _ in })
    for (level, count) in [(MemoryTrim.spare, 10), (.partials, 0), (.pages, 0)] {
      put(arrival(10, of: 20), as: name(1))
      let load = partials.begin(name(2), of: OriginalOwner(namespace: "a", entity: 0)).load
      memory.trim(level)
      #expect(partials.byteCount == count)
      partials.end(load, keeping: arrival(10, of: 20))
      #expect(take(name(2)) != nil && partials.byteCount == count)
    }
  }
}
