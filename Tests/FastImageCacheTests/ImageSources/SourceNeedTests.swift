import FastImageCache
import Foundation
import Locking
import TestSupport
import Testing

/// A source that says itself what it needs.
private struct NeedySource: NeedNamingSource {
  let needs: @Sendable (URL) -> LoadNeed
  let answer: @Sendable (ImageSourceRequest) async throws -> ImageSourceResponse

  func need(for url: URL) -> LoadNeed { needs(url) }

  func response(to request: ImageSourceRequest) async throws -> ImageSourceResponse {
    try await answer(request)
  }
}

@Suite("A source's need", .timeLimit(.minutes(10)))
struct SourceNeedTests {
  private let held = Counter()
  private let most = Peak()
  private let door = CancellableGate()

  private func photo(_ url: String) -> Photo { Photo(ImageID(url), url: url) }

  private func image(of url: URL) throws -> ImageSourceResponse {
    .bitmap(try solid(Int(url.lastPathComponent) ?? 0))
  }

  /// A cache whose gates are one wide.
  private func fixture(_ source: any ImageSource) async throws -> Fixture {
    try await Fixture {
      $0.source = source
      $0.resources = LoadResources(networkWidth: 1, localWidth: 1)
    }
  }

  @Test(
    "is the network for http and https, and nothing else unless it says so",
    arguments: [
      ("http://a.example/1", LoadNeed.network), ("HTTPS://a.example/1", .network),
      ("file:///1", .local), ("data:,1", .local), ("s3://bucket/1", .local), ("photo:1", .local),
    ])
  func byDefault(_ text: String, _ need: LoadNeed) throws {
    let url = try #require(URL(string: text))
    #expect(LoadNeed(for: url, from: URLImageSource()) == need)
    let source = ClosureImageSource { _ in .encoded(Data()) }
    #expect(LoadNeed(for: url, from: source) == need)
  }

  @Test("decides at which gate a load begins", arguments: [LoadNeed.local, .network])
  func decides(_ need: LoadNeed) async throws {
    let fixture = try await fixture(
      NeedySource(needs: { $0.scheme == "held" ? .network : need }) { request in
        most.enter()
        defer { most.leave() }
        if request.url.scheme == "held" {
          held.increment()
          try await door.pass()
        }
        return try image(of: request.url)
      })
    let first = Task { try await fixture.image(photo("held:/1")) }
    await held.reaches(1)
    let second = Task { try await fixture.image(photo("test:/2")) }
    if need == .local {
      #expect(try await second.value.solidNumber == 2)
    } else {
      await fixture.subscribers(2)
    }
    door.open()
    #expect(try await first.value.solidNumber == 1)
    #expect(try await second.value.solidNumber == 2)
    #expect(most.value == (need == .local ? 2 : 1))
  }

  @Test("is met at once by a request that was made outside a cache")
  func outside() async throws {
    let request = ImageSourceRequest(url: try #require(URL(string: "test:/1")))
    try await request.acquirePermit(.network)
    try await request.acquirePermit(.local)
  }

  @Test("of each source in a chain is met before that source is asked")
  func inChain() async throws {
    let local = NeedySource(
      needs: { _ in .local },
      answer: { request in
        if request.url.path.hasPrefix("/kept") { return try image(of: request.url) }
        throw ImageSourceError.unsupportedScheme("")
      })
    let network = NeedySource(
      needs: { _ in .network },
      answer: { request in
        held.increment()
        try await door.pass()
        return try image(of: request.url)
      })
    let chain = ImageSourceChain([local, network])
    let fixture = try await fixture(chain)
    let cache = fixture.cache
    let downloads = ["http://b.example/1", "http://b.example/2"].map { url in
      Task { try await cache.image(for: photo(url), format: .row).solidNumber }
    }
    await held.reaches(1)
    let kept = photo("http://b.example/kept/3")
    #expect(try await cache.image(for: kept, format: .row).solidNumber == 3)
    #expect(held.value == 1)
    door.open()
    for task in downloads { #expect(try await task.value != nil) }
    let url = try #require(URL(string: "http://b.example/1"))
    #expect(chain.need(for: url) == .local)
    #expect(ImageSourceChain([network, local]).need(for: url) == .network)
    #expect(ImageSourceChain([]).need(for: url) == .local)
  }
}

@Suite("A source chain", .timeLimit(.minutes(10)))
struct ImageSourceChainTests {
  private enum Fault: Error, Equatable { case first, second }

  private let request: ImageSourceRequest

  init() throws {
    request = ImageSourceRequest(url: try #require(URL(string: "photo:1")), priority: .high)
  }

  @Test("brings what the first source brings that does not fail, and asks no other")
  func first() async throws {
    let chain = ImageSourceChain([
      .closure { _ in throw Fault.first }, .closure { _ in .encoded(Data([1])) },
      .closure { _ in
        Issue.record("Another source was asked.")
        return .encoded(Data([2]))
      },
    ])
    #expect(try await encoded(chain) == Data([1]))
  }

  @Test("reports every source's error in order when all fail, or there is none")
  func allFail() async throws {
    let chain = ImageSourceChain([
      .closure { _ in throw Fault.first }, .closure { _ in throw Fault.second },
    ])
    for (chain, errors) in [(chain, [Fault.first, .second]), (ImageSourceChain([]), [])] {
      let failure = await #expect(throws: ImageSourceChain.Failure.self) {
        try await encoded(chain)
      }
      #expect(failure?.errors.compactMap { $0 as? Fault } == errors)
    }
  }

  @Test(
    "ends when its task is cancelled, whatever error the source reports, or when a source says so")
  func cancelled() async throws {
    let started = Counter()
    let gate = Gate()
    let last = ClosureImageSource { _ in
      Issue.record("A source was asked after the cancellation.")
      throw Fault.second
    }
    let chain = ImageSourceChain([
      .closure { _ in
        started.increment()
        await gate.pass()
        throw Fault.first
      },
      last,
    ])
    let task = Task { try await encoded(chain) }
    await started.reaches(1)
    task.cancel()
    gate.open()
    await #expect(throws: CancellationError.self) { try await task.value }
    let saying = ImageSourceChain([.closure { _ in throw CancellationError() }, last])
    await #expect(throws: CancellationError.self) { try await encoded(saying) }
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
