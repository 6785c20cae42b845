import FastImageCache
import Foundation
import Locking
import TestSupport
import Testing

@Suite("A source chain", .timeLimit(.minutes(10)))
struct ImageSourceChainTests {
  private enum Fault: Error, Equatable { case first, second }

  private let request: ImageSourceRequest

  init() throws {
    request = ImageSourceRequest(url: try #require(URL(string: "photo:1")), priority: .high)
  }

  @Test("brings what the first source brings, and asks no other")
  func first() async throws {
    let chain = ImageSourceChain([
      .closure { _ in .encoded(Data([1])) },
      .closure { _ in
        Issue.record("Another source was asked.")
        return .encoded(Data([2]))
      },
    ])
    #expect(try await encoded(chain) == Data([1]))
  }

  @Test("goes on to the next source when one fails")
  func next() async throws {
    let chain = ImageSourceChain([
      .closure { _ in throw Fault.first }, .closure { _ in .encoded(Data([2])) },
    ])
    #expect(try await encoded(chain) == Data([2]))
  }

  @Test("reports every source's error in order when all fail")
  func allFail() async throws {
    let chain = ImageSourceChain([
      .closure { _ in throw Fault.first }, .closure { _ in throw Fault.second },
    ])
    do {
      _ = try await encoded(chain)
      Issue.record("Nobody brought it.")
    } catch let failure as ImageSourceChain.Failure {
      #expect(failure.errors.compactMap { $0 as? Fault } == [.first, .second])
    }
  }

  @Test("without sources fails")
  func empty() async throws {
    await #expect(throws: ImageSourceChain.Failure.self) { try await encoded(ImageSourceChain([])) }
  }

  @Test("ends when its task is cancelled, whatever error the source reports")
  func cancelled() async throws {
    let started = Counter()
    let gate = Gate()
    let chain = ImageSourceChain([
      .closure { _ in
        started.increment()
        await gate.pass()
        throw Fault.first
      },
      .closure { _ in
        Issue.record("A source was asked after the cancellation.")
        throw Fault.second
      },
    ])
    let task = Task { try await encoded(chain) }
    await started.reaches(1)
    task.cancel()
    gate.open()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("ends when a source says that it was cancelled")
  func sourceCancelled() async throws {
    let chain = ImageSourceChain([
      .closure { _ in throw CancellationError() },
      .closure { _ in
        Issue.record("A source was asked after the cancellation.")
        throw Fault.second
      },
    ])
    await #expect(throws: CancellationError.self) { try await encoded(chain) }
  }

  @Test("passes request and progress on")
  func passesOn() async throws {
    let asked = Lock<[ImageSourceRequest]>([])
    let reports = Lock<[ImageSourceProgress]>([])
    let chain = ImageSourceChain([
      .closure { request in
        asked.withLock { $0.append(request) }
        request.report(ImageSourceProgress(receivedByteCount: 1, expectedByteCount: 2))
        return .encoded(Data())
      }
    ])
    let request = ImageSourceRequest(url: request.url, priority: .high) { report in
      reports.withLock { $0.append(report) }
    }
    _ = try await chain.response(to: request)
    #expect(asked.withLock { $0.map(\.url) } == [request.url])
    #expect(asked.withLock { $0.map(\.priority) } == [.high])
    let expected = [ImageSourceProgress(receivedByteCount: 1, expectedByteCount: 2)]
    #expect(reports.withLock { $0 } == expected)
  }

  private func encoded(_ source: some ImageSource) async throws -> Data? {
    try await source.response(to: request).encodedData
  }
}
