import ImageCodecs
import LoadQueue
import Locking
import Pixels

/// The frames of an animation that no table keeps, decoded ahead of whoever plays it, a few at a time.
///
/// Invariants:
/// 1. `ring` has at most ``aheadCount`` + 2 frames: those from the last one asked for on, and the one before it.
/// 2. One job at most works, and while a frame ahead is missing one works, unless a frame could not be decoded: the
///    animation is broken then.
final class StreamedFrames: AnimationFrames {
  private struct State {
    var ring: [Int: CachedImage] = [:]
    var wanted = 0
    var isWorking = false
    var isBroken = false
  }

  /// Frames that are decoded ahead.
  static let aheadCount = 4

  let first: CachedImage
  private let request: ImageRequest
  private let cursor: FrameCursor
  private let drawing: RequestDrawing
  private let workers: WorkerPool
  private let state = Lock(State())

  var timeline: AnimationTimeline { cursor.frames.timeline }
  var isStreamed: Bool { true }
  var isBroken: Bool { state.withLock { $0.isBroken } }
  var nonce: UInt64 { cursor.frames.nonce }

  init(
    _ item: FrameDrawing.Item, _ frames: SourceFrames, _ renderer: ImageRenderer
  ) {
    first = item.first
    // Not the load's own: that has the answer, which holds these frames.
    request = ImageRequest(
      entity: item.request.entity, table: item.request.table, tables: item.request.tables)
    cursor = FrameCursor(
      frames, limits: renderer.decoding.limits, colorSpace: item.request.format.colorSpace,
      settings: item.request.conditions.decoderSettings)
    (drawing, workers) = (renderer.drawing, renderer.workers)
  }

  func frame(at index: Int) -> (image: CachedImage, index: Int) {
    let (found, begins) = state.withLock { state in
      state.wanted = index
      let begins = !state.isWorking && !state.isBroken && missing(in: state) != nil
      if begins { state.isWorking = true }
      var shown = index
      while shown > 0, state.ring[shown] == nil { shown -= 1 }
      return ((image: state.ring[shown] ?? first, index: shown), begins)
    }
    if begins { work() }
    return found
  }

  /// The first frame ahead that is not there, but for the first of all, which always is.
  private func missing(in state: State) -> Int? {
    (0..<min(Self.aheadCount, timeline.frameCount)).lazy
      .map { (state.wanted + $0) % self.timeline.frameCount }
      .first { $0 > 0 && state.ring[$0] == nil }
  }

  /// Decodes one frame after the other, each in a job of its own, until those ahead are there or this object is gone.
  private func work() {
    Task(name: "frames ahead") { [weak self, workers, cursor] in
      while let wanted = self?.nextWanted() {
        let work = { @Sendable [weak self] (isCancelled: @escaping @Sendable () -> Bool) in
          self?.read(wanted, isCancelled)
        }
        _ = try? await workers.run(
          priority: .medium, byteCount: cursor.frames.workingByteCount, work)
      }
    }
  }

  private func nextWanted() -> Int? {
    state.withLock { state in
      let next = state.isBroken ? nil : missing(in: state)
      if next == nil { state.isWorking = false }
      return next
    }
  }

  /// Reads up to a frame, and keeps it.
  private func read(_ wanted: Int, _ isCancelled: @escaping @Sendable () -> Bool) {
    do {
      if cursor.index > wanted { cursor.rewind() }
      while let (index, bitmap) = try cursor.next(unless: isCancelled) {
        guard index == wanted else { continue }
        let image = request.table.privateImage(
          try drawing.draw(request, bitmap, of: bitmap.size, isPreview: true, isCancelled).get())
        state.withLock { state in
          state.ring[index] = image
          let kept = (-1...Self.aheadCount).map { offset in
            (state.wanted + offset + timeline.frameCount) % timeline.frameCount
          }
          state.ring = state.ring.filter { kept.contains($0.key) }
        }
        return
      }
    } catch {
      state.withLock { $0.isBroken = true }
    }
  }
}
