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
  /// The part of the picture that a preview has to exceed.
  let part: Double
}

/// The waiters of a load that want previews, and the newest previews that there are; pure.
///
/// Invariants:
/// 1. A waiter is shown no more previews than its policy allows, of no kind that it does not want, none before
///    it is due, and no picture's but its own. It is due once its delay has passed: at the newest bytes of the
///    fetch, since nothing but bytes leads here.
/// 2. A waiter is shown no preview of a lesser kind than one before (``PreviewStage/Kind``), nor of fewer bytes
///    than one of the same kind: a fetch that begins anew would show the picture coarser again. Behind a thumbnail
///    or a frame it is shown no frame that comes from a smaller part of the pixels, and behind a settled preview
///    none. This holds for previews of another version, too, since the former one's stay on screen.
/// 3. A preview belongs to the load: its number counts the load's previews, whoever was there to see them.
/// 4. Nothing is drawn for a waiter that is not due, nor where the load has drawn as many stages of its kinds as its
///    limit: each costs a decode. A preview that was drawn of its picture costs nothing more, and is shown to it once
///    it is due.
/// 5. A picture with a settled preview gets no other, though the connection breaks off and is continued.
/// 6. Of bytes that were thrown away `drawn` has the count and nothing else: they are shown to nobody any more, and
///    keep nobody from previews of the bytes that replace them.
struct PreviewWishes {
  /// More formats of one load are not previewed at the same time.
  static let formatLimit = 2

  private struct Entry {
    let wish: PreviewWish
    var shownCount = 0
    var best: PreviewStage.Kind?
    /// The bytes of the newest stage that was shown.
    var byteCount = 0
    /// The part of the picture that the newest thumbnail or frame has shown.
    var part = 0.0
    var isSettled = false

    init(_ wish: PreviewWish) { (self.wish, best) = (wish, wish.least) }

    var wantsMore: Bool { shownCount < wish.policy.limit && !isSettled }

    /// Whether a stage has more than the ones before.
    func wants(_ kind: PreviewStage.Kind, of stageByteCount: Int) -> Bool {
      wantsMore && wish.policy.wants(kind) && best.map { $0 <= kind } != false
        && (best != kind || stageByteCount > byteCount)
    }

    /// Whether a preview shows more than the ones before.
    func wants(_ kind: PreviewStage.Kind, _ newest: Newest) -> Bool {
      wants(kind, of: newest.byteCount) && (kind != .frame || newest.part.map { $0 > part } ?? true)
    }

    mutating func show(_ kind: PreviewStage.Kind, _ newest: Newest) {
      shownCount += 1
      (best, byteCount) = (kind, newest.byteCount)
      // A frame without a part has all pixels, more or less sharp.
      if kind != .rows { part = newest.part ?? (kind == .frame ? 1 : 0) }
      isSettled = newest.preview.isSettled
    }
  }

  /// The newest preview of one picture and kind.
  private struct Newest {
    let image: CachedImage
    let preview: ImagePreview
    /// Those of its stage.
    let byteCount: Int
    let part: Double?
  }

  /// The stages of one kind that have been drawn.
  private struct Drawn {
    var count = 0
    var byteCount = 0
    /// The largest part of the picture that those of the fetch came from.
    var part = 0.0
    var newest: [ImageKey: Newest] = [:]
  }

  private var entries: [WaiterID: Entry] = [:]
  private var drawn: [PreviewStage.Kind: Drawn] = [:]
  /// The time from the beginning of the fetch to its newest bytes.
  private var elapsed = Duration.zero

  /// Whether a preview would be shown to anyone.
  var wantMore: Bool { entries.values.contains { $0.wantsMore } }

  /// What those want who would be shown a preview of a stage now: each picture once, and of these the first two.
  ///
  /// - Parameters:
  ///   - stages: The newest ones that were not drawn.
  ///   - elapsed: The time since the fetch began.
  /// - Returns: The stages that anybody wants.
  mutating func want(
    _ stages: [PreviewStage.Kind: PreviewStage], after elapsed: Duration
  ) -> [PreviewStage.Kind: PreviewWant] {
    self.elapsed = elapsed
    return stages.compactMapValues { want($0) }
  }

