/// The conditions that decide which requests for a URL may share a load.
struct LoadIdentity: Hashable, Sendable {
  private let audience: Audience
  /// By their bytes: `String` compares canonically, and servers do not.
  private let headers: [[UInt8]: [UInt8]]
  private let reach: LoadOptions.Reach
  private let avoids: NetworkCosts
  /// A load that begins with a kept original is shared by no request that has to wait for a download,
  /// and the other way round.
  let beginsWithKept: Bool
  /// Whether what is kept is a placeholder, which no request for a real picture may share.
  let showsPlaceholder: Bool

  /// `nil` for an ordinary request of which nothing is kept: it builds no identity.
  init?(_ options: LoadOptions?, beginsWithKept: Bool, showsPlaceholder: Bool = false) {
    self.beginsWithKept = beginsWithKept
    self.showsPlaceholder = showsPlaceholder
    audience = options?.audience ?? .everyone
    headers = Dictionary(
      uniqueKeysWithValues: (options?.headers ?? [:]).map { (Array($0.utf8), Array($1.utf8)) })
    reach = options?.reach ?? .network
    avoids = options?.avoids ?? []
    let isOrdinary = audience == .everyone && headers.isEmpty && reach == .network && avoids.isEmpty
    if isOrdinary, !beginsWithKept { return nil }
  }
}
