import Foundation
import TestSupport
import Testing

@testable import FastImageCache
@testable import ImageSources

@Suite("Loads that wait for one place", .timeLimit(.minutes(10)))
struct ReorderingTests {
  /// Where the loads wait, and who notes that a load is let in.
  enum Place: CaseIterable {
    case gate, host, worker
  }

  /// Decodes the bytes of names, whose order it notes; the first decode waits.
  private struct NotingDecoder: ImageDecoder {
    let order: Order
    let door: Gate

    func recognizes(_ firstBytes: Data) -> Bool { true }

    func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
      ImageHeader(size: PixelSize(width: 8, height: 8))
    }

    func workingByteCount(for header: ImageHeader, minimumSize: PixelSize?) -> Int { 256 }

    func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
      let name = String(decoding: data, as: UTF8.self)
      order.note(name)
      if name == "1" { door.waitBlocking() }
      do { return try solid(1) } catch { throw .outOfMemory }
    }
  }

  private let order = Order()
  private let door = Gate()

  /// A cache with one place, and the number of loads that wait for it.
  private func fixture(_ place: Place) async throws -> (Fixture, HTTPServer, @Sendable () -> Int) {
    let server = try HTTPServer { [order, door] request in
      order.note(request.path)
      if request.path == "/1" { door.waitBlocking() }
      return .ok((try? solid(1).pngData()) ?? Data())
    }
    let resources = LoadResources(
      decodeWidth: place == .worker ? 1 : 4, localWidth: place == .gate ? 1 : 8)
    switch place {
    case .gate, .worker:
      let decoder = NotingDecoder(order: order, door: door)
      let source = ScriptedSource { [order, door] url, _, _ in
        let name = url.lastPathComponent
        if place == .worker { return .encoded(Data(name.utf8)) }
        order.note(name)
        if name == "1" { await door.pass() }
        return .bitmap(try solid(1))
      }
      let fixture = try await Fixture(source: source) {
        ($0.resources, $0.decoders) = (resources, [decoder])
      }
      return (
        fixture, server,
        {
          place == .gate
            ? resources[.local].counts.waiting : resources.workers.counts.waiting
        }
      )
    case .host:
      let source = URLImageSource { $0.connectionsPerHost = 1 }
      let fixture = try await Fixture { ($0.resources, $0.source) = (resources, source) }
      return (fixture, server, { source.client.hosts.counts.waiting })
    }
  }

  @Test("are let in as their priorities are now, not as these were", arguments: Place.allCases)
  func reordered(_ place: Place) async throws {
    let (fixture, server, waitingCount) = try await fixture(place)
    let (raised, lowered) = (RequestPriority(.background), RequestPriority(.high))
    let requests: [RequestPriority] = [
      RequestPriority(.medium), lowered, RequestPriority(.low), raised, RequestPriority(.medium),
      lowered,
    ]
    var tasks: [Task<CachedImage, any Error>] = []
    for (index, priority) in requests.enumerated() {
      let path = "/\(index + 1)"
      let url = place == .host ? "\(server.url(path))" : "test:\(path)"
      tasks.append(
        Task {
          try await fixture.image(
            Photo(ImageID(index), url: url), .row, LoadOptions(priority: priority))
        })
      while order.notes.isEmpty, !Task.isCancelled { await Task.yield() }
      while waitingCount() < index, !Task.isCancelled { await Task.yield() }
    }
    lowered.value = .background
    raised.value = .high
    door.open()
    for task in tasks { _ = try await task.value }
    let names = order.notes.map { $0.replacing("/", with: "") }
    #expect(names == ["1", "4", "5", "3", "2", "6"])
  }
}

extension ImageTable {
  /// Keeps the actor's thread, from before this returns until the gate opens.
  fileprivate nonisolated func hold(until gate: Gate) async -> Task<Void, Never> {
    let isHeld = Counter()
    let holding = Task { await block(isHeld, until: gate) }
    await isHeld.reaches(1)
    return holding
  }

  private func block(_ isHeld: Counter, until gate: Gate) {
    isHeld.increment()
    gate.waitBlocking()
  }
}

@Suite("A busy table", .timeLimit(.minutes(10)))
struct BusyTableTests {
  private let gate = Gate()
  private let photo = Photo("a", url: "test:/7")

  /// Has the load of the image wait for its turn at its table, which is held until the gate opens.
  private func waiting(
    in fixture: Fixture
  ) async throws -> (load: Task<CachedImage, any Error>, holding: Task<Void, Never>) {
    let holding = await (try #require(fixture.cache.tables[.row])).hold(until: gate)
    let load = Task { try await fixture.image(photo) }
    while fixture.cache.recorder.counts.drawings == 0 { await Task.yield() }
    return (load, holding)
  }

  @Test("has a load wait for its turn, and answers when the image is stored")
  func load() async throws {
    let fixture = try await Fixture()
    let (waiting, holding) = try await waiting(in: fixture)
    #expect(fixture.cache.recorder.counts.stores == 0)
    gate.open()
    let image = try await waiting.value
    #expect(image.solidNumber == 7 && !image.isPrivate)
    #expect(fixture.cache.recorder.counts.stores == 1)
    await holding.value
  }

  @Test("keeps no memory from a decode for another table")
  func givesBytesBack() async throws {
    let data = try solid(1, size: PixelSize(width: 64, height: 64)).pngData()
    let decoder = try #require(ImageDecoders.standard.first { $0.recognizes(data) })
    let need = decoder.workingByteCount(
      for: try decoder.header(of: data), minimumSize: PixelSize(width: 16, height: 16))
    let fixture = try await Fixture(
      [.row, .dot], source: ScriptedSource { _, _, _ in .encoded(data) }
    ) {
      $0.resources = LoadResources(decodeWidth: 2, decodeByteBudget: need * 3 / 2)
    }
    let (waiting, holding) = try await waiting(in: fixture)
    _ = try await fixture.image(Photo("b", url: "test:/8"), .dot)
    gate.open()
    _ = try await waiting.value
    await holding.value
  }

  @Test("keeps the image that was stored by hand, not a load's that has its turn later")
  func byHandFirst() async throws {
    let fixture = try await Fixture { $0.resources = LoadResources(decodeWidth: 2) }
    let (cache, recorder) = (fixture.cache, fixture.cache.recorder)
    let table = try #require(cache.tables[.row])
    let holding = await table.hold(until: gate)
    async let stored = cache.store(solid(3), for: Photo("a", version: 1), format: .row)
    while recorder.counts.drawings == 0 { await Task.yield() }
    async let loaded = cache.image(for: Photo("a", version: 2, url: "test:/7"), format: .row)
    while recorder.counts.drawings == 1 { await Task.yield() }
    gate.open()
    let numbers = try await [stored.solidNumber, loaded.solidNumber]
    #expect(numbers == [3, 7])
    #expect(cache.containsImage(for: Photo("a", version: 1), format: .row))
    await holding.value
  }

  @Test("keeps no image that was removed while the load waited for its turn")
  func removal() async throws {
    let fixture = try await Fixture()
    let (waiting, holding) = try await waiting(in: fixture)
    // Waits for its turn behind the load, and takes the image away.
    let removing = Task { try await fixture.cache.removeImage(for: photo, format: .row) }
    gate.open()
    #expect(try await waiting.value.solidNumber == 7)
    try await removing.value
    #expect(!fixture.cache.containsImage(for: photo, format: .row))
    await holding.value
  }
}
