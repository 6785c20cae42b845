import Foundation
import Locking
import OriginalStore
import TableStore
import TestSupport
import Testing

@testable import FastImageCache

private let blockSize = PartialFile.blockByteCount

@Suite("A download that broke off, and a later session", .timeLimit(.minutes(10)))
struct PartialOnDiskTests {
  /// A picture of four blocks and a half.
  private let picture: Data

  init() throws { picture = try Self.picture(7) }

  private static func picture(_ number: Int, byteCount: Int = blockSize * 9 / 2) throws -> Data {
    // Decoders end at the picture's end.
    var bytes = try solid(number).pngData()
    var random = SplitMix64(state: UInt64(number))
    while bytes.count < byteCount {
      withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) }
    }
    return bytes.prefix(byteCount)
  }

  private func store(in folder: URL) -> SourceStore {
    SourceStore(directory: folder, budget: StorageBudget(byteCount: 64 << 20))
  }

  private func fixture(
    _ store: SourceStore?, configure: (inout ImageCache.Configuration) -> Void = { _ in }
  ) async throws -> Fixture {
    var options = HTTPOptions()
    options.retry = .never
    return try await Fixture(from: URLImageSource(http: options)) { configuration in
      configuration.originals = store
      configure(&configuration)
    }
  }

  /// The steps of a load that ends with the picture of a number.
  private func origins(
    _ fixture: Fixture, _ server: HTTPServer, number: Int? = 7,
    options: LoadOptions = LoadOptions()
  ) async -> [ByteOrigin] {
    var origins: [ByteOrigin] = []
    let photo = Photo("7", url: server.url("/7").absoluteString)
    for await step in fixture.cache.progress(for: photo, format: .row, options: options) {
      switch step {
      case .arrived(let origin): origins.append(origin)
      case .finished(let image): #expect(image.solidNumber == number)
      case .failed: #expect(number == nil)
      default: continue
      }
    }
    return origins
  }

  /// Waits until a store has so many files, its index included.
  private func files(_ count: Int, in store: SourceStore) async throws -> [String] {
    while !Task.isCancelled {
      let names = try FileManager.default.contentsOfDirectory(atPath: store.directory.path)
      let isWhole = names.allSatisfy { !$0.contains(".") || $0 == "originals.index" }
      if names.count == count, isWhole { return names }
      await Task.yield()
    }
    return []
  }

  /// A folder as a kill leaves it that comes when so many bytes have arrived and their whole blocks are
  /// on disk.
  private func killed(
    after byteCount: Int, of file: HTTPFile
  ) async throws -> (folder: TemporaryDirectory, server: HTTPServer, file: Lock<HTTPFile>) {
    let (gate, hangs) = (Gate(), Lock(true))
    let present = Lock(file)
    let server = try HTTPServer { request in
      let reply = present.withLock { $0.reply(to: request) }
      let isFirst = hangs.withLock { hangs in
        defer { hangs = false }
        return hangs
      }
      return isFirst ? reply.inserting(.wait(gate), after: byteCount) : reply
    }
    let (folder, copy) = (try TemporaryDirectory(), try TemporaryDirectory())
    let store = store(in: folder.url)
    let fixture = try await fixture(store)
    let photo = Photo("7", url: server.url("/7").absoluteString)
    let load = Task { try await fixture.cache.image(for: photo, format: .row) }
    let partial = store.directory.appendingPathComponent(
      OriginalKey(ImageID(server.url("/7")), .everyone).digest.fileName)
    let terms = partial.appendingPathExtension("terms")
    // A hash is written behind its block.
    let hashes = byteCount / blockSize * 8
    var header = 0
    while !Task.isCancelled {
      await store.budget.shared.run {}
      let count = (try? Data(contentsOf: terms).count) ?? 0
      if header == 0, count > 0, let text = try? Data(contentsOf: terms) {
        header = 32 + Int(text[12]) + Int(text[13]) << 8
      }
      if header > 0, count >= header + hashes { break }
      await Task.yield()
    }
    try FileManager.default.copyItem(
      at: store.directory, to: copy.url.appendingPathComponent(store.directory.lastPathComponent))
    load.cancel()
    gate.open()
    _ = await load.result
    return (copy, server, present)
  }

  @Test("is resumed behind the last whole block, and its bytes are written once")
  func resumes() async throws {
    let (folder, server, _) = try await killed(
      after: blockSize * 3 + 5_000, of: HTTPFile(picture, entityTag: #""x""#))
    let store = store(in: folder.url)
    let fixture = try await fixture(store)
    #expect(
      await origins(fixture, server) == [.resumed(after: 3 * blockSize, of: picture.count)])
    let ranges = server.arrivedRequests(for: "/7").map { $0.headers["range"] }
    #expect(ranges == [nil, "bytes=\(3 * blockSize)-"])
    #expect(try await files(2, in: store).count == 2)
    let id = ImageID(server.url("/7"))
    #expect(try await store.bytes(of: id) == picture)
  }

  @Test(
    "is resumed by the same fields and by no others, where its server heeds them",
    arguments: [nil, "fr"])
  func heedsVary(language: String?) async throws {
    let file = HTTPFile(picture, entityTag: #""x""#, headers: ["Vary": "Accept-Language"])
    let (folder, server, _) = try await killed(after: blockSize * 2 + 5_000, of: file)
    let fixture = try await fixture(store(in: folder.url))
    var options = LoadOptions()
    options.headers = language.map { ["Accept-Language": $0] } ?? [:]
    #expect(
      await origins(fixture, server, options: options)
        == [language == nil ? .resumed(after: 2 * blockSize, of: picture.count) : .source])
  }

  @Test("has a date only: overlapping bytes prove that it is the same")
  func resumesByDate() async throws {
    let file = HTTPFile(
      picture, lastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
      headers: ["Date": "Sun, 06 Nov 1994 08:59:37 GMT"])
    let (folder, server, _) = try await killed(after: blockSize * 2 + 1, of: file)
    let fixture = try await fixture(store(in: folder.url))
    #expect(
      await origins(fixture, server) == [.resumed(after: 2 * blockSize, of: picture.count)])
    #expect(
      server.arrivedRequests(for: "/7").last?.headers["range"] == "bytes=\(2 * blockSize - 256)-")
  }

  @Test("is fetched anew behind a block that changed on disk", arguments: [0, 1, 2])
  func damage(block: Int) async throws {
    let (folder, server, _) = try await killed(
      after: blockSize * 3, of: HTTPFile(picture, entityTag: #""x""#))
    let store = store(in: folder.url)
    let name = OriginalKey(ImageID(server.url("/7")), .everyone).digest.fileName + ".part"
    let path = store.directory.appendingPathComponent(name)
    var bytes = try Data(contentsOf: path)
    bytes[block * blockSize + 77] ^= 1
    let file = try FileHandle(forWritingTo: path)
    try file.write(contentsOf: bytes)
    try file.close()
    let fixture = try await fixture(store)
    let origin = await origins(fixture, server)
    #expect(
      origin == [block == 0 ? .source : .resumed(after: block * blockSize, of: picture.count)])
    #expect(try await files(2, in: store).count == 2)
    #expect(try await store.bytes(of: ImageID(server.url("/7"))) == picture)
  }

  /// What a server does to a download that is to be continued.
  enum Change: CaseIterable {
    case otherTag, otherTagInPart, ignoresRanges, otherTotal, noTagInPart, shorter
  }

  @Test(
    "is fetched whole where the server has another file or sends no parts",
    arguments: Change.allCases)
  func changes(change: Change) async throws {
    let (folder, server, present) = try await killed(
      after: blockSize * 3, of: HTTPFile(picture, entityTag: #""x""#))
    let other = try Self.picture(8)
    var file = HTTPFile(other, entityTag: #""y""#)
    switch change {
    case .otherTag: break
    case .otherTagInPart: file.faults = [.ignoresIfRange]
    case .ignoresRanges: (file.entityTag, file.faults) = (#""x""#, [.ignoresRanges])
    case .otherTotal: (file.entityTag, file.faults) = (#""x""#, [.claimsTotal("9999999")])
    case .noTagInPart: file.faults = [.ignoresIfRange, .claimsEntityTag(nil)]
    case .shorter: file = HTTPFile(try solid(8).pngData(), entityTag: #""x""#)
    }
    present.withLock { $0 = file }
    let store = store(in: folder.url)
    let fixture = try await fixture(store)
    #expect(await origins(fixture, server, number: 8) == [.source])
    #expect(try await files(2, in: store).count == 2)
    #expect(try await store.bytes(of: ImageID(server.url("/7"))) == file.body)
  }

  @Test("is resumed by a new cache on the same folder, after the first one was closed")
  func closes() async throws {
    let folder = try TemporaryDirectory()
    let (gate, arrived) = (Gate(), Counter())
    let file = HTTPFile(picture, entityTag: #""x""#)
    let server = try HTTPServer { request in
      let reply = file.reply(to: request)
      return request.number == 1 ? reply.inserting(.wait(gate), after: blockSize * 2 + 99) : reply
    }
    weak var last: SourceStore?
    do {
      let store = store(in: folder.url)
      last = store
      let fixture = try await fixture(store)
      let photo = Photo("7", url: server.url("/7").absoluteString)
      let steps = fixture.cache.progress(for: photo, format: .row)
      let reading = Task {
        for await step in steps {
          if case .receiving(let count, of: _) = step, count >= blockSize * 2 {
            arrived.increment()
          }
        }
      }
      await arrived.reaches(1)
      await fixture.cache.close()
      await reading.value
      await fixture.quiet()
      gate.open()
    }
    while last != nil, !Task.isCancelled { await Task.yield() }
    let fixture = try await fixture(store(in: folder.url))
    #expect(
      await origins(fixture, server) == [.resumed(after: 2 * blockSize, of: picture.count)])
    let twice = server.arrivedRequests(for: "/7").last?.headers["range"]
    #expect(twice == "bytes=\(2 * blockSize)-")
  }

  @Test("leaves nothing on disk where the server forbids to keep it, or where it is small")
  func keepsNothing() async throws {
    for (bytes, headers) in [
      (picture, ["Cache-Control": "no-store"]), (picture, ["Accept-Ranges": "none"]),
      (try solid(7).pngData(), [:]), (picture.prefix(blockSize - 1), [:]),
    ] {
      let folder = try TemporaryDirectory()
      let file = HTTPFile(bytes, entityTag: #""x""#, headers: headers)
      let server = try HTTPServer { request in
        file.reply(to: request).inserting(.cut, after: bytes.count - 10)
      }
      let calls = Lock<[String]>([])
      let store = SourceStore(
        name: "store", directory: folder.url, budget: StorageBudget(byteCount: 64 << 20),
        lifetime: SourceStore.Lifetime(), protection: .none
      ) { settings in
        settings.system = SystemCalls { call in calls.withLock { $0.append("\(call.kind)") } }
      }
      try await store.open()
      await store.budget.shared.run {}
      let before = calls.withLock { $0 }
      let fixture = try await fixture(store)
      #expect(await origins(fixture, server, number: nil) == [])
      await fixture.quiet()
      await store.budget.shared.run {}
      #expect(calls.withLock { $0 } == before)
    }
  }

  @Test(
    "goes from the disk when its picture is drawn but may not be kept, and when it is no picture")
  func drops() async throws {
    let (folder, server, _) = try await killed(
      after: blockSize * 3, of: HTTPFile(picture, entityTag: #""x""#))
    let store = store(in: folder.url)
    let fixture = try await fixture(store) { configuration in
      configuration.willStore = { $0.verdict = .deliverOnly }
    }
    #expect(
      await origins(fixture, server) == [.resumed(after: 3 * blockSize, of: picture.count)])
    #expect(try await files(1, in: store).count == 1)

    let noPicture = HTTPFile(Data(count: blockSize * 3), entityTag: #""x""#)
    let (other, hopeless, _) = try await killed(after: blockSize * 2, of: noPicture)
    let second = self.store(in: other.url)
    let last = try await self.fixture(second)
    #expect(await origins(last, hopeless, number: nil).count <= 2)
    #expect(hopeless.arrivedRequests(for: "/7").count == 3)
    #expect(try await files(1, in: second).count == 1)
  }
}
