import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A request under conditions", .timeLimit(.minutes(10)))
struct LoadOptionsTests {
  private let gate = CancellableGate()
  private let photo = Photo("a")

  /// Answers each call with an image of the call's number.
  static func counting() -> EncodedSource {
    EncodedSource { _, call in .encoded(try solid(call).pngData()) }
  }

  @Test("names the networks that it allows")
  func allowsNetworks() {
    var options = LoadOptions()
    options.allowsExpensiveNetworkAccess = false
    #expect(options.avoids == .expensive && options.allowsConstrainedNetworkAccess)
    options.allowsConstrainedNetworkAccess = false
    #expect(options.avoids == [.constrained, .expensive])
    options.allowsExpensiveNetworkAccess = true
    #expect(options.avoids == .constrained)
  }

  @Test("is a hit where the plain one is, and joins its load where it is not")
  func sharesWithPlain() async throws {
    let (fixture, source, gate) = try await Fixture.gatedNetwork()
    let photo = Photo("a", url: "test:/7")
    let plain = Task { try await fixture.image(photo) }
    let other = Task { try await fixture.image(photo, .row, LoadOptions()) }
    await fixture.subscribers(2)
    gate.open()
    #expect(try await plain.value.solidNumber == 7)
    #expect(try await other.value.solidNumber == 7)
    let hit = try await fixture.image(photo, .row, LoadOptions())
    #expect(hit.solidNumber == 7 && source.started.value == 1)
    #expect(await fixture.cache.statistics().misses == 2)
  }

