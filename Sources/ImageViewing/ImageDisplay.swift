/// Decides what one place on screen shows, and what it asks of the cache; pure.
///
/// One for each cell or view. The adapter of a toolkit reports what happens, and does the steps that it is
/// told, in order and before it reports anything else.
///
/// Invariants:
/// 1. A load's answer changes nothing unless it is of the newest turn. Each look begins a turn.
/// 2. While nobody sees the place, or nothing is wanted, it shows nothing and loads nothing. So it holds no
///    lease.
/// 3. A look comes before a placeholder. So what the cache has is shown without a flash of anything else.
/// 4. A load under way began after the last change of the cache, so that it brings no image from before.
/// 5. What is shown of an entity gives way to something better of it only: an image to an image, a
///    preview to a preview or an image.
struct ImageDisplay<Target: DisplayTarget>: Sendable {
  /// Tells a load from those before it.
  typealias Turn = Int

  enum Event: Sendable {
    /// The place is for this image from now on.
    case wanted(Target?)
    /// The place is for this image from now on, which somebody has loaded for it.
    case given(Target)
    case appeared
    case disappeared
    /// The cache was asked, and has the image or not.
    case looked(isThere: Bool)
    /// The image was there all the time, and had to be verified.
    case verified(Turn)
    /// Something came that stands in for the image until that is loaded.
    case previewed(Turn)
    case loaded(Turn)
    case failed(Turn)
    /// What failed may succeed now: the network is back.
    case recovered
    /// The cache may have another image: it was emptied, or somebody stored one by hand.
    case changed
  }

  enum Step: Hashable, Sendable {
    /// Ask the cache now, and report `looked`.
    case look
    case load(Turn)
    /// Give up the load under way.
    case cancel
    /// Show what the last look or load brought. A late image was loaded; it may fade in.
    case showImage(isLate: Bool)
    case showPreview
    case showPlaceholder
    case showFailure
    /// Show nothing, and release the image.
    case clear
  }

  enum Sight: Comparable, Sendable { case nothing, placeholder, failure, preview, image }

  private(set) var sight = Sight.nothing
  private(set) var isLoading = false
  private(set) var hasFailed = false
  private var target: Target?
  private var isVisible = false
  private(set) var turn: Turn = 0

  /// Whether a load is the one under way.
  func isLoading(_ turn: Turn) -> Bool { isLoading && turn == self.turn }

  mutating func handle(_ event: Event) -> [Step] {
    switch event {
    case .wanted(let new): return want(new)
    case .given(let new): return give(new)
    case .appeared:
      // Lists report it again for what is on screen.
      if isVisible { return [] }
      isVisible = true
      return look()
    case .disappeared:
      isVisible = false
      return leave()
    case .looked(let isThere): return found(isThere)
    case .previewed(turn) where isLoading && sight != .image:
      sight = .preview
      return [.showPreview]
    case .loaded(turn) where isLoading:
      (isLoading, sight) = (false, .image)
      return [.showImage(isLate: true)]
    case .verified(turn) where isLoading:
      (isLoading, sight) = (false, .image)
      return [.showImage(isLate: false)]
    case .failed(turn) where isLoading:
      (isLoading, hasFailed) = (false, true)
      if sight >= .preview { return [] }
      sight = .failure
      return [.showFailure]
    case .recovered: return hasFailed ? look() : []
    case .changed: return lookAnew()
    case .previewed, .loaded, .verified, .failed: return []
    }
  }

  private mutating func want(_ new: Target?) -> [Step] {
    // Lists set the same again all the time.
    guard new != target else { return [] }
    let isSamePlace = new.map { target?.isOfSameImage(as: $0) ?? false } ?? false
    target = new
    if new == nil { return leave() }
    // What is shown belongs to another image: the look decides what takes its place.
    if !isSamePlace, sight > .placeholder { sight = .failure }
    return lookAnew()
  }

  private mutating func give(_ new: Target) -> [Step] {
    let steps: [Step] = isLoading ? [.cancel] : []
    turn += 1
    (target, isLoading, hasFailed) = (new, false, false)
    guard isVisible else { return steps }
    sight = .image
    return steps + [.showImage(isLate: true)]
  }

  /// Looks instead of waiting for the load under way.
  private mutating func lookAnew() -> [Step] { (isLoading ? [.cancel] : []) + look() }

  private mutating func look() -> [Step] {
    guard target != nil, isVisible else { return [] }
    turn += 1
    (isLoading, hasFailed) = (false, false)
    return [.look]
  }

  private mutating func found(_ isThere: Bool) -> [Step] {
    if isThere {
      sight = .image
      return [.showImage(isLate: false)]
    }
    isLoading = true
    if sight == .placeholder || sight >= .preview { return [.load(turn)] }
    sight = .placeholder
    // The placeholder first: a load may answer on this very call.
    return [.showPlaceholder, .load(turn)]
  }

  private mutating func leave() -> [Step] {
    var steps: [Step] = isLoading ? [.cancel] : []
    if sight != .nothing { steps.append(.clear) }
    (isLoading, hasFailed, sight) = (false, false, .nothing)
    return steps
  }
}

/// What a place is to show.
protocol DisplayTarget: Hashable, Sendable {
  /// Whether both are versions of one entity's image, so that one may stay until the other comes.
  func isOfSameImage(as other: Self) -> Bool
}
