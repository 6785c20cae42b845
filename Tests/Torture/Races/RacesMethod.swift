import CommandSupport
import Foundation
import TestSupport

/// Many tasks on one cache, every image compared.
struct RacesMethod: CountedMethod {
  static let name = "races"
  static let counts = (range: 1...1_000_000_000, standard: 20_000)
  static let grammar = makeGrammar(
    summary: "mixes hits, loads, stores, evictions, removals, resets and cancels",
    count: "operations (20000)",
    discussion: """
      Six tasks share a cache of 20 images for 48: they ask, look, store, remove, cancel, prefetch,
      flush, empty, and open a second cache on the same tables. Every image is compared while it is
      held, again and again. Meant for the thread sanitizer as well:
      swift run --sanitize=thread imagecache-torture races
      """)

  let count: Int
  let seed: UInt64
  var plant: Plant?

  enum Plant { case ignoredLeases }

  func run() async throws -> Findings {
    let findings = Findings(Self.name, seed: seed, isQuiet: plant != nil)
    let folder = try TemporaryFolder(prefix: "imagecache-torture")
    let load = MixedLoad(
      folder: folder.url.path, findings: findings, ignoresLeases: plant != nil)
    try await load.run(operations: count, seed: seed)
    return findings
  }
}
