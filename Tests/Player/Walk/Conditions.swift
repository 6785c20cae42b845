import FastImageCache
import Foundation

extension Turn {
  /// The conditions of an entity's requests: what keeps loads apart is the entity's, the rest is drawn.
  ///
  /// - Parameter isPlain: Whether the request stores what it brings, reaches everywhere and has time.
  func options(
    for entity: PlayEntity? = nil, isPlain: Bool = false, policy: LoadOptions.CachePolicy? = nil
  ) -> LoadOptions {
    let entity = entity ?? self.entity
    let kind = session.plan.wiring.kind(of: entity.subject.scheme)
    var options = LoadOptions()
    func meet(_ name: String) { coverage.meet(option: name, kind) }
    options.account = plant == .lostAccount && chance(1, in: 4) ? nil : entity.accountID
    if entity.account > 0 { meet("account") }
    if entity.hasHeaders {
      options.headers = ["X-Kind": "\(entity.number)"]
      meet("headers")
    }
    if entity.hasDecoderSettings {
      options.decoderSettings = ["kind": "\(entity.number)"]
      meet("decoderSettings")
    }
    if entity.savesNetwork {
      options.allowsConstrainedNetworkAccess = false
      options.allowsExpensiveNetworkAccess = false
      meet("allows…NetworkAccess")
    }
    options.cachePolicy =
      policy ?? pick([.useCache, .useCache, .useCache, .revalidate, .reload])
    meet("policy \(options.cachePolicy)")
    if chance(1, in: 3) {
      options.priority = RequestPriority(pick([.background, .low, .medium, .high]))
      meet("priority")
    }
    if isPlain { return options }
    if chance(1, in: 6) {
      options.storage = pick([.none, .originalsOnly])
      meet("storage \(options.storage)")
    }
    if chance(1, in: 8) {
      options.scope = pick([.cache, .local])
      meet("scope \(options.scope)")
    }
    if chance(1, in: 10) {
      options.timeout = .milliseconds(1 + roll(40))
      meet("timeout")
    }
    if chance(1, in: 8) {
      options.originalLifetime = LoadOptions.OriginalLifetime(
        .seconds(86_400 * 20), renewsOnUse: chance(1, in: 2))
      meet("originalLifetime")
    }
    if chance(entity.subject.fileKind == .progressive ? 3 : 1, in: 4) {
      options.previews = PreviewPolicy(kinds: pick([.frames, [.frames, .rows], .embedded]))
      options.previews.delay = .zero
      options.previews.limit = 1 + roll(3)
      meet("previews")
    }
    if chance(1, in: 6) {
      options.fallback = pick([.none, FallbackPolicy(smallestScale: 0.1)])
      options.fallback.allowsOtherVersions = chance(1, in: 2)
      options.fallback.allowsOtherProportions = true
      meet("fallback")
    }
    return options
  }

  /// The entity as it asks: with a planted fault in its former version.
  var asked: PlayEntity {
    guard plant == .lostVersion, entity.naming == .explicit, entity.version > 0 else {
      return entity
    }
    var former = entity
    former.version -= 1
    return former
  }

  /// Notes what an answer tells of later ones.
  func learn(
    _ mark: Mark?, _ report: LoadReport, _ options: LoadOptions, _ format: ImageFormat,
    since time: Int,
    of entity: PlayEntity? = nil
  ) {
    let entity = entity ?? self.entity
    guard let mark, report.isStored, !options.isPlaceholder, options.storage == .all else { return }
    let isFetched = report.origin != .table && report.origin != .entity && !report.isKept
    model.shown(
      mark, of: entity, format, keepsOriginal: hasOriginals && isFetched && !isTroubled,
      since: time)
    if options.cachePolicy > .useCache {
      model.asked(
        for: entity, [format], at: time, keepsOriginal: hasOriginals && !isTroubled,
        by: "\(options.cachePolicy)")
    }
  }
}

extension LoadReport {
  /// Whether a kept original answered.
  fileprivate var isKept: Bool {
    if case .original = origin { true } else { false }
  }
}
