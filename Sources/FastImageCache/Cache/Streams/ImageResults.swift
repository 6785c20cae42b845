/// One of many images that were asked for together, or the reason why there is none.
public struct ImageResult<Entity: Sendable>: Sendable {
  /// The entity as it was given.
  public let entity: Entity

  /// The entity's place among those given, counted from 0.
  public let index: Int

  /// A lease on the image, or the error, which is never ``ImageCacheError/cancelled``.
  public let result: Result<CachedImage, ImageCacheError>

  /// The number of images and errors that have arrived, this one included.
  public let completedCount: Int

  /// The number of entities that were given.
  public let totalCount: Int
}

/// The images of many entities in the order of their arrival; made by
/// ``ImageCache/images(for:format:options:)-(Sequence,_,_)``.
///
/// Each iteration asks anew, begins with its first `next`, and ends with its iterator.
public struct ImageResults<Entity: Sendable>: AsyncSequence, Sendable {
  public typealias Element = ImageResult<Entity>
  public typealias Failure = Never

  let cache: ImageCache
  let format: ImageFormat
  let options: LoadOptions
  let entities: [Entity]
  /// An `any ImageEntity` does not conform to the protocol, so `Entity` is not bound to it.
  let subject: @Sendable (Entity) -> any ImageEntity

  /// Begins an iteration; no image is asked for yet.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: ArrivalReader(of: self)) }

  /// One iteration, whose copies share its place. Its loads end with the last copy.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let reader: ArrivalReader<Entity>

    /// The next image or error, on the caller's actor; `nil` after the last one, and from a
    /// cancellation of the calling task on.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async -> ImageResult<Entity>? {
      await reader.next()
    }
  }
}

/// The order in which many entities are looked up, loaded and read; pure.
///
/// Invariants:
/// 1. Each entity is in one of five states: ahead, missing, loading, unread, read; an entity that is
///    found goes from ahead to read.
/// 2. At most `width` entities are loading or unread.
/// 3. Loads begin in the order of the entities.
struct ArrivalWindow {
  private let width: Int
  private var ahead: Range<Int>
  /// All entities that were not found; the first `begunCount` of them have begun.
  private var missing: [Int] = []
  private var begunCount = 0
  /// Entities that are loading or unread.
  private(set) var openCount = 0

  /// - Parameters:
  ///   - count: The number of the entities.
  ///   - width: At least one.
  init(count: Int, width: Int) {
    self.width = width
    ahead = 0..<count
  }

  /// The next entity to look up; `nil` when each was looked up.
  mutating func lookUp() -> Int? { ahead.popFirst() }

  /// The entity that was looked up last is not in the table.
  mutating func miss(_ index: Int) { missing.append(index) }

  /// The next entity whose load begins; `nil` when there is none, or no room.
  mutating func begin() -> Int? {
    guard openCount < width, begunCount < missing.count else { return nil }
    defer { (openCount, begunCount) = (openCount + 1, begunCount + 1) }
    return missing[begunCount]
  }

  /// An answer was read.
  mutating func read() { openCount -= 1 }

  /// Whether no answer can come any more.
  var isDone: Bool { ahead.isEmpty && openCount == 0 && begunCount == missing.count }
}

/// Asks for many images and hands them out, on its reader's actor.
///
/// An unread answer holds a lease. So only the reader begins loads, one for each answer that it reads:
/// a slow reader leases a part of the table, never all of it.
///
/// All loads end with the reader: when it is cancelled, and when it is released.
final class ArrivalReader<Entity: Sendable> {
  private let arrivals: ImageResults<Entity>
  private let round: ImageRound
  private var window: ArrivalWindow
  private var completedCount = 0
  private var isOver = false

  init(of arrivals: ImageResults<Entity>) {
    self.arrivals = arrivals
    let cache = arrivals.cache
    // Wide enough to keep the limiters busy. Half of a small table stays free for everybody else.
    let room = cache.tables[arrivals.format]?.slotCount.map { max(1, $0 / 2) } ?? .max
    let width = min(cache.registry.resources.largestWidth, room)
    window = ArrivalWindow(count: arrivals.entities.count, width: width)
    round = ImageRound(in: cache.registry)
  }

  deinit { round.end() }

  func next() async -> ImageResult<Entity>? {
    if !isOver, !Task.isCancelled {
      if let answer = round.takeUnread() { return read(answer) }
      if let hit = nextHit() { return hit }
      if window.openCount > 0, let answer = await round.next() { return read(answer) }
    }
    isOver = true
    round.end()
    return nil
  }

  /// Looks entities up until one is found, and begins the loads of others as far as there is room.
  private func nextHit() -> ImageResult<Entity>? {
    while let index = window.lookUp() {
      let entity = arrivals.subject(arrivals.entities[index])
      if let image = arrivals.cache.cachedImage(
        for: entity, format: arrivals.format, arrivals.options)
      {
        return arrival(index, .success(image))
      }
      window.miss(index)
      beginLoads()
    }
    return nil
  }

  private func beginLoads() {
    while let index = window.begin() {
      let entity = arrivals.subject(arrivals.entities[index])
      do throws(ImageCacheError) {
        let request = try arrivals.cache.missedRequest(
          for: entity, format: arrivals.format, options: arrivals.options)
        round.begin(index, request, .current)
      } catch {
        round.answer(index, .failure(error))
      }
    }
  }

  private func read(_ answer: consuming ImageRound.Answer) -> ImageResult<Entity> {
    window.read()
    beginLoads()
    // Copies of the iterator may wait in other tasks of this actor.
    if window.isDone { round.end() }
    return arrival(answer.index, answer.outcome)
  }

  private func arrival(
    _ index: Int, _ result: consuming InFlightRegistry.Outcome
  ) -> ImageResult<Entity> {
    completedCount += 1
    return ImageResult(
      entity: arrivals.entities[index], index: index, result: result,
      completedCount: completedCount,
      totalCount: arrivals.entities.count)
  }
}
