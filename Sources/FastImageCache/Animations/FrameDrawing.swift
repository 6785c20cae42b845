import ImageCodecs
import ImageSources
import LoadQueue
import Pixels
import TableStore

/// Draws and stores the frames behind the first ones that a load has drawn together, in jobs between which other
/// requests of the load may come.
///
/// Invariants:
/// 1. A job draws for some milliseconds, and then stores. Only frames whose reader keeps much are drawn in one job,
///    since memory is declared for the length of a job.
/// 2. The frames that are stored stay leased until the end, so that none of them makes room for another.
/// 3. An animation of which a frame cannot be stored is streamed from then on.
struct FrameDrawing: Sendable {
  /// An image whose first frame was drawn.
  struct Item: Sendable {
    let request: ImageRequest
    let first: CachedImage
    let motion: SlotMotion
    /// The frames behind the first, as far as they are stored.
    var rest: [CachedImage] = []
    var isStreamed: Bool

    init(_ request: ImageRequest, first: CachedImage, motion: SlotMotion) {
      (self.request, self.first, self.motion) = (request, first, motion)
      if case .stored = motion { isStreamed = false } else { isStreamed = true }
    }
  }

  /// What a reader may keep between two jobs.
  private static let sharedByteCount = 32 << 20

  private(set) var items: [Item]
  let cursor: FrameCursor

  init(_ items: [Item], _ frames: SourceFrames, limits: DecodingLimits) {
    self.items = items
    let isWide = items.contains { $0.request.format.colorSpace == .displayP3 }
    cursor = FrameCursor(
      frames, limits: limits, colorSpace: isWide ? .displayP3 : .sRGB,
      settings: items.first?.request.conditions.decoderSettings ?? [:])
  }

  /// Frames that a job has drawn for one item, in their order.
  private typealias Drawn = [(item: Int, slot: SealedSlot?)]

  /// Draws and stores some frames.
  ///
  /// - Parameter mayStore: Asked in the table's turn.
  /// - Returns: Whether there are no more.
  mutating func drawSome(
    _ renderer: ImageRenderer, _ urgency: Urgency, mayStore: @escaping @Sendable () -> Bool
  ) async throws(ImageCacheError) -> Bool {
    guard items.contains(where: { !$0.isStreamed }) else { return true }
    do throws(JobError<ImageDecodingError>) {
      // Stored behind the step that computes, whose thread may be nicer and would hold the table off its core.
      items = try await renderer.workers.run(
        urgency: urgency, byteCount: cursor.frames.workingByteCount
      ) { [self] isCancelled throws(ImageDecodingError) in
        try draw(renderer.drawing, isCancelled)
      } then: { [self] drawn in
        store(drawn, renderer.drawing.recorder, mayStore)
      }
    } catch {
      throw ImageCacheError(error) { ImageCacheError($0, url: items.first?.request.url) }
    }
    return items.allSatisfy(\.isStreamed) || cursor.index == cursor.frames.timeline.frameCount
  }

  private func draw(
    _ drawing: RequestDrawing, _ isCancelled: @escaping @Sendable () -> Bool
  ) throws(ImageDecodingError) -> Drawn {
    var drawn: Drawn = []
    let start = ThreadTime.now
    let isWhole = cursor.frames.keptByteCount > Self.sharedByteCount
    while isWhole || ThreadTime.now - start < .milliseconds(8) {
      let begun = ContinuousClock.now
      guard let (index, bitmap) = try cursor.next(unless: isCancelled) else { break }
      drawing.recorder.readFrame(in: ContinuousClock.now - begun)
      if index == 0 { continue }
      for (number, item) in items.enumerated() where !item.isStreamed {
        drawn.append((number, item.slot(index, of: bitmap, drawing, isCancelled)))
      }
    }
    return drawn
  }

  private func store(
    _ drawn: Drawn, _ recorder: CacheRecorder, _ mayStore: @Sendable () -> Bool
  ) -> [Item] {
    var items = items
    for (number, slot) in drawn where !items[number].isStreamed {
      if let slot, let frame = items[number].store(slot, recorder, mayStore) {
        items[number].rest.append(frame)
      } else {
        (items[number].isStreamed, items[number].rest) = (true, [])
      }
    }
    return items
  }
}

extension FrameDrawing.Item {
  /// Draws a frame; `nil` if that fails.
  fileprivate func slot(
    _ index: Int, of bitmap: Bitmap, _ drawing: RequestDrawing, _ isCancelled: @Sendable () -> Bool
  ) -> SealedSlot? {
    guard case .stored(let motion) = motion else { return nil }
    let key = motion.key(of: index, of: request.key.entity)
    return try? drawing.draw(request, bitmap, of: bitmap.size, frame: key, isCancelled).get()
  }

  /// Stores a frame; `nil` if it is not stored.
  fileprivate func store(
    _ slot: SealedSlot, _ recorder: CacheRecorder, _ mayStore: @Sendable () -> Bool
  ) -> CachedImage? {
    guard case .stored(let motion) = motion else { return nil }
    return request.table.storeFrame(slot, of: request.key.image, motion, recorder, if: mayStore)
  }

  /// The animation, once all frames are drawn; `nil` for one that is streamed.
  var animation: CachedAnimation? {
    guard case .stored(let motion) = motion, !isStreamed else { return nil }
    return CachedAnimation(frames: StoredFrames(motion.timeline, first: first, rest: rest))
  }
}
