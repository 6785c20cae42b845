import Foundation
import ImageSources
import LoadQueue

/// How a load comes to its image's bytes; pure.
///
/// | what is kept | `useCache` | `revalidate` | `reload` |
/// |---|---|---|---|
/// | fresh | read, else ask | recall, ask | ask |
/// | stale | the same, and revalidate behind | recall, ask | ask |
/// | expired; where the request may not go to the network it is read | recall, ask | recall, ask | ask |
/// | stale, and its server has to be asked | recall, ask | recall, ask | ask |
/// | nothing, or gone; for a real image a placeholder | ask | ask | ask |
///
/// A source is asked only within the scope of the request. Without a source to ask, nothing is recalled: an original
/// that must be revalidated does not answer by itself.
struct LoadPlan: Hashable, Sendable {
  enum OriginalUse: Hashable, Sendable {
    /// The kept original answers.
    case read
    /// The source is asked whether the kept original has changed.
    case recall
  }

  /// What becomes of the kept original before the source is asked.
  let original: OriginalUse?

  /// Whether the source is asked where the kept original does not answer.
  let asks: Bool

  /// Whether the original that is read is stale.
  let showsStale: Bool

  /// Whether the source is asked behind the answer, since the original that answers is stale.
  let revalidatesInBackground: Bool

  /// Whether the recalled original answers when the server fails: RFC 5861 section 4.
  let answersFailures: Bool

  /// Whether the recalled original answers when no server can be reached.
  let answersUnreachable: Bool

  /// The need of the source when it is asked.
  let need: LoadNeed

  /// - Parameters:
  ///   - kept: What a store knows of the original, if it has it.
  ///   - need: What the source needs first.
  ///   - showsPlaceholder: Whether a kept placeholder counts.
  init(
    _ policy: LoadOptions.CachePolicy, within scope: LoadOptions.Scope, kept: KeptOriginal?,
    need: LoadNeed, showsPlaceholder: Bool = false
  ) {
    self.need = need
    asks = scope.covers(need)
    let freshness = Self.freshness(of: kept, showsPlaceholder)
    if Self.reads(kept, policy, within: scope, showsPlaceholder: showsPlaceholder) {
      original = .read
    } else {
      original = asks && freshness != .gone && policy != .reload ? .recall : nil
    }
    // Only a network's answer has terms to be asked about.
    showsStale = original == .read && freshness != .fresh
    revalidatesInBackground = showsStale && asks && need == .network
    let isRecalled = policy == .useCache && original == .recall
    (answersFailures, answersUnreachable) =
      switch freshness {
      case .mustRevalidate(let answers): (isRecalled && answers, false)
      case .expired(let answers): (isRecalled && answers, isRecalled)
      case .fresh, .stale, .gone: (false, false)
      }
  }

  /// Whether the kept original answers, and the load can do without its source.
  static func reads(
    _ kept: KeptOriginal?, _ policy: LoadOptions.CachePolicy, within scope: LoadOptions.Scope,
    showsPlaceholder: Bool
  ) -> Bool {
    guard policy == .useCache else { return false }
    return switch freshness(of: kept, showsPlaceholder) {
    case .fresh, .stale: true
    case .expired: !scope.covers(.network)
    case .mustRevalidate, .gone: false
    }
  }

  private static func freshness(of kept: KeptOriginal?, _ showsPlaceholder: Bool) -> Freshness {
    kept.map { $0.isPlaceholder && !showsPlaceholder ? .gone : $0.freshness } ?? .gone
  }
}

/// Makes plans from what the store knows at the moment of the question.
struct LoadPlanner: Sendable {
  let source: any ImageSource
  /// The source, if it names what its loads need.
  private let naming: (any NeedNamingSource)?
  let originals: (any OriginalKeeping)?
  /// Tells the entities of this cache from others that share its store.
  let namespace: ImageID

  init(source: any ImageSource, originals: (any OriginalKeeping)?, namespace: ImageID) {
    (self.source, self.originals, self.namespace) = (source, originals, namespace)
    naming = source as? any NeedNamingSource
  }

  /// The address by which requests share a load.
  ///
  /// No web server is told the fragment, so what stands there makes no other download. A source of the
  /// program's own may look at it.
  func address(of url: URL) -> URL {
    guard url.fragment != nil, source is URLImageSource,
      LoadNeed(for: url, naming: naming) == .network,
      var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
    else { return url }
    parts.fragment = nil
    return parts.url ?? url
  }

  /// The plan of a load, for one of its requests, which agree in all that decides it.
  ///
  /// Cost: the source's word on its need; with a store a lock and a lookup, too.
  func plan(_ load: Load, for request: ImageRequest, at url: URL) -> LoadPlan {
    LoadPlan(
      load.policy, within: request.conditions.scope, kept: kept(for: request, of: load),
      need: LoadNeed(for: url, naming: naming), showsPlaceholder: load.isPlaceholder)
  }

  /// The original by which a request joins loads of other addresses; `nil` where its id is its address.
  ///
  /// - Parameter version: The request's own, if it is explicit.
  func sharedOriginal(
    of request: ImageRequest, _ version: ImageID?, _ identity: LoadIdentity?
  ) -> SharedOriginal? {
    guard let url = request.url else { return nil }
    let id = request.entity.originalID(for: request.format)
    // The default version is the address.
    if version == nil ? id == request.realKey.version : id.isAddress(url) { return nil }
    return SharedOriginal(
      loadKey: .original(id, version: request.realKey.version, identity), size: request.format.size)
  }

  /// Tells apart the requests for a URL that may not share a load; `nil` for those that may.
  func identity(of request: ImageRequest) -> LoadIdentity? {
    let reads = LoadPlan.reads(
      request.url == nil ? nil : kept(for: request), request.policy,
      within: request.conditions.scope, showsPlaceholder: request.isPlaceholder)
    return LoadIdentity(
      request.conditions, beginsWithKept: reads,
      isPlaceholder: request.isPlaceholder)
  }

  /// What the store has for a request, or for the version of its load.
  func kept(for request: ImageRequest, of load: Load? = nil) -> KeptOriginal? {
    originals?.look(request.originalQuery(in: namespace, load?.version))
  }
}
