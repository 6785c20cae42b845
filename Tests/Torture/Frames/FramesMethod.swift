import CommandSupport
import FastImageCache
import Foundation
import TestSupport

/// Kills processes in the middle of animations, and checks what a later one finds.
struct FramesMethod: CountedMethod {
  static let name = "frames"
  static let counts = (range: 1...1_000_000, standard: 300)
  static let grammar = makeGrammar(
    summary: "kills processes that store, replace, move and remove animations",
    count: "processes to kill (300)",
    discussion: """
      One or two children load, reload, move, remove and mark stale animations of two to nine frames in one table,
      which has room for a part of them, and are killed at a random moment. Each pixel tells its entity, its load and
      its frame. The children and, after each kill, a later process look at all animations: one is there with all its
      frames, of one load and in their order, or it is a miss.
      """)

  let count: Int
  let seed: UInt64
  var plant: Plant?
  private var isMixed: Bool { plant == .mixedFrames }

  enum Plant { case mixedFrames }

  func run() async throws -> Findings {
    let findings = Findings(Self.name, seed: seed, isQuiet: isMixed)
    var random = SplitMix64(state: seed)
    let folder = try TableFolder()
    while findings.value("kills") + findings.faultCount < count {
      let seeds = (0..<Int.random(in: 1...2, using: &random)).map { _ in
        Int.random(in: 0...1 << 40, using: &random)
      }
      let ledger = try Ledger(path: folder.path + ".frames")
      ledger.clear()
      let children = try seeds.map {
        try ChildProcess([ChildRole.word, "frames", folder.path, String($0), isMixed ? "1" : "0"])
      }
      var endings = children.map { _ in ChildProcess.Ending?.none }
      while ledger.count < 3, endings.contains(nil) {
        pause(microseconds: 100)
        endings = zip(children, endings).map { $1 ?? $0.endingIfAny() }
      }
      pause(microseconds: Int.random(in: 0..<20_000, using: &random))
      for (child, ending) in zip(children, endings) where ending == nil { child.kill() }
      for (index, child) in children.enumerated() {
        switch endings[index] ?? child.ending() {
        case .signal(SIGKILL): findings.count("kills")
        case .exit(ChildVerdict.done): break
        case .exit(ChildVerdict.sawWrongImage):
          findings.report(.wrongImage, "seen by a child with seed \(seeds[index])")
        case let other: findings.report(.crash, "a child with seed \(seeds[index]): \(other)")
        }
      }
      try await check(folder.path, findings)
    }
    return findings
  }

  private func check(_ path: String, _ findings: Findings) async throws {
    let story = try await FrameStory(path: path)
    for number in FrameStory.entities {
      let entity = FrameStory.Entity(number: number)
      guard let found = story.cache.cachedAnimation(for: entity, format: FrameStory.format) else {
        continue
      }
      findings.count(found.frameCount > 1 ? "animations" : "stills")
      // A kill keeps whole calls, so that no record names a frame that is not there.
      if await !FrameStory.isReady(found) { findings.report(.lostEntry, "a frame of \(number)") }
      if let fault = FrameStory.fault(in: found, of: number) {
        findings.report(.wrongImage, "\(number): \(fault)")
      }
    }
    await story.cache.close()
  }
}

/// The child that changes animations until it is killed.
struct FrameWorker {
  private let path: String
  private let seed: UInt64
  private let isMixed: Bool

  /// - Parameter numbers: The seed, and 1 for the planted fault.
  init(path: String, numbers: [Int]) {
    (self.path, seed, isMixed) = (path, UInt64(numbers[0]), numbers[1] == 1)
  }

  func run() async throws -> Int32 {
    let ledger = try Ledger(path: path + ".frames")
    var random = SplitMix64(state: seed)
    var story = try await FrameStory(path: path, isMixed: isMixed)
    let format = FrameStory.format
    while !ledger.isFull {
      ledger.begin(.store)
      let cache = story.cache
      let number = Int.random(in: FrameStory.entities, using: &random)
      let entity = FrameStory.Entity(number: number)
      var seen: CachedAnimation?
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<45: seen = try? await cache.animation(for: entity, format: format)
      case 45..<60: seen = cache.cachedAnimation(for: entity, format: format)
      case 60..<75:
        var options = LoadOptions()
        options.cachePolicy = .reload
        _ = try? await cache.image(for: entity, format: format, options: options)
        seen = cache.cachedAnimation(for: entity, format: format)
      case 75..<85: try? await cache.removeImages(for: entity)
      case 85..<90: try? await cache.markStale(entity)
      case 90..<94: try? await cache.flush()
      case 94..<98:
        // Frames of its load may be under way.
        _ = try? await cache.image(for: entity, format: format)
        try? await cache.removeImages(for: entity)
      default:
        await cache.close()
        story = try await FrameStory(path: path, isMixed: isMixed)
      }
      if let seen, FrameStory.fault(in: seen, of: number) != nil {
        return ChildVerdict.sawWrongImage
      }
      ledger.done()
    }
    return ChildVerdict.done
  }
}
