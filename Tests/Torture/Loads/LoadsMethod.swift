import CommandSupport
import Foundation
import TestSupport

/// Requests under all conditions, by many tasks on one cache, against a model of what each may get.
struct LoadsMethod: CountedMethod {
  static let name = "loads"
  static let counts = (range: 1...1_000_000_000, standard: 20_000)
  static let grammar = makeGrammar(
    summary: "asks under all conditions for images that change, come in pieces and break off",
    count: "operations (20000)",
    discussion: """
      Six tasks share a cache above a server of eight images. They ask, follow previews, cancel, remove,
      mark stale and refresh, for two accounts, with other fields, networks and scopes, under policies and
      priorities that move, alone and in crowds. The images change meanwhile. Their files are progressive,
      come in pieces, break off at every byte, and are continued. An image must be of its request's kind
      and not older than the last removal, stale mark or reload before the request; a reload's not older
      than the request. Previews come before the image, and `.cache` asks nobody. Half of the operations
      are done with a store of originals.
      """)

  let count: Int
  let seed: UInt64
  var plant: LoadServer.Plant?

  func run() async throws -> Findings {
    let findings = Findings(Self.name, seed: seed, isQuiet: plant != nil)
    for hasOriginals in [false, true] {
      let folder = try TemporaryFolder(prefix: "imagecache-torture")
      let play = try await LoadPlay(
        in: folder.url, LoadServer(findings, seed: seed, plant: plant), findings,
        hasOriginals: hasOriginals)
      try await play.run(operations: count / 2, seed: seed)
    }
    return findings
  }
}
