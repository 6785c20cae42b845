import FastImageCache
import Foundation
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
    let first = Task { try await fixture.cache.image(for: photo("held:/1"), format: .row) }
    await held.reaches(1)
    let second = Task { try await fixture.cache.image(for: photo("test:/2"), format: .row) }
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

  @Test("for something else takes its load to the other gate, which lets others into the first")
  func passes() async throws {
    let fixture = try await fixture(
      .closure { request in
        if request.url.scheme == "s3" {
          try await request.acquirePermit(.network)
          held.increment()
          try await door.pass()
        }
        return try image(of: request.url)
      })
    let cache = fixture.cache
    let downloads = ["s3://b/1", "s3://b/2"].map { url in
      Task { try await cache.image(for: photo(url), format: .row).solidNumber }
    }
    await held.reaches(1)
    #expect(try await cache.image(for: photo("test:/3"), format: .row).solidNumber == 3)
    #expect(held.value == 1)
    door.open()
    #expect(try await downloads[0].value == 1)
    #expect(try await downloads[1].value == 2)
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