  @Test("tells the program's decoder its settings, in a load that only equal ones share")
  func tellsDecoder() async throws {
    let source = EncodedSource(gate: gate)
    let decoder = SettingsDecoder()
    let fixture = try await Fixture(from: source) { $0.decoders = [decoder] }
    let photo = Photo("7")
    var loads: [(number: Int, Task<CachedImage, any Error>)] = []
    for number in [1, 2, 1, 0] {
      let options = LoadOptions {
        if number > 0 { $0.decoderSettings = ["number": "\(number)"] }
      }
      loads.append((number, Task { try await fixture.image(photo, .row, options) }))
      await fixture.subscribers(loads.count)
    }
    gate.open()
    for (number, load) in loads { #expect(try await load.value.solidNumber == number) }
    #expect(source.started.value == 3)
    #expect(Set(decoder.seen.withLock { $0 }) == [["number": "1"], ["number": "2"], [:]])
    // The key of the table knows no settings.
    let others = LoadOptions { $0.decoderSettings = ["number": "3"] }
    _ = try await fixture.image(photo, .row, others)
    #expect(source.started.value == 3)
  }

  @Test("that reloads replaces the table's image, and asks caches on the way for a new one")
  func reloads() async throws {
    let source = Self.counting()
    let fixture = try await Fixture(from: source)
    _ = try await fixture.image(photo)
    let options = LoadOptions(.reload)
    #expect(try await fixture.image(photo, .row, options).solidNumber == 2)
    #expect(try await fixture.image(photo).solidNumber == 2)
    #expect(source.requests.map { $0.headers["Cache-Control"] } == [nil, "no-cache"])
    #expect(await fixture.cache.statistics().misses == 1)
  }

  @Test("that reloads shares a load that has not asked, and not the table's image")
  func reloadsTogether() async throws {
    let source = EncodedSource { _, call in
      if call == 2 { try await gate.pass() }
      return .encoded(try solid(call).pngData())
    }
    let fixture = try await Fixture(from: source) { $0.resources = LoadResources(networkWidth: 1) }
    _ = try await fixture.image(Photo("a"))
    await fixture.quiet()
    let hanging = Task { try await fixture.image(Photo("b")) }
    await source.started.reaches(2)
    let reloads = (0..<2).map { _ in
      Task { try await fixture.image(Photo("a"), .row, LoadOptions(.reload)) }
    }
    await fixture.subscribers(3)
    gate.open()
    for reload in reloads { #expect(try await reload.value.solidNumber == 3) }
    _ = try await hanging.value
    #expect(source.started.value == 3)
  }

  @Test("that revalidates without a store asks for the whole image")
  func revalidatesWithoutStore() async throws {
    let fixture = try await Fixture(from: Self.counting())
    _ = try await fixture.image(Photo("a"))
    let image = try await fixture.image(Photo("a"), .row, LoadOptions(.revalidate))
    #expect(image.solidNumber == 2)
  }

  @Test("that reloads joins no load that has asked, and the older answer is not stored over it")
  func reloadsBesideOlder() async throws {
    let source = EncodedSource { _, call in
      if call == 1 { try await gate.pass() }
      return .encoded(try solid(call).pngData())
    }
    let fixture = try await Fixture(from: source)
    let older = Task { try await fixture.image(photo) }
    await source.started.reaches(1)
    let image = try await fixture.image(photo, .row, LoadOptions(.reload))
    #expect(image.solidNumber == 2)
    gate.open()
    _ = try? await older.value
    await fixture.quiet()
    #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber == 2)
  }

  @Test("that found the image changed redraws the entity's other formats, and those only")
  func redrawsOthers() async throws {
    let page = ImageFormat(
      name: "page", size: .exact(PixelSize(width: 30, height: 30)), capacity: 4)
    let fixture = try await Fixture([.row, .large, page], from: Self.counting())
    _ = try await fixture.image(photo)
    await fixture.quiet()
    _ = try await fixture.image(photo, .large)
    await fixture.quiet()
    _ = try await fixture.image(photo, .row, LoadOptions(.reload))
    await fixture.quiet()
    for format in [ImageFormat.row, .large] {
      #expect(fixture.cache.cachedImage(for: photo, format: format)?.solidNumber == 3)
    }
    #expect(!fixture.cache.containsImage(for: photo, format: page))
  }

  @Test("tells accounts apart by each byte, and an empty name from everyone")
  func tellsAccountsApart() {
    let names = ["\u{E9}", "e\u{301}", "a", ""]
    #expect(Set(names.map { AccountID($0) }).count == names.count)
    #expect(AccountID("e\u{301}").name.utf8.count == 3)
    #expect(LoadOptions(account: AccountID("")) != LoadOptions())
    #expect(OriginalName.account(AccountID("")) != OriginalName.everyone)
  }

  @Test("of another account, with other fields or of a smaller scope shares no load")
  func sharesNothing() async throws {
    let (fixture, source, gate) = try await Fixture.gatedNetwork()
    var fields = LoadOptions()
    fields.headers = ["Accept": "image/png"]
    let all = [
      LoadOptions(), fields, LoadOptions(account: AccountID("a")),
      LoadOptions(account: AccountID("b")), LoadOptions(avoids: .constrained),
      LoadOptions(avoids: [.constrained, .expensive]),
    ]
    let tasks = all.flatMap { [$0, $0] }.map { options in
      Task { try await fixture.image(Photo("7"), .row, options) }
    }
    await fixture.subscribers(2 * all.count)
    await source.started.reaches(all.count)
    gate.open()
    for task in tasks { #expect(try await task.value.solidNumber == 7) }
    #expect(source.started.value == all.count)
    #expect(Set(source.requests.map(\.account)).count == 3)
    #expect(
      Set(source.requests.map(\.avoids)) == [[], .constrained, [.constrained, .expensive]])
    let refusing = source.requests.filter { !$0.allowsConstrainedNetworkAccess }
    #expect(refusing.map(\.allowsExpensiveNetworkAccess).sorted { !$0 && $1 } == [false, true])
    #expect(source.requests.filter { $0.headers == ["Accept": "image/png"] }.count == 1)
  }

  @Test("goes no further than its scope, and waits for no download")
  func staysWithinReach() async throws {
    let source = EncodedSource(gate: gate)
    let fixture = try await Fixture(from: source) { $0.resources = LoadResources(networkWidth: 1) }
    let photo = Photo("7")
    let download = Task { try await fixture.image(photo) }
    await source.started.reaches(1)
    for scope in [LoadOptions.Scope.cache, .local] {
      await #expect(throws: ImageCacheError.notCached(entity: "7", format: "row")) {
        try await fixture.image(photo, .row, LoadOptions(scope: scope))
      }
    }
    gate.open()
    _ = try await download.value
    let image = try await fixture.image(photo, .row, LoadOptions(scope: .cache))
    #expect(image.solidNumber == 7 && source.started.value == 1)
  }

  @Test("of local scope stops where a source wants to pass to the network")
  func stopsAtNetwork() async throws {
    let nothing = EncodedSource(need: .local) { _, _ in throw ImageSourceError.notFound(path: "") }
    let web = EncodedSource()
    let fixture = try await Fixture(from: ImageSourceChain([nothing, web]))
    await #expect(throws: ImageCacheError.notCached(entity: "7", format: "row")) {
      try await fixture.image(Photo("7"), .row, LoadOptions(scope: .local))
    }
    #expect(nothing.started.value == 1 && web.started.value == 0)
    let nested = try await Fixture(from: ImageSourceChain([ImageSourceChain([nothing, web])]))
    await #expect(throws: ImageCacheError.notCached(entity: "7", format: "row")) {
      try await nested.cache.image(
        for: Photo("7"), format: .row, options: LoadOptions(scope: .local))
    }
    #expect(try await fixture.image(Photo("7")).solidNumber == 7)
  }

  @Test("throws when its time is over, and ends the load that nobody else waits for")
  func endsInTime() async throws {
    let (gate, clock) = (CancellableGate(), ManualClock())
    let source = EncodedSource(gate: gate)
    let fixture = try await Fixture(from: source) { $0.clock = clock }
    let options = LoadOptions { $0.timeout = .seconds(10) }
    let limited = Task { try await fixture.image(Photo("7"), .row, options) }
    await source.started.reaches(1)
    let patient = Task { try await fixture.image(Photo("7")) }
    await fixture.subscribers(2)
    await clock.sleepers { $0.count == 1 }
    clock.advance(by: .seconds(10))
    await #expect(
      throws: ImageCacheError.timedOut(entity: "7", format: "row", after: .seconds(10))
    ) { try await limited.value }
    #expect(await fixture.cache.statistics().pendingRequests == 1)
    gate.open()
    #expect(try await patient.value.solidNumber == 7)

    let other = CancellableGate()
    let hanging = try await Fixture(from: EncodedSource(gate: other)) { $0.clock = clock }
    await #expect(throws: ImageCacheError.timedOut(entity: "7", format: "row", after: .zero)) {
      try await hanging.image(Photo("7"), .row, LoadOptions { $0.timeout = .zero })
    }
    #expect(await hanging.cache.statistics().activeLoads == 0)
  }
}

/// Draws the number that its settings name.
private struct SettingsDecoder: ImageDecoder {
  let seen = Lock<[[String: String]]>([])

  func recognizes(_ firstBytes: Data) -> Bool { true }

  func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
    try ImageHeader(of: data)
  }

  func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
    seen.withLock { $0.append(request.settings) }
    do { return try solid(Int(request.settings["number"] ?? "") ?? 0) } catch {
      throw .outOfMemory
    }
  }
}
