import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache

@Suite(
  "A source that asks the cache under conditions, at a gate of width one,", .timeLimit(.minutes(10))
)
struct ConditionReentrancyTests {
  /// The conditions of nested requests.
  static let conditions: [LoadOptions] = {
    var fields = LoadOptions()
    fields.headers = ["Accept": "image/png"]
    return [
      LoadOptions(), LoadOptions(.revalidate), LoadOptions(.reload), fields,
      LoadOptions(account: AccountID("a")), LoadOptions(avoids: .expensive),
      LoadOptions(scope: .local), LoadOptions(priority: RequestPriority(.background)),
    ]
  }()

  private typealias Answer =
    @Sendable (_ number: Int, _ ask: @Sendable (Int) async throws -> Int) async throws -> Int

  private func fixture(
    _ options: @autoclosure @escaping @Sendable () -> LoadOptions, _ answer: @escaping Answer
  ) async throws -> Fixture {
    let asker = Lock<(@Sendable (Int) async throws -> Int)?>(nil)
    let source = ScriptedSource { url, _, _ in
      guard let ask = asker.withLock({ $0 }) else { throw CancellationError() }
      return .bitmap(try solid(try await answer(Int(url.lastPathComponent) ?? 0, ask)))
    }
    let fixture = try await Fixture(source: source) {
      $0.resources = LoadResources(localWidth: 1)
    }
    asker.withLock { [weak cache = fixture.cache] in
      $0 = { number in
        guard let cache else { throw CancellationError() }
        let photo = Photo(ImageID("plain \(number)"), url: "test:/\(number)")
        return try await cache.image(for: photo, format: .row, options: options()).solidNumber ?? -1
      }
    }
    return fixture
  }

  private func number(
    _ number: Int, _ options: LoadOptions = LoadOptions(), from fixture: Fixture
  ) async throws -> Int? {
    let photo = Photo(ImageID(number), url: "test:/\(number)")
    return try await fixture.image(photo, .row, options).solidNumber
  }

  private func isFree(_ fixture: Fixture) async throws {
    await fixture.quiet()
    await fixture.subscribers(0)
    #expect(try await number(77, from: fixture) == 77)
  }

  @Test("hears of the ring when it asks for its own URL", arguments: conditions)
  func itself(options: LoadOptions) async throws {
    let fixture = try await fixture(options) { number, ask in
      number == 1 ? try await ask(1) : number
    }
    let source = ActiveCallback.Subject.source(try #require(URL(string: "test:/1")))
    do {
      _ = try await number(1, from: fixture)
      Issue.record("It was answered.")
    } catch ImageCacheError.sourceFailed(let url, let circular as CircularImageError) {
      #expect(url?.lastPathComponent == "1" && circular.cycle == [source, source])
    }
    try await isFree(fixture)
  }

  @Test("gets another image, through its own gate", arguments: conditions)
  func another(options: LoadOptions) async throws {
    let fixture = try await fixture(options) { number, ask in
      number < 9 ? try await ask(number + 1) + 1 : number
    }
    #expect(try await number(1, from: fixture) == 17)
    try await isFree(fixture)
  }

  @Test("answers all, and names each ring, when many ask at once and priorities move")
  func many() async throws {
    let random = Lock(SplitMix64(state: 30))
    let level = RequestPriority(.low)
    let options: @Sendable () -> LoadOptions = {
      var options = random.withLock { random in
        Self.conditions.randomElement(using: &random) ?? LoadOptions()
      }
      if options.priority != nil { options.priority = level }
      return options
    }
    // From 1 on each asks for the next, and 6 answers; 11 asks for 12, and that for 11.
    let fixture = try await fixture(options()) { number, ask in
      level.value = number % 2 == 0 ? .high : .background
      return switch number {
      case 1..<6: try await ask(number + 1) + 1
      case 11, 12: try await ask(23 - number)
      default: number
      }
    }
    let tasks = (0..<60).map { index in
      let first = [1, 2, 3, 4, 5, 6, 11, 12][index % 8]
      return (first, Task { try await number(first, options(), from: fixture) })
    }
    for (first, task) in tasks {
      switch await task.result {
      case .success(let number): #expect(number == 12 - first && first < 7)
      case .failure(ImageCacheError.sourceFailed(_, let error)):
        #expect(first > 10 && error is CircularImageError)
      case .failure(let error): Issue.record(error)
      }
    }
    try await isFree(fixture)
  }
}
