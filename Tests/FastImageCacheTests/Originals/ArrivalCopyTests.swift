import Foundation
import TestSupport
import Testing

@testable import FastImageCache

private let piece = Arrival.pieceByteCount
private let total = 3 * piece + 7
private let parts: [Range<Int>] = [
  0..<0, 5..<5, 0..<1, 0..<piece, 0..<piece + 1, 7..<2 * piece + 7, piece - 1..<total, 0..<total,
  total..<total,
]

@Suite("An arrival", .timeLimit(.minutes(10)))
struct ArrivalCopyTests {
  private let bytes: Data = {
    var random = SplitMix64(state: 3)
    return Data((0..<total).map { _ in UInt8(truncatingIfNeeded: random.next() >> 40) })
  }()

  private func arrival(limit: Int = total) -> Arrival {
    let head = ["Content-Length": "\(total)"]
    return Arrival(
      OriginalTerms(fields: head, received: Date(timeIntervalSince1970: 784_112_000)),
      byteCountLimit: limit)
  }

  @Test(
    "copies any part of what has come, piece by piece",
    arguments: parts)
  func copies(range: Range<Int>) throws {
    let arrival = self.arrival()
    try arrival.append(bytes)
    #expect(arrival.copy(range) == bytes[range])
  }

  @Test("has no copy of what has not come yet")
  func early() throws {
    let arrival = self.arrival()
    try arrival.append(bytes.prefix(100))
    #expect(arrival.copy(0..<101) == nil && arrival.copy(100..<100) == Data())
    #expect(arrival.copy(50..<100) == bytes[50..<100])
  }

  @Test("is copied while more comes, and grows out of its memory")
  func meanwhile() async throws {
    let terms = OriginalTerms(fields: [:], received: Date(timeIntervalSince1970: 784_112_000))
    let arrival = Arrival(terms, byteCountLimit: .max)
    try arrival.append(bytes)
    let bytes = bytes
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for _ in 0..<100 { try? arrival.append(bytes) }
      }
      for _ in 0..<3 {
        group.addTask {
          for _ in 0..<30 { #expect(arrival.copy(1..<total) == bytes.dropFirst()) }
        }
      }
    }
    #expect(arrival.byteCount == 101 * total)
  }
}
