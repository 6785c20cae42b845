import ImageSources

/// The conditions of a request that decide who may share its load.
struct LoadConditions: Hashable, Sendable {
  /// Those of a request that says nothing of them.
  static let ordinary = LoadConditions()

  var account: AccountID?
  var headers: [String: String] = [:]
  /// `nil` for none, as most requests have: an empty dictionary is retained by each copy.
  private var settings: [String: String]?
  var scope = LoadOptions.Scope.network
  var avoids: NetworkCosts = []

  var decoderSettings: [String: String] {
    get { settings ?? [:] }
    set { settings = newValue.isEmpty ? nil : newValue }
  }

  /// Whether a request without conditions may share the load.
  var isOrdinary: Bool {
    headers.isEmpty && scope == .network && avoids.isEmpty && account == nil
      && settings == nil
  }

  static func == (first: LoadConditions, second: LoadConditions) -> Bool {
    first.account == second.account && first.scope == second.scope
      && first.avoids == second.avoids && first.headers.hasSameBytes(as: second.headers)
      && first.decoderSettings.hasSameBytes(as: second.decoderSettings)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(account)
    hasher.combine(headers.count)
    hasher.combine(scope)
    hasher.combine(avoids)
    hasher.combine(decoderSettings.count)
  }
}

extension [String: String] {
  /// Compares by bytes: `String` compares canonically, and servers do not.
  fileprivate func hasSameBytes(as other: [String: String]) -> Bool {
    count == other.count
      && allSatisfy { name, value in
        guard let index = other.index(forKey: name) else { return false }
        return other[index].key.utf8.elementsEqual(name.utf8)
          && other[index].value.utf8.elementsEqual(value.utf8)
      }
  }
}

/// Tells apart the requests for a URL that may not share a load.
struct LoadIdentity: Hashable, Sendable {
  private let conditions: LoadConditions
  /// A load that begins with a kept original is shared by no request that has to wait for a download, and one that
  /// downloads by no request that can begin with a kept original, until an image was delivered.
  let beginsWithKept: Bool
  /// Whether the load is for a placeholder, which no request for a real image may share.
  let isPlaceholder: Bool

  /// `nil` for an ordinary request of which nothing is kept: it builds no identity.
  init?(_ conditions: LoadConditions, beginsWithKept: Bool, isPlaceholder: Bool = false) {
    self.conditions = conditions
    self.beginsWithKept = beginsWithKept
    self.isPlaceholder = isPlaceholder
    if conditions.isOrdinary, !beginsWithKept, !isPlaceholder { return nil }
  }

  /// The same of a load that downloads: the original that it has kept may be the one that the request begins with.
  var asFetched: LoadIdentity? {
    LoadIdentity(conditions, beginsWithKept: false, isPlaceholder: isPlaceholder)
  }
}
