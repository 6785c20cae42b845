import FastImageCache
import Foundation
import TestSupport
import Testing

@Suite("Requests for several addresses of one original", .timeLimit(.minutes(10)))
struct SharedOriginalTests {
  private let gate = CancellableGate()

  private func photo(_ number: Int, version: ImageID = "1") -> Photo {
    var photo = Photo("a", version: version, url: "test:/\(number)?signature=\(number)")
    photo.original = "original"
    return photo
  }

  /// A cache whose source answers when the gate opens, with an image of the number in the URL.
  private func fixture(
    answer: @escaping @Sendable (Int) throws -> Bitmap = { try solid($0) }
  ) async throws -> Fixture {
    try await Fixture(
      [.row, .large],
      source: ScriptedSource { [gate] url, _, _ in
        try await gate.pass()
        return .bitmap(try answer(Int(url.lastPathComponent) ?? 0))
      })
  }

  /// Has requests join one after the other, and opens the gate: the number of each one's image.
  private func numbers(
    _ requests: [(photo: Photo, format: ImageFormat)], _ options: LoadOptions = LoadOptions(),
    in fixture: Fixture
  ) async -> [Int?] {
    var tasks: [Task<Int?, any Error>] = []
    for (photo, format) in requests {
      tasks.append(Task { try await fixture.image(photo, format, options).solidNumber })
      await fixture.subscribers(tasks.count)
    }
    gate.open()
    var numbers: [Int?] = []
    for task in tasks { numbers.append(try? await task.value) }
    await fixture.quiet()
    return numbers
  }

  @Test("share the load of an address for a format as large")
  func share() async throws {
    let fixture = try await fixture()
    let requests = [(photo(1), ImageFormat.large), (photo(2), .row), (photo(3), .large)]
    // The same entity and format is one image, which the first address gives.
    #expect(await numbers(requests, in: fixture) == [1, 1, 1])
    #expect(fixture.source.started.value == 1)
    #expect(await fixture.cache.statistics().coalescedRequests == 2)
  }

  enum Difference: CaseIterable { case format, version, address }

  @Test(
    "begin loads for larger formats, other versions and own ids",
    arguments: Difference.allCases)
  func apart(_ difference: Difference) async throws {
    // Large enough for both: what the address was named for decides.
    let fixture = try await fixture { try solid($0, size: PixelSize(width: 64, height: 64)) }
    var (first, second) = (photo(1), photo(2, version: difference == .version ? "2" : "1"))
    if difference == .version { second.id = "b" }
    if difference == .address { (first.original, second.original) = (nil, nil) }
    let formats: [ImageFormat] =
      switch difference {
      case .format: [.row, .large]
      case .version: [.row, .row]
      case .address: [.large, .row]
      }
    let requests = [(first, formats[0]), (second, formats[1])]
    #expect(await numbers(requests, in: fixture) == [1, 2])
    #expect(fixture.source.started.value == 2)
  }

  @Test("go on with their own where the image is too small, and share the next one")
  func tooSmall() async throws {
    let fixture = try await fixture { number in
      try solid(number, size: PixelSize(width: number == 1 ? 4 : 16, height: 16))
    }
    var others = (2...3).map { photo($0) }
    others[1].id = "b"
    let requests = [(photo(1), ImageFormat.large), (others[0], .row), (others[1], .row)]
    #expect(await numbers(requests, in: fixture) == [1, 2, 2])
    #expect(fixture.source.started.value == 2)
  }

  @Test("draw no family from the image of another address, which need not be covered by it")
  func family() async throws {
    let source = ScriptedSource { [gate] url, _, _ in
      try await gate.pass()
      return .bitmap(try solid(1, size: PixelSize(width: 4, height: 4)))
    }
    let fixture = try await Fixture([.large, .dot], source: source)
    var other = photo(2)
    other.id = "b"
    _ = await numbers([(photo(1), .large), (other, .dot)], in: fixture)
    #expect(source.started.value == 1)
    #expect(fixture.cache.cachedImage(for: other, format: .dot) != nil)
    #expect(fixture.cache.cachedImage(for: photo(1), format: .dot) != nil)
    #expect(fixture.cache.cachedImage(for: other, format: .large) == nil)
  }

