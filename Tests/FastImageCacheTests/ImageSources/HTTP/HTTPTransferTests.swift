import Foundation
import TestSupport
import Testing

@testable import FastImageCache
@testable import ImageSources

@Suite("An HTTP transfer", .timeLimit(.minutes(10)))
struct HTTPTransferTests {
  @Test("is complete only once its last bytes have arrived, whoever looks meanwhile")
  func complete() async throws {
    let bytes = Data(count: 8 << 20)
    let url = try #require(URL(string: "https://example.com/a"))
    for _ in 0..<20 {
      let transfer = HTTPTransfer(
        HTTPExchange(byteCountLimit: bytes.count),
        begin: { DownloadBuffer($0, continuing: $1, byteCountLimit: bytes.count) },
        report: { _ in })
      let head = HTTPHead(
        url: url, status: 200, fields: ["content-length": "\(bytes.count)"], received: Date())
      #expect(transfer.receive(head))
      let looking = Counter()
      let seen = Task.detached {
        looking.increment()
        while true {
          if let arrival = transfer.completeBuffer { return arrival.byteCount }
          await Task.yield()
        }
      }
      await looking.reaches(1)
      #expect(transfer.receive(bytes))
      #expect(await seen.value == bytes.count)
    }
  }
}
