import Foundation
import ImageCodecs
import ImageSources
import Locking

/// Watches the bytes of one arrival for stages, and has those drawn that are worth it.
///
/// Invariants:
/// 1. The bytes come from one thread at a time, which takes `scan` out while it works: decoders' own code
///    runs under no lock.
/// 2. `stages` are the newest ones of each kind that were not drawn. They are drawn when more bytes come, if the
///    plan and the workers allow it then. A stage whose drawing was given up is one of them again: the subscriber that
///    left may come back. After the fetch nobody looks at them.
final class PreviewWatch: Sendable {
  private struct State {
    var scan: PreviewScan? = PreviewScan()
    var plan: PreviewPlan?
    var stages: [PreviewStage.Kind: PreviewStage] = [:]
    /// When the last drawing began.
    var begun: ContinuousClock.Instant?
  }

  /// A load draws at most five previews in a second.
  private static let pause = Duration.milliseconds(200)

  private let painter: PreviewPainter
  private let state = Lock(State())

  init(_ painter: PreviewPainter) { self.painter = painter }

  /// Takes note of bytes that were appended.
  ///
  /// Cost: a relaxed load of an atomic number where nobody wants previews.
  func note(_ bytes: Data, of arrival: DownloadBuffer) {
    guard painter.isWanted, var scan = state.withLock({ $0.scan.take() }) else { return }
    defer { state.withLock { $0.scan = scan } }
    let found = scan.scan(bytes, of: arrival, by: painter.maker.decoding.decoders)
    let (now, byteCount) = (painter.clock.now, arrival.byteCount)
    let plan = state.withLock { state in
      for stage in found { state.stages[stage.kind] = stage }
      let plan =
        state.plan
        ?? PreviewPlan(
          total: arrival.terms.byteCount, isResumed: arrival.earlierByteCount > 0,
          fetchStart: painter.fetchStart, byteCount: byteCount, now: now)
      state.plan = plan
      return plan
    }
    let hasBegun = draw(arrival, &scan, plan, now, byteCount)
    // Else a better one than those that there are is on its way to whoever's delay has passed.
    if !hasBegun { painter.offer() }
  }

  /// - Returns: Whether a drawing has begun.
  private func draw(
    _ arrival: DownloadBuffer, _ scan: inout PreviewScan, _ plan: PreviewPlan,
    _ now: ContinuousClock.Instant, _ byteCount: Int
  ) -> Bool {
    let wants = painter.want(state.withLock { $0.stages }, after: plan.elapsed(at: now))
    guard let kind = plan.kind(of: wants.keys, byteCount: byteCount, now: now),
      let want = wants[kind], painter.mayPaint(at: now),
      state.withLock({ $0.begun.map { $0 + Self.pause <= now } ?? true })
    else { return false }
    guard let stage = state.withLock({ $0.stages.removeValue(forKey: kind) }),
      let image = scan.image(of: arrival, upTo: stage)
    else { return false }
    let hasBegun = painter.paint(stage, of: arrival, image, for: want) { [self] in
      giveBack(stage)
    }
    if hasBegun { state.withLock { $0.begun = now } } else { giveBack(stage) }
    return hasBegun
  }

  /// Has a stage drawn later, unless there is a newer one by now.
  private func giveBack(_ stage: PreviewStage) {
    state.withLock { state in
      let newest = state.stages[stage.kind]?.byteCount ?? 0
      if newest < stage.byteCount { state.stages[stage.kind] = stage }
    }
  }
}
