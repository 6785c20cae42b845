import ImageCodecs

/// One subscriber's wish for previews of its image.
struct PreviewRequest: Sendable {
  let request: ImageRequest
  let policy: PreviewPolicy
  /// The rest of the family: the image is drawn from a decode that is large enough for it.
  let siblings: [ImageRequest]
  /// The kind that nothing may show less than.
  let least: PreviewStage.Kind?

  /// - Parameters:
  ///   - request: Its entity is asked for the drawing and the family, and the tables for the latter.
  ///   - isFirst: Whether nothing is shown so far; a placeholder shows as much as a thumbnail.
  /// - Returns: `nil` for a request without a wish, and where a closure draws: it may do anything with an
  ///   image, and expects the whole one.
  init?(_ request: ImageRequest, isFirst: Bool) {
    guard let policy = request.options?.previews, policy.wantsAny,
      case .recipe = request.entity.drawing(for: request.format).content
    else { return nil }
    (self.request, self.policy, siblings) = (request, policy, request.siblings())
    least = isFirst ? nil : .embedded
  }
}

/// A preview of one image.
struct DrawnPreview: Sendable {
  let key: ImageKey
  let image: CachedImage
  let isSettled: Bool
}

/// The images of which a preview of one stage is wanted, and the least that those who want it ask of it.
struct PreviewJob: Sendable {
  let wishes: [PreviewRequest]
  /// The part of the image that a preview has to exceed.
  let part: Double
}

/// The latest preview of a load, and the subscribers that want one; pure.
///
/// Invariants:
/// 1. A preview takes the place of the one before if it shows more: a better kind (``PreviewStage/Kind``), or more
///    bytes of the same kind. A subscriber that joins, or becomes due, is shown the latest one only.
/// 2. A subscriber is shown its own image, in kinds that it wants, once its delay has passed, and at most as often as
///    its limit. It is shown nothing that shows less than one before, or a smaller part of the image's pixels, and
///    nothing after a settled preview. That holds where a fetch begins anew, too.
/// 3. A stage is drawn only for a subscriber that is due, and if fewer stages of the subscriber's kinds were drawn than
///    its limit: each costs a decode. An image whose latest preview is settled gets no other.
/// 4. Of bytes that were thrown away only the number of their stages is kept.
struct LatestPreview {
  /// More formats of one load are not previewed at the same time.
  static let formatLimit = 2

  /// How much a preview shows.
  private struct Extent {
    let kind: PreviewStage.Kind
    var byteCount = 0
    /// The part of the image's pixels; `nil` for all of them, more or less sharp, and for rows.
    var part: Double?

    var pixelPart: Double { part ?? (kind == .frame ? 1 : 0) }

    func exceeds(_ other: Extent?) -> Bool {
      guard let other else { return true }
      return kind > other.kind || kind == other.kind && byteCount > other.byteCount
    }
  }

  private struct Follower {
    let wish: PreviewRequest
    var shownCount = 0
    /// The most that it was shown.
    var best: Extent?
    var isSettled = false

    var wantsMore: Bool { shownCount < wish.policy.limit && !isSettled }

    func wants(_ extent: Extent) -> Bool {
      wantsMore && wish.policy.wants(extent.kind) && extent.exceeds(best)
    }
  }

  private struct Drawn {
    let extent: Extent
    let previews: [ImageKey: (image: CachedImage, preview: ImagePreview)]
  }

  private var followers: [SubscriberID: Follower] = [:]
  private var latest: Drawn?
  /// The stages that were drawn.
  private var counts: [PreviewStage.Kind: Int] = [:]
  /// The time from the beginning of the fetch to its newest bytes.
  private var elapsed = Duration.zero

  /// Whether a preview would be shown to anyone.
  var wantMore: Bool { followers.values.contains { $0.wantsMore } }

  /// How many stages have been drawn.
  var drawnCount: Int { counts.values.reduce(0, +) }

