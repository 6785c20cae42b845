import ImageCodecs

/// One waiter's wish for previews of its picture.
struct PreviewWish: Sendable {
  let request: ImageRequest
  let policy: PreviewPolicy
  /// The rest of the family: the picture is drawn from a decode that is large enough for it.
  let siblings: [ImageRequest]
  /// The kind that nothing may show less than.
  let least: PreviewStage.Kind?

  /// - Parameters:
  ///   - request: Its entity is asked for the drawing and the family, and the tables for the latter.
  ///   - isFirst: Whether nothing is shown so far; a placeholder shows as much as a thumbnail.
  /// - Returns: `nil` for a request without a wish, and where a closure draws: it may do anything with a
  ///   picture, and expects the whole one.
  init?(_ request: ImageRequest, isFirst: Bool) {
    guard let policy = request.options?.previews, policy.wantsAny,
      case .recipe = request.entity.drawing(for: request.format).content
    else { return nil }
    (self.request, self.policy, siblings) = (request, policy, request.siblings())
    least = isFirst ? nil : .embedded
  }
}

/// A preview of one picture.
struct DrawnPreview: Sendable {
  let key: ImageKey
  let image: CachedImage
  let isSettled: Bool
}

/// The pictures of which a preview of one stage is wanted, and the least that those who want it ask of it.
struct PreviewWant: Sendable {
  let wishes: [PreviewWish]
  /// The shortest time that one of them lets pass before.
  let delay: Duration
  /// The smallest part of the picture that one of them has been shown by a thumbnail.
  let part: Double
}

/// The waiters of a load that want previews, and the newest previews that there are; pure.
///
/// Invariants:
/// 1. A waiter is shown no more previews than its policy allows, of no kind that it does not want, and no
///    picture's but its own.
/// 2. A waiter is shown no preview of a lesser kind than one before (``PreviewStage/Kind``), nor of fewer bytes
///    than one of the same kind: a fetch that begins anew would show the picture coarser again. Behind a thumbnail
///    it is shown no frame that comes from fewer pixels.
/// 3. A preview belongs to the load: its number counts the load's previews, whoever was there to see them.
struct PreviewWishes {
  /// More formats of one load are not previewed at the same time.
  static let formatLimit = 2

  private struct Entry {
    let wish: PreviewWish
    var shownCount = 0
    var best: PreviewStage.Kind?
    /// The part of the picture that a thumbnail has shown.
    var part = 0.0

    init(_ wish: PreviewWish) { (self.wish, best) = (wish, wish.least) }

    var wantsMore: Bool { shownCount < wish.policy.limit }

    func wants(_ kind: PreviewStage.Kind) -> Bool {
      wantsMore && wish.policy.wants(kind) && best.map { $0 <= kind } != false
    }

    mutating func show(_ kind: PreviewStage.Kind, _ part: Double?) {
      shownCount += 1
      best = kind
      if kind == .embedded { self.part = part ?? 0 }
    }
  }

  /// The stages of one kind that have been drawn.
  private struct Drawn {
    var count = 0
    var byteCount = 0
    var part: Double?
    var newest: [ImageKey: (image: CachedImage, preview: ImagePreview)] = [:]
  }

  private var entries: [WaiterID: Entry] = [:]
  private var drawn: [PreviewStage.Kind: Drawn] = [:]

  /// Whether a preview would be shown to anyone.
  var wantMore: Bool { entries.values.contains { $0.wantsMore } }

  /// What those want who would be shown a preview of a stage: each picture once, and of these the first two.
  ///
  /// - Parameter settled: The pictures that need no other preview: they take no place of the two.
  /// - Returns: `nil` if nobody wants it.
  func want(_ stage: PreviewStage, besides settled: Set<ImageKey>) -> PreviewWant? {
    guard stage.byteCount > drawn[stage.kind]?.byteCount ?? 0 else { return nil }
    var wishes: [PreviewWish] = []
    var delay = Duration.seconds(Int64.max)
    var part = 1.0
    for (_, entry) in entries.sorted(by: { $0.key.number < $1.key.number })
    where entry.wants(stage.kind) && !settled.contains(entry.wish.request.key)
      && drawnCount(for: entry.wish) < entry.wish.policy.limit
    {
      delay = min(delay, entry.wish.policy.delay)
      part = min(part, entry.part)
      guard wishes.count < Self.formatLimit else { continue }
      if !wishes.contains(where: { $0.request.key == entry.wish.request.key }) {
        wishes.append(entry.wish)
      }
    }
    return wishes.isEmpty ? nil : PreviewWant(wishes: wishes, delay: delay, part: part)
  }