  private func want(_ stage: PreviewStage) -> PreviewWant? {
    let before = drawn[stage.kind] ?? Drawn()
    guard stage.byteCount > before.byteCount else { return nil }
    var wishes: [PreviewWish] = []
    var part = 1.0
    for (_, entry) in entries.sorted(by: { $0.key.number < $1.key.number })
    where isDue(entry) && entry.wants(stage.kind, of: stage.byteCount)
      && !isSettled(entry.wish.request.key)
      && drawnCount(for: entry.wish) < entry.wish.policy.limit
    {
      part = min(part, entry.part)
      guard wishes.count < Self.formatLimit else { continue }
      if !wishes.contains(where: { $0.request.key == entry.wish.request.key }) {
        wishes.append(entry.wish)
      }
    }
    guard !wishes.isEmpty else { return nil }
    return PreviewWant(wishes: wishes, part: max(before.part, stage.kind == .frame ? part : 0))
  }

  /// Whether a picture needs no other preview: it takes no place of the two.
  private func isSettled(_ key: ImageKey) -> Bool {
    drawn.values.contains { $0.newest[key]?.preview.isSettled == true }
  }

  private func isDue(_ entry: Entry) -> Bool { entry.wish.policy.delay <= elapsed }

  /// How many stages have been drawn.
  var drawnCount: Int { drawn.values.reduce(0) { $0 + $1.count } }

  /// How many stages have been drawn of the kinds that a wish is for.
  private func drawnCount(for wish: PreviewWish) -> Int {
    drawn.reduce(0) { $0 + (wish.policy.wants($1.key) ? $1.value.count : 0) }
  }

  /// Adds a waiter.
  ///
  /// - Returns: The best preview of its picture, which it is shown at once if it is due.
  mutating func add(_ wish: PreviewWish, for waiter: WaiterID) -> ImageProgress? {
    entries[waiter] = Entry(wish)
    return offer(to: waiter)
  }

  /// The waiters that have become due since the newest previews were drawn, each with the one that it is shown.
  mutating func offer() -> [(waiter: WaiterID, progress: ImageProgress)] {
    Array(entries.keys).compactMap { waiter in offer(to: waiter).map { (waiter, $0) } }
  }

  /// The best preview of a waiter's picture that it was not shown, and is shown now.
  private mutating func offer(to waiter: WaiterID) -> ImageProgress? {
    guard let entry = entries[waiter], isDue(entry) else { return nil }
    let newest = drawn.compactMapValues { $0.newest[entry.wish.request.key] }
    let best = newest.filter { entry.wants($0.key, $0.value) }.max { $0.key < $1.key }
    guard let best else { return nil }
    entries[waiter]?.show(best.key, best.value)
    return .preview(best.value.image, best.value.preview)
  }

  /// - Returns: The waiter's wish, for release outside a lock: an entity may end with it.
  mutating func remove(_ waiter: WaiterID) -> PreviewWish? {
    entries.removeValue(forKey: waiter)?.wish
  }

  /// Forgets the previews that there are, and the time of the fetch.
  ///
  /// - Returns: Their pictures, for release outside a lock.
  mutating func forget() -> [CachedImage] {
    let images = drawn.values.flatMap { $0.newest.values.map(\.image) }
    drawn = drawn.mapValues { Drawn(count: $0.count) }
    elapsed = .zero
    return images
  }

  /// Takes the previews of one stage, and tells to whom each is shown.
  ///
  /// - Parameter part: The part of the picture's pixels that they come from.
  mutating func show(
    _ previews: [DrawnPreview], of stage: PreviewStage, part: Double?
  ) -> [(waiter: WaiterID, progress: ImageProgress)] {
    var drawn = drawn[stage.kind] ?? Drawn()
    // Another worker may have drawn a later stage meanwhile.
    guard stage.byteCount > drawn.byteCount else { return [] }
    drawn.count += 1
    drawn.byteCount = stage.byteCount
    drawn.part = max(drawn.part, part ?? 0)
    let kind: ImagePreview.Kind =
      switch stage.kind {
      case .frame: .frame(drawn.count)
      case .embedded: .embedded
      case .rows: .rows(part ?? 0)
      }
    for one in previews {
      drawn.newest[one.key] = Newest(
        image: one.image, preview: ImagePreview(kind: kind, isSettled: one.isSettled),
        byteCount: stage.byteCount, part: part)
    }
    self.drawn[stage.kind] = drawn
    return offer()
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
