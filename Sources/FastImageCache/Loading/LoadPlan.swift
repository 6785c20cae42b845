import Foundation

/// The steps by which a load comes to its picture's bytes; pure.
///
/// | what is kept | `normal` | `revalidate` | `reload` |
/// |---|---|---|---|
/// | fresh | read, else ask | recall, ask | ask |
/// | stale | the same, and revalidate behind | recall, ask | ask |
/// | expired; where the request may not go to the network it is read | recall, ask | recall, ask | ask |
/// | stale, and its server has to be asked | recall, ask | recall, ask | ask |
/// | nothing, or gone; for a real picture a placeholder | ask | ask | ask |
///
/// Invariants:
/// 1. Steps are taken in their order until one brings the picture. A load without a further step has
///    come to the end of its reach.
/// 2. A source is asked only within the reach of the request. Without a source to ask, nothing is
///    recalled: an original that must be revalidated does not answer by itself.
/// 3. A kept original is read and recalled at the local gate, so it never waits for a download.
/// 4. ``askOnceMore()`` adds one step in the life of a plan: a source that lies is asked twice at most.
struct LoadPlan: Hashable, Sendable {
  enum Step: Hashable, Sendable {
    /// Reads the kept original, which answers.
    case read
    /// Reads the kept original, for the next step to ask whether it changed.
    case recall
    /// Asks the source.
    case ask
  }

  /// The step before the source is asked, and whether it is asked: an array would be allocated for each
  /// load.
  private var first: Step?
  private var asks: Bool

  /// The steps that are left.
  var steps: [Step] { (first.map { [$0] } ?? []) + (asks ? [.ask] : []) }

  /// Whether the original that is read first is stale.
  let showsStale: Bool

  /// Whether the source is asked behind the answer, since the original that answers is stale.
  let revalidatesBehind: Bool

  /// Whether the recalled original answers when the server fails: RFC 5861 section 4.
  let answersFailures: Bool

  /// Whether the recalled original answers when no server can be reached.
  let answersUnreachable: Bool

  /// The need of the source when it is asked.
  let need: LoadNeed

  private let mayAsk: Bool
  private var asksOnceMore = false

  /// - Parameters:
  ///   - kept: What a store knows of the original, if it has it.
  ///   - need: What the source needs first.
  ///   - showsPlaceholder: Whether a kept placeholder counts.
  init(
    _ policy: LoadOptions.Policy, within reach: LoadOptions.Reach, kept: KeptOriginal?,
    need: LoadNeed, showsPlaceholder: Bool = false
  ) {
    self.need = need
    mayAsk = reach.covers(need)
    asks = mayAsk
    let freshness: Freshness =
      kept.map { $0.isPlaceholder && !showsPlaceholder ? .gone : $0.freshness } ?? .gone
    switch (policy, freshness) {
    case (_, .gone), (.reload, _): first = nil
    case (.normal, .fresh), (.normal, .stale): first = .read
    case (.normal, .expired): first = reach.covers(.network) ? .recall : .read
    case (.normal, .mustRevalidate), (.revalidate, _): first = mayAsk ? .recall : nil
    }
    // Only a network's answer has terms to be asked about.
    showsStale = first == .read && freshness != .fresh
    revalidatesBehind = showsStale && mayAsk && need == .network
    let isRecalled = policy == .normal && first == .recall
    (answersFailures, answersUnreachable) =
      switch freshness {
      case .mustRevalidate(let answers): (isRecalled && answers, false)
      case .expired(let answers): (isRecalled && answers, isRecalled)
      case .fresh, .stale, .gone: (false, false)
      }
  }

  /// Whether the load can do without its source.
  var beginsWithKept: Bool { first == .read }

  /// Takes the next step.
  mutating func next() -> Step? {
    if let step = first.take() { return step }
    defer { asks = false }
    return asks ? .ask : nil
  }

  /// Plans to ask the source from the beginning, since the bytes that it had continued, or called
  /// unchanged, are no picture.
  ///
  /// - Returns: False where that was tried, or the request may not go so far.
  mutating func askOnceMore() -> Bool {
    guard mayAsk, !asksOnceMore else { return false }
    asksOnceMore = true
    (first, asks) = (nil, true)
    return true
  }
}

/// Makes plans from what the store knows at the moment of the question.
struct LoadPlanner: Sendable {
  let source: any ImageSource
  let originals: (any OriginalKeeping)?
  /// Tells the entities of this cache from others that share its store.
  let namespace: ImageID

  func owner(of request: ImageRequest) -> OriginalOwner {
    OriginalOwner(namespace: namespace, entity: request.key.entity)
  }

  /// The address by which requests share a load.
  ///
  /// No web server is told the fragment, so what stands there makes no other download. A source of the
  /// program's own may look at it.
  func address(of url: URL) -> URL {
    guard url.fragment != nil, source is URLImageSource, source.need(for: url) == .network,
      var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
    else { return url }
    parts.fragment = nil
    return parts.url ?? url
  }

  /// Cost: the source's word on its need; with a store a lock and a lookup, too.
  ///
  /// - Parameters:
  ///   - policy: The load's, which is at least that of each request.
  ///   - showsPlaceholder: Whether all requests of the load are content with a placeholder.
  func plan(
    _ policy: LoadOptions.Policy, for request: ImageRequest, at url: URL, showsPlaceholder: Bool
  ) -> LoadPlan {
    LoadPlan(
      policy, within: request.conditions.reach, kept: original(for: request),
      need: source.need(for: url), showsPlaceholder: showsPlaceholder)
  }

  /// Tells apart the requests for a URL that may not share a load; `nil` for those that may.
  func identity(of request: ImageRequest) -> LoadIdentity? {
    if originals == nil {
      return LoadIdentity(
        request.conditions, beginsWithKept: false, isPlaceholder: request.isPlaceholder)
    }
    let kept = request.url.flatMap { _ in original(for: request) }
    // The need of a load does not decide whether it begins with what is kept.
    let plan = LoadPlan(
      request.policy, within: request.conditions.reach, kept: kept, need: .local,
      showsPlaceholder: request.isPlaceholder)
    return LoadIdentity(
      request.conditions, beginsWithKept: plan.beginsWithKept,
      isPlaceholder: request.isPlaceholder)
  }

  /// What the store has for a request.
  ///
  /// A mark of the entity's pictures has reached its own originals. One that another entity of the same URL
  /// has loaded is that entity's, but answers this one only after its server was asked, too.
  private func original(for request: ImageRequest) -> KeptOriginal? {
    guard var kept = originals?.look(request.originalQuery(in: namespace)) else { return nil }
    if kept.freshness != .gone, kept.isOthers, request.hasStalePicture {
      kept.freshness = .mustRevalidate(answersFailures: false)
    }
    return kept
  }
}