  @Test("go on with their own where a given-up one of the same image had the refused address")
  func outliveForerunner() async throws {
    let fixture = try await fixture { number in
      if number == 1 { throw ImageSourceError.httpStatus(403) }
      return try solid(number)
    }
    let givenUp = Task { try await fixture.image(photo(1), .row) }
    await fixture.subscribers(1)
    let refused = Task { try await fixture.image(photo(1), .large) }
    await fixture.subscribers(2)
    givenUp.cancel()
    _ = await givenUp.result
    let next = Task { try await fixture.image(photo(2), .row) }
    await fixture.subscribers(2)
    gate.open()
    #expect(try await next.value.solidNumber == 2)
    await #expect(throws: ImageCacheError.self) { try await refused.value }
  }

  @Test("end the download of the next address when the last of them leaves")
  func leave() async throws {
    let never = CancellableGate()
    let source = ScriptedSource { [gate] url, _, _ in
      let number = Int(url.lastPathComponent) ?? 0
      try await (number == 1 ? gate : never).pass()
      // Too small for the other request.
      return .bitmap(try solid(number, size: PixelSize(width: 2, height: 2)))
    }
    let fixture = try await Fixture([.row, .large], source: source)
    let first = Task { try await fixture.image(photo(1), .large) }
    await fixture.subscribers(1)
    let second = Task { try await fixture.image(photo(2), .row) }
    await fixture.subscribers(2)
    gate.open()
    #expect(try await first.value.solidNumber == 1)
    await source.started.reaches(2)
    second.cancel()
    await source.cancelled.reaches(1)
    await fixture.quiet()
  }

  @Test("go on with their own where the server refuses the address", arguments: [401, 403])
  func refused(status: Int) async throws {
    let fixture = try await fixture { number in
      if number == 1 { throw ImageSourceError.httpStatus(status) }
      return try solid(number)
    }
    let requests = [(photo(1), ImageFormat.large), (photo(2), .row), (photo(1), .row)]
    let numbers = await numbers(requests, in: fixture)
    // The same image is asked for by both addresses, and has one answer.
    #expect(numbers == [nil, 2, 2])
    #expect(fixture.source.started.value == 2)
    #expect(await fixture.cache.statistics().failures == 1)
  }

  @Test("for one image go on with the next address where the server refuses one")
  func refusedOnce() async throws {
    let fixture = try await fixture { number in
      if number != 2 { throw ImageSourceError.httpStatus(403) }
      return try solid(number)
    }
    let requests = [1, 2, 3].map { (photo($0), ImageFormat.row) }
    // The newest address is asked next.
    #expect(await numbers(requests, in: fixture) == [2, 2, 2])
    #expect(fixture.source.started.value == 3)
    #expect(await fixture.cache.statistics().failures == 0)
  }

  @Test("fail together where the address leads to nothing", arguments: [404, 500])
  func failed(status: Int) async throws {
    let fixture = try await fixture { _ in throw ImageSourceError.httpStatus(status) }
    let requests = [(photo(1), ImageFormat.large), (photo(2), .row)]
    #expect(await numbers(requests, in: fixture) == [nil, nil])
    #expect(fixture.source.started.value == 1)
  }

  // Without Cairo no closure draws.
  #if Cairo
    @Test("ask for nothing once they are given up")
    func givenUp() async throws {
      let (drawing, door) = (Counter(), Gate())
      let fixture = try await fixture { number in
        try solid(number, size: PixelSize(width: 4, height: 4))
      }
      var first = photo(1)
      first.drawing = .custom { _, _ in
        drawing.increment()
        door.waitBlocking()
      }
      let cache = fixture.cache
      let task = Task { [first] in try await cache.image(for: first, format: .large) }
      await fixture.subscribers(1)
      let other = Task { try await cache.image(for: photo(2), format: .row) }
      await fixture.subscribers(2)
      gate.open()
      await drawing.reaches(1)
      other.cancel()
      await fixture.subscribers(1)
      door.open()
      _ = try await task.value
      await fixture.quiet()
      #expect(fixture.source.started.value == 1)
    }
  #endif
}
