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

  /// Whether it can be done with an entity, which has a kind of source in a plan.
  func isMeant(_ entity: PlayEntity, as kind: String, in plan: Session.Plan) -> Bool {
    guard plan.wiring.serves(entity.subject.scheme) else { return false }
    guard case .entity(let isMeant) = need else { return true }
    return plan.wiring.kind(of: entity.subject.scheme) == kind && isMeant(entity)
  }

  /// The kinds of sources that it can meet in a plan; "-" where it needs none.
  func kinds(in plan: Session.Plan, _ entities: [PlayEntity]) -> [String] {
    if needsOriginals && !plan.hasOriginals { return [] }
    if (isOnDisk || needsHost) && plan.place == .memory { return [] }
    guard case .entity = need else { return ["-"] }
    return Wiring.kinds.filter { kind in
      entities.contains { isMeant($0, as: kind, in: plan) }
    }
  }

  /// All steps of the walk.
  static let all: [Step] =
    requests + looks + streams + lists + changes + removals + stores + originals + lives + views
    + sources + connections + hooks + openings + lifetimes + encodings + drawings + tidings
    + endings + accounts + troubles + neighbours
}
