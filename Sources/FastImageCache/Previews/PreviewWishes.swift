/// One waiter's wish for previews of its picture.
struct PreviewWish: Sendable {
  let request: ImageRequest
  let policy: PreviewPolicy
  /// The rest of the family: the picture is drawn from a decode that is large enough for it.
  let siblings: [ImageRequest]

  /// - Parameter request: Its entity is asked for the drawing and the family, and the tables for the latter.
  /// - Returns: `nil` for a request without a wish, and where a closure draws: it may do anything with a
  ///   picture, and expects the whole one.
  init?(_ request: ImageRequest) {
    guard let policy = request.options?.previews, policy.wantsFrames,
      case .recipe = request.entity.drawing(for: request.format).content
    else { return nil }
    (self.request, self.policy, siblings) = (request, policy, request.siblings())
  }
}

/// A preview of one picture.
struct DrawnPreview: Sendable {
  let key: ImageKey
  let image: CachedImage
  let isSettled: Bool
}

/// The waiters of a load that want previews, and the newest previews that there are; pure.
///
/// Invariants:
/// 1. A waiter is shown no more previews than its policy allows, and no picture's but its own.
/// 2. A preview belongs to the load: its number counts the load's previews, whoever was there to see them.
struct PreviewWishes {
  /// More formats of one load are not previewed at the same time.
  static let formatLimit = 2

  private struct Entry {
    let wish: PreviewWish
    var shownCount = 0

    var wantsMore: Bool { shownCount < wish.policy.limit }
  }

  private var entries: [WaiterID: Entry] = [:]
  private var newest: [ImageKey: (image: CachedImage, preview: ImagePreview)] = [:]
  /// How many stages of the load have been drawn.
  private(set) var drawnCount = 0

  /// Whether a preview would be shown to anyone.
  var wantMore: Bool { entries.values.contains { $0.wantsMore } }

  /// The wishes of the waiters that want more, each picture once, and of these the first two.
  var first: [PreviewWish] {
    var wishes: [PreviewWish] = []
    for (_, entry) in entries.sorted(by: { $0.key.number < $1.key.number }) where entry.wantsMore {
      guard wishes.count < Self.formatLimit else { break }
      if !wishes.contains(where: { $0.request.key == entry.wish.request.key }) {
        wishes.append(entry.wish)
      }
    }
    return wishes
  }

  /// The shortest delay and the largest limit of all who want more.
  var policy: PreviewPolicy {
    let policies = entries.values.filter(\.wantsMore).map(\.wish.policy)
    guard var widest = policies.first else { return .none }
    for policy in policies.dropFirst() {
      widest.delay = min(widest.delay, policy.delay)
      widest.limit = max(widest.limit, policy.limit)
    }
    return widest
  }

  /// Adds a waiter.
  ///
  /// - Returns: The newest preview of its picture, which it is shown at once.
  mutating func add(_ wish: PreviewWish, for waiter: WaiterID) -> ImageProgress? {
    var entry = Entry(wish: wish)
    defer { entries[waiter] = entry }
    guard let (image, preview) = newest[wish.request.key] else { return nil }
    entry.shownCount = 1
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
    defer { newest = [:] }
    return newest.values.map(\.image)
  }

  /// Takes the previews of one stage, and tells to whom each is shown.
  ///
  /// - Parameter elapsed: The time since the fetch began.
  mutating func show(
    _ drawn: [DrawnPreview], elapsed: Duration
  ) -> [(waiter: WaiterID, progress: ImageProgress)] {
    drawnCount += 1
    for one in drawn {
      let preview = ImagePreview(kind: .frame(drawnCount), isSettled: one.isSettled)
      newest[one.key] = (one.image, preview)
    }
    var shown: [(waiter: WaiterID, progress: ImageProgress)] = []
    for (waiter, entry) in entries where entry.wantsMore && entry.wish.policy.delay <= elapsed {
      let key = entry.wish.request.key
      guard drawn.contains(where: { $0.key == key }), let (image, preview) = newest[key] else {
        continue
      }
      entries[waiter]?.shownCount += 1
      shown.append((waiter, .preview(image, preview)))
    }
    return shown
  }
}
