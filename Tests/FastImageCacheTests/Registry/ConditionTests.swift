import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A thousand requests under all conditions", .timeLimit(.minutes(10)))
struct ConditionTests {
  private let levels = [RequestPriority(.low), RequestPriority(.medium), RequestPriority(.high)]
  private let priorities: [TaskPriority] = [.background, .low, .medium, .high]

  @Test(
    "get the image of their own conditions, whatever moves or leaves", arguments: [false, true])
  func mixes(keepsOriginals: Bool) async throws {
    // A store tells apart accounts only: the original of others answers, too.
    let kinds: [Kind] =
      keepsOriginals
      ? [.plain, .account, .otherAccount, .kept] : Kind.allCases
    let asked = Lock<[ImageSourceRequest]>([])
    let source = EncodedSource(need: keepsOriginals ? .network : .local) { request, call in
      asked.withLock { $0.append(request) }
      for _ in 0..<call % 4 { await Task.yield() }
      try Task.checkCancellation()
      let number = Int(request.url.lastPathComponent) ?? 0
      return .encoded(try solid(Kind(request).pixelNumber(number)).pngData())
    }
    let resources = LoadResources(networkWidth: 2, localWidth: 2)
    let fixture = try await Fixture(
      from: source, originals: keepsOriginals ? MemoryOriginals() : nil
    ) { $0.resources = resources }
    let moving = Task.detached { [levels, priorities] in
      var random = SplitMix64(state: 1)
      while !Task.isCancelled {
        for level in levels {
          level.value = priorities.randomElement(using: &random) ?? .low
          await Task.yield()
        }
      }
    }
    await withTaskGroup(of: Void.self) { group in
      for seed in 0..<6 {
        group.addTask { await ask(fixture, kinds, seed: UInt64(seed)) }
      }
    }
    moving.cancel()
    await moving.value
    await fixture.quiet()
    #expect(await fixture.cache.statistics().pendingRequests == 0)
    for need in [LoadNeed.local, .network] {
      while resources[need].counts != (0, 0), !Task.isCancelled { await Task.yield() }
    }
    #expect(
      asked.withLock { $0 }.allSatisfy {
        ($0.permit as? ReachingPermit)?.scope != .cache
      })
  }

  private func ask(_ fixture: Fixture, _ kinds: [Kind], seed: UInt64) async {
    var random = SplitMix64(state: seed)
    for _ in 0..<12 {
      var tasks: [(task: Task<CachedImage, any Error>, kind: Kind, number: Int)] = []
      for _ in 0..<10 {
        guard let kind = kinds.randomElement(using: &random) else { return }
        let number = Int.random(in: 0..<3, using: &random)
        var options = kind.options
        options.cachePolicy =
          [.useCache, .revalidate, .reload].randomElement(using: &random) ?? .useCache
        options.priority = Bool.random(using: &random) ? levels.randomElement(using: &random) : nil
        if Int.random(in: 0..<8, using: &random) == 0 { options.timeout = .zero }
        let task = Task(priority: priorities.randomElement(using: &random)) { [options] in
          try await fixture.image(kind.photo(number), .row, options)
        }
        tasks.append((task, kind, number))
        switch Int.random(in: 0..<6, using: &random) {
        case 0: task.cancel()
        case 1: task.escalatePriority(to: .high)
        case 2: try? await fixture.cache.removeImages(for: kind.photo(number))
        default: break
        }
      }
      for (task, kind, number) in tasks {
        switch await task.result {
        case .success(let image):
          let found = image.solidNumber
          // A kept original, or an image, of the same account.
          let isRight =
            found == kind.pixelNumber(number)
            || kind == .kept && found == Kind.plain.pixelNumber(number)
          #expect(isRight, "\(kind) got \(found ?? -1)")
        case .failure(ImageCacheError.notCached): #expect(kind == .kept)
        case .failure(ImageCacheError.cancelled): #expect(task.isCancelled)
        case .failure(ImageCacheError.timedOut): break
        case .failure(let error): Issue.record(error)
        }
      }
    }
  }
}

/// Kinds of requests that share no load, each with an entity of its own: whoever gets the image of
/// another kind has joined where it must not.
enum Kind: Int, CaseIterable {
  case plain, account, otherAccount, fields, unconstrained, inexpensive, local, kept

  init(_ request: ImageSourceRequest) {
    let scope = (request.permit as? ReachingPermit)?.scope
    switch (request.account, request.headers["X-Kind"], request.avoids, scope) {
    case (AccountID("a"), nil, [], .network): self = .account
    case (AccountID("b"), nil, [], .network): self = .otherAccount
    case (nil, "1", [], .network): self = .fields
    case (nil, nil, .constrained, .network): self = .unconstrained
    case (nil, nil, [.constrained, .expensive], .network): self = .inexpensive
    case (nil, nil, [], .local): self = .local
    case (nil, nil, [], .cache): self = .kept
    default: self = .plain
    }
  }

  var options: LoadOptions {
    var options = LoadOptions()
    switch self {
    case .plain: break
    case .account: options.account = AccountID("a")
    case .otherAccount: options.account = AccountID("b")
    case .fields: options.headers = ["X-Kind": "1"]
    case .unconstrained: options.avoids = .constrained
    case .inexpensive: options.avoids = [.constrained, .expensive]
    case .local: options.scope = .local
    case .kept: options.scope = .cache
    }
    return options
  }

  func photo(_ number: Int = 0) -> Photo {
    Photo(ImageID("\(rawValue) \(number)"), url: "test:/\(number)")
  }

  /// What the source draws for the kind.
  func pixelNumber(_ number: Int = 0) -> Int { 1 + rawValue + 16 * number }
}
