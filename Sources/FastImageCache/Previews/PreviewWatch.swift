import Foundation
import ImageCodecs
import ImageSources
import Locking

/// Watches the bytes of one arrival for stages, and has those drawn that are worth it.
///
/// Invariants:
/// 1. The bytes come from one thread at a time, which takes `scan` out while it works: decoders' own code
///    runs under no lock.
/// 2. `stages` are the newest ones of each kind that were not drawn. They are drawn when more bytes come, unless the
///    image itself is near, and if the workers allow it then. A stage whose drawing was given up is one of them again:
///    the subscriber that left may come back. After the fetch nobody looks at them.
final class PreviewWatch: Sendable {
  private struct State {
    var scan: PreviewScan? = PreviewScan()
    /// The first moment at which the bytes were watched, and how many there were.
    var first: (byteCount: Int, time: ContinuousClock.Instant)?
    var stages: [PreviewStage.Kind: PreviewStage] = [:]
    /// When the last drawing began.
    var begun: ContinuousClock.Instant?
  }

  /// A rest that comes so soon is waited for.
  static let shortWait = Duration.milliseconds(200)

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
    let found = scan.scan(bytes, of: arrival, by: painter.renderer.decoding.decoders)
    let (now, byteCount) = (painter.clock.now, arrival.byteCount)
    let first = state.withLock { state in
      for stage in found { state.stages[stage.kind] = stage }
      let first = state.first ?? (byteCount, now)
      state.first = first
      return first
    }
    let isDueSoon = Self.isDueSoon(arrival.terms.byteCount, byteCount, at: now, since: first)
    let hasBegun = draw(arrival, &scan, now, isDueSoon: isDueSoon)
    // Else a better one than those that there are is on its way to whoever's delay has passed.
    if !hasBegun { painter.offer() }
  }

  /// Whether the rest is due in ``shortWait`` at the rate so far: the image itself is as near as a preview then.
  ///
  /// - Parameters:
  ///   - total: The announced number of all bytes.
  ///   - byteCount: How many bytes are there now.
  ///   - first: The first look at the bytes.
  static func isDueSoon(
    _ total: Int?, _ byteCount: Int, at now: ContinuousClock.Instant,
    since first: (byteCount: Int, time: ContinuousClock.Instant)
  ) -> Bool {
    guard let total else { return false }
    let (arrived, rest) = (byteCount - first.byteCount, total - byteCount)
    if rest <= 0 { return true }
    // Before anything has come in some time there is no rate.
    guard arrived > 0, now > first.time else { return false }
    return (now - first.time) / Double(arrived) * Double(rest) <= shortWait
  }

  /// - Returns: Whether a drawing has begun.
  private func draw(
    _ arrival: DownloadBuffer, _ scan: inout PreviewScan, _ now: ContinuousClock.Instant,
    isDueSoon: Bool
  ) -> Bool {
    // Bytes that an earlier load left were waited for long enough.
    let elapsed =
      arrival.earlierByteCount > 0 ? .seconds(Int64.max) : now - painter.fetchStart
    let wants = painter.want(state.withLock { $0.stages }, after: elapsed)
    // Nothing worse follows the best kind.
    guard !isDueSoon, let kind = wants.keys.max(), let want = wants[kind],
      painter.mayPaint(at: now),
      state.withLock({ $0.begun.map { $0 + Self.pause <= now } ?? true })
    else { return false }
    guard let stage = state.withLock({ $0.stages.removeValue(forKey: kind) }),
      let opened = scan.open(arrival, upTo: stage)
    else { return false }
    let hasBegun = painter.paint(stage, of: arrival, opened, for: want) { [self] in
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
