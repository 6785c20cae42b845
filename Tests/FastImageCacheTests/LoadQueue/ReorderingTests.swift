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
      var options = HTTPOptions.patient
      options.connectionsPerHost = 1
      let source = URLImageSource(http: options)
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
          try await fixture.cache.image(
            for: Photo(ImageID(index), url: url), format: .row,
            options: LoadOptions(priority: priority))
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
