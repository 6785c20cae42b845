/// The conditions of a request that decide who may share its load: one object for all copies of a
/// ``LoadOptions``, so that neither a copy nor a comparison of two of these looks at fields.
final class LoadConditions: Hashable, Sendable {
  /// Those of a request that says nothing of them.
  static let ordinary = LoadConditions(.everyone, [:], .network, [])

  let audience: Audience
  let headers: [String: String]
  let reach: LoadOptions.Reach
  let avoids: NetworkCosts
  /// Whether they forbid no sharing.
  let isOrdinary: Bool
  private let hash: Int

  init(
    _ audience: Audience, _ headers: [String: String], _ reach: LoadOptions.Reach,
    _ avoids: NetworkCosts
  ) {
    (self.audience, self.headers, self.reach, self.avoids) = (audience, headers, reach, avoids)
    isOrdinary = audience == .everyone && headers.isEmpty && reach == .network && avoids.isEmpty
    var hasher = Hasher()
    hasher.combine(audience)
    hasher.combine(headers.count)
    hasher.combine(reach)
    hasher.combine(avoids)
    hash = hasher.finalize()
  }

  static func == (first: LoadConditions, second: LoadConditions) -> Bool {
    if first === second { return true }
    return first.hash == second.hash && first.audience == second.audience
      && first.reach == second.reach && first.avoids == second.avoids
      && first.headers.count == second.headers.count
      && first.headers.allSatisfy { second.hasHeader($0, $1) }
  }

  /// By bytes: `String` compares canonically, and servers do not.
  private func hasHeader(_ name: String, _ value: String) -> Bool {
    guard let index = headers.index(forKey: name) else { return false }
    return headers[index].key.utf8.elementsEqual(name.utf8)
      && headers[index].value.utf8.elementsEqual(value.utf8)
  }

  func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

/// Tells apart the requests for a URL that may not share a load.
struct LoadIdentity: Hashable, Sendable {
  private let conditions: LoadConditions
  /// A load that begins with a kept original is shared by no request that has to wait for a download,
  /// and the other way round.
  let beginsWithKept: Bool
  /// Whether the load is for a placeholder, which no request for a real picture may share.
  let isPlaceholder: Bool

  /// `nil` for an ordinary request of which nothing is kept: it builds no identity.
  init?(_ conditions: LoadConditions, beginsWithKept: Bool, isPlaceholder: Bool = false) {
    self.conditions = conditions
    self.beginsWithKept = beginsWithKept
    self.isPlaceholder = isPlaceholder
    if conditions.isOrdinary, !beginsWithKept, !isPlaceholder { return nil }
  }
}