  /// How many stages have been drawn.
  var drawnCount: Int { drawn.values.reduce(0) { $0 + $1.count } }

  /// How many stages have been drawn of the kinds that a wish is for.
  private func drawnCount(for wish: PreviewWish) -> Int {
    drawn.reduce(0) { $0 + (wish.policy.wants($1.key) ? $1.value.count : 0) }
  }

  /// Adds a waiter.
  ///
  /// - Returns: The best preview of its picture, which it is shown at once.
  mutating func add(_ wish: PreviewWish, for waiter: WaiterID) -> ImageProgress? {
    var entry = Entry(wish)
    defer { entries[waiter] = entry }
    let best = drawn.filter { entry.wants($0.key) && $0.value.newest[wish.request.key] != nil }
      .max { $0.key < $1.key }
    guard let best, let (image, preview) = best.value.newest[wish.request.key] else { return nil }
    entry.show(best.key, best.value.part)
    return .preview(image, preview)
  }

  /// - Returns: The waiter's wish, for release outside a lock: an entity may end with it.
  mutating func remove(_ waiter: WaiterID) -> PreviewWish? {
    entries.removeValue(forKey: waiter)?.wish
  }

  /// Forgets the previews that there are.
  ///
  /// - Returns: Their pictures, for release outside a lock.
  mutating func forget() -> [CachedImage] {
    let images = drawn.values.flatMap { $0.newest.values.map(\.image) }
    for kind in drawn.keys { drawn[kind]?.newest = [:] }
    return images
  }

  /// Takes the previews of one stage, and tells to whom each is shown.
  ///
  /// - Parameters:
  ///   - part: The part of the picture's pixels that they come from.
  ///   - elapsed: The time since the fetch began.
  mutating func show(
    _ previews: [DrawnPreview], of stage: PreviewStage, part: Double?, elapsed: Duration
  ) -> [(waiter: WaiterID, progress: ImageProgress)] {
    var drawn = drawn[stage.kind] ?? Drawn()
    // Another worker may have drawn a later stage meanwhile.
    guard stage.byteCount > drawn.byteCount else { return [] }
    drawn.count += 1
    (drawn.byteCount, drawn.part) = (stage.byteCount, part)
    let kind: ImagePreview.Kind =
      switch stage.kind {
      case .frame: .frame(drawn.count)
      case .embedded: .embedded
      case .rows: .rows(part ?? 0)
      }
    for one in previews {
      drawn.newest[one.key] = (one.image, ImagePreview(kind: kind, isSettled: one.isSettled))
    }
    self.drawn[stage.kind] = drawn
    var shown: [(waiter: WaiterID, progress: ImageProgress)] = []
    for (waiter, entry) in entries
    where entry.wants(stage.kind) && entry.wish.policy.delay <= elapsed
      && part ?? 1 > (stage.kind == .frame ? entry.part : 0)
    {
      let key = entry.wish.request.key
      guard previews.contains(where: { $0.key == key }), let (image, preview) = drawn.newest[key]
      else { continue }
      entries[waiter]?.show(stage.kind, part)
      shown.append((waiter, .preview(image, preview)))
    }
    return shown
  }
}

extension ImageProgress {
  /// Whether a sharp picture is shown, so that what has arrived of another would be worth less.
  var outranksFrames: Bool {
    guard case .preview(_, let preview) = self else { return false }
    return switch preview.kind {
    case .variant, .stale: true
    case .placeholder, .frame, .embedded, .rows: false
    }
  }
}
