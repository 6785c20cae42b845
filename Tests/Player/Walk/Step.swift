import FastImageCache

/// One kind of thing that a walk does.
package struct Step: Sendable {
  /// What a step needs to be drawn.
  enum Need: Sendable {
    /// The cache alone.
    case cache
    /// An entity that a predicate takes, in any format.
    case entity(@Sendable (PlayEntity) -> Bool)
  }

  let name: String
  /// The lines of the API file that it proves, without what follows the colon.
  let calls: [String]
  var weight = 1
  var need = Need.entity { _ in true }
  /// Whether it can only be done where the cache keeps originals.
  var needsOriginals = false
  /// Whether it can only be done where the program lends a hand.
  var needsHost = false
  var isOnDisk = false
  let run: @Sendable (Turn) async throws -> Void

  init(
    _ name: String, _ calls: [String], weight: Int = 1,
    need: Need = .entity { _ in true }, needsOriginals: Bool = false, needsHost: Bool = false,
    isOnDisk: Bool = false, run: @escaping @Sendable (Turn) async throws -> Void
  ) {
    (self.name, self.calls, self.weight, self.need) = (name, calls, weight, need)
    (self.needsOriginals, self.needsHost, self.isOnDisk) = (needsOriginals, needsHost, isOnDisk)
    self.run = run
  }

  /// All steps of the walk.
  static let all: [Step] =
    requests + looks + streams + lists + changes + removals + stores + originals + lives + views
    + sources + connections + hooks + openings + lifetimes + encodings + drawings + tidings
    + endings + accounts + troubles + neighbours
}