  /// The images of which previews of a stage are wanted now: of the subscribers that came first, two at most.
  ///
  /// - Parameters:
  ///   - stages: The newest ones that were not drawn.
  ///   - elapsed: The time since the fetch began.
  /// - Returns: The stages that anybody wants.
  mutating func want(
    _ stages: [PreviewStage.Kind: PreviewStage], after elapsed: Duration
  ) -> [PreviewStage.Kind: PreviewJob] {
    self.elapsed = elapsed
    return stages.compactMapValues { stage in
      let extent = Extent(kind: stage.kind, byteCount: stage.byteCount)
      guard extent.exceeds(latest?.extent) else { return nil }
      let due = followers.sorted { $0.key.number < $1.key.number }.map(\.value)
        .filter { isDue($0) && $0.wants(extent) && mayBeDrawn(for: $0.wish) }
      var wishes: [PreviewRequest] = []
      for follower in due where wishes.count < Self.formatLimit {
        let key = follower.wish.request.key
        if !wishes.contains(where: { $0.request.key == key }) { wishes.append(follower.wish) }
      }
      let part = due.map { $0.best?.pixelPart ?? 0 }.min() ?? 0
      return due.isEmpty
        ? nil : PreviewJob(wishes: wishes, part: stage.kind == .frame ? part : 0)
    }
  }

  private func isDue(_ follower: Follower) -> Bool { follower.wish.policy.delay <= elapsed }

  private func mayBeDrawn(for wish: PreviewRequest) -> Bool {
    let count = counts.reduce(0) { $0 + (wish.policy.wants($1.key) ? $1.value : 0) }
    return count < wish.policy.limit
      && latest?.previews[wish.request.key]?.preview.isSettled != true
  }

  /// Adds a subscriber.
  ///
  /// - Returns: The latest preview of its image, which it is shown at once if it is due.
  mutating func add(_ wish: PreviewRequest, for subscriber: SubscriberID) -> ImageProgress? {
    followers[subscriber] = Follower(wish: wish, best: wish.least.map { Extent(kind: $0) })
    return offer(to: subscriber)
  }

  /// The subscribers that have become due since the latest preview was drawn, each with the one that it is shown.
  mutating func offer() -> [(subscriber: SubscriberID, progress: ImageProgress)] {
    Array(followers.keys).compactMap { subscriber in offer(to: subscriber).map { (subscriber, $0) }
    }
  }

  private mutating func offer(to subscriber: SubscriberID) -> ImageProgress? {
    guard let follower = followers[subscriber], isDue(follower), let latest,
      let (image, preview) = latest.previews[follower.wish.request.key],
      follower.wants(latest.extent)
    else { return nil }
    if latest.extent.kind == .frame, let part = latest.extent.part,
      part <= follower.best?.pixelPart ?? 0
    {
      return nil
    }
    followers[subscriber]?.shownCount += 1
    followers[subscriber]?.best = latest.extent
    followers[subscriber]?.isSettled = preview.isSettled
    return .preview(image, preview)
  }

  /// - Returns: The subscriber's wish, for release outside a lock: an entity may end with it.
  mutating func remove(_ subscriber: SubscriberID) -> PreviewRequest? {
    followers.removeValue(forKey: subscriber)?.wish
  }

  /// Forgets the latest preview, and the time of the fetch.
  ///
  /// - Returns: Its images, for release outside a lock.
  mutating func forget() -> [CachedImage] {
    defer { (latest, elapsed) = (nil, .zero) }
    return latest?.previews.values.map(\.image) ?? []
  }

  /// Takes the previews of one stage, and tells to whom each is shown.
  ///
  /// - Parameter part: The part of the image's pixels that they come from.
  mutating func show(
    _ previews: [DrawnPreview], of stage: PreviewStage, part: Double?
  ) -> [(subscriber: SubscriberID, progress: ImageProgress)] {
    let extent = Extent(
      kind: stage.kind, byteCount: stage.byteCount, part: stage.kind == .rows ? nil : part)
    // Another worker may have drawn a later stage meanwhile.
    guard extent.exceeds(latest?.extent) else { return [] }
    counts[stage.kind, default: 0] += 1
    let kind: ImagePreview.Kind =
      switch stage.kind {
      case .frame: .frame(counts[.frame] ?? 1)
      case .embedded: .embedded
      case .rows: .rows(part ?? 0)
      }
    latest = Drawn(
      extent: extent,
      previews: Dictionary(
        previews.map { ($0.key, ($0.image, ImagePreview(kind: kind, isSettled: $0.isSettled))) },
        uniquingKeysWith: { first, _ in first }))
    return offer()
  }
}

extension ImageProgress {
  /// Whether a sharp image is shown, so that what has arrived of another would be worth less.
  var outranksFrames: Bool {
    guard case .preview(_, let preview) = self else { return false }
    return switch preview.kind {
    case .variant, .stale: true
    case .placeholder, .frame, .embedded, .rows: false
    }
  }
}
