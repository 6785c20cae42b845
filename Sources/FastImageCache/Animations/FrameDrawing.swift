import ImageCodecs
import ImageSources
import LoadQueue
import Pixels
import TableStore

/// Draws and stores the frames behind the first ones that a load has drawn together, in jobs between which other
/// requests of the load may come.
///
/// Invariants:
/// 1. A job ends some milliseconds after it began. Only a reader that holds much memory is read to its end in one job,
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
    var rest: [CachedImage?] = []
    var isStreamed: Bool

    init(_ request: ImageRequest, first: CachedImage, motion: SlotMotion) {
      (self.request, self.first, self.motion) = (request, first, motion)
      if case .stored = motion { isStreamed = false } else { isStreamed = true }
    }
  }

  /// What a reader may hold between two jobs.
  private static let sharedByteCount = 8 << 20

  private(set) var items: [Item]
  let cursor: FrameCursor

  init(_ items: [Item], _ frames: SourceFrames, limits: DecodingLimits) {
    self.items = items
    let isWide = items.contains { $0.request.format.colorSpace == .displayP3 }
    cursor = FrameCursor(frames, limits: limits, colorSpace: isWide ? .displayP3 : .sRGB)
  }

  /// Draws and stores some frames.
  ///
  /// - Parameter mayStore: Asked in the table's turn.
  /// - Returns: Whether there are no more.
  mutating func drawSome(
    _ maker: PictureMaker, _ urgency: Urgency, mayStore: @escaping @Sendable () -> Bool
  ) async throws(ImageCacheError) -> Bool {
    guard items.contains(where: { !$0.isStreamed }) else { return true }
    let frames = cursor.frames
    do throws(JobError<ImageDecodingError>) {
      let (items, isOver) = try await maker.workers.run(
        urgency: urgency, byteCount: frames.workingByteCount
      ) { [self] isCancelled throws(ImageDecodingError) in
        try draw(maker.drawing, mayStore, isCancelled)
      }
      self.items = items
      return isOver
    } catch {
      switch error {
      case .cancelled: throw .cancelled
      case .refused(let refusal): throw .imageTooLarge(nil, "\(refusal)")
      case .failed(let failure): throw ImageCacheError(failure, url: items.first?.request.url)
      }
    }
  }

  private func draw(
    _ drawing: RequestDrawing, _ mayStore: @Sendable () -> Bool,
    _ isCancelled: @escaping @Sendable () -> Bool
  ) throws(ImageDecodingError) -> (items: [Item], isOver: Bool) {
    var items = items
    let start = ThreadTime.now
    while cursor.frames.workingByteCount > Self.sharedByteCount
      || ThreadTime.now - start < .milliseconds(8)
    {
      let begun = ContinuousClock.now
      guard let (index, bitmap) = try cursor.next(unless: isCancelled) else { return (items, true) }
      drawing.recorder.readFrame(in: ContinuousClock.now - begun)
      if index == 0 { continue }
      for number in items.indices where !items[number].isStreamed {
        let frame = items[number].frame(index, of: bitmap, drawing, mayStore, isCancelled)
        items[number].rest.append(frame)
        if frame == nil { (items[number].isStreamed, items[number].rest) = (true, []) }
      }
      if items.allSatisfy(\.isStreamed) { return (items, true) }
    }
    return (items, cursor.index == cursor.frames.timeline.frameCount)
  }
}

extension FrameDrawing.Item {
  /// Draws and stores a frame; `nil` if it is not stored.
  fileprivate func frame(
    _ index: Int, of bitmap: Bitmap, _ drawing: RequestDrawing, _ mayStore: @Sendable () -> Bool,
    _ isCancelled: @Sendable () -> Bool
  ) -> CachedImage? {
    guard case .stored(let motion) = motion else { return nil }
    let key = motion.key(of: index, of: request.key.entity)
    let drawn = drawing.draw(request, bitmap, of: bitmap.size, frame: key, isCancelled)
    guard let slot = try? drawn.get() else { return nil }
    return request.table.storeFrame(
      slot, of: request.key.image, motion, drawing.recorder, if: mayStore)
  }

  /// The animation, once all frames are drawn; `nil` for one that is streamed.
  var animation: CachedAnimation? {
    guard case .stored(let motion) = motion, !isStreamed else { return nil }
    return CachedAnimation(frames: StoredFrames(motion.timeline, first: first, rest: rest))
  }
}
