import Foundation
import ImageCodecs
import ImageSources
import LoadQueue
import Pixels

/// Draws previews of one fetch, until it begins anew, as idle jobs of the worker pool, and shows them to those who
/// follow the load.
///
/// A preview is drawn by the entity's recipe into private memory. It enters no table, and it is no step of
/// the load: the load neither waits for it nor fails with it.
///
/// Invariants:
/// 1. Once the source has answered or begun anew, or nobody is left to be shown a preview, the idle job is cancelled,
///    and what it draws all the same is shown to nobody.
/// 2. Nothing in here refers to a source or a cache: whoever keeps a ``DownloadBuffer`` keeps this.
struct PreviewPainter: Sendable {
  let renderer: ImageRenderer
  let clock: any TimeoutClock
  let fetchStart: ContinuousClock.Instant
  private let progress: LoadProgress
  /// Tells this fetch from others of the load, and from what it was before it began anew.
  private var fetch: Int

  init(
    renderer: ImageRenderer, clock: any TimeoutClock, progress: LoadProgress, fetch: Int
  ) {
    (self.renderer, self.clock, self.progress, self.fetch) = (renderer, clock, progress, fetch)
    fetchStart = clock.now
  }

  /// Makes the painter of other bytes, with which the source begins anew. This painter's previews are shown to
  /// nobody any more.
  func makeNext() -> PreviewPainter {
    var next = self
    next.fetch = progress.restartFetch(fetch)
    return next
  }

  /// Whether anyone would be shown a preview.
  ///
  /// Cost: a relaxed load of an atomic number.
  var isWanted: Bool { progress.previewedFetch == fetch }

  /// What those who follow the load want of stages after some time.
  func want(
    _ stages: [PreviewStage.Kind: PreviewStage], after elapsed: Duration
  ) -> [PreviewStage.Kind: PreviewJob] {
    progress.want(stages, in: fetch, after: elapsed)
  }

  /// Shows the previews that there are to those whose delay has passed since.
  func offer() { progress.offer(in: fetch) }

  /// Whether previews have rested for long enough; the workers may be busy all the same.
  func mayPaint(at now: ContinuousClock.Instant) -> Bool {
    renderer.workers.mayBeginIdleJob(at: now)
  }

  /// Begins to draw previews at a stage, if the workers have nothing else to do.
  ///
  /// - Parameters:
  ///   - want: Its images are drawn, of one source. A preview of no more than its part is not shown.
  ///   - giveBack: Called on the worker where others needed it, or nobody was left to be shown a preview: the
  ///     stage is worth drawing later.
  /// - Returns: Whether it has begun.
  func paint(
    _ stage: PreviewStage, of arrival: DownloadBuffer, _ opened: PreviewScan.Opened,
    for want: PreviewJob, giveBack: @escaping @Sendable () -> Void
  ) -> Bool {
    // As large as for the image itself, or a settled preview would differ from it. Of other requests of the
    // load, and of those that join, nothing is known here: the image's decode may be larger for their sake.
    let plan = renderer.decoding.plan(
      want.wishes.flatMap { [$0.request] + $0.siblings }, besides: [],
      of: SourceImage(url: nil, content: .encoded(Data(), opened.decoder, opened.header)),
      isWhole: false)
    // The stage is spent: it would be refused again.
    if plan.refusal != nil { return true }
    // The bytes are copied twice: out of the arrival, and by a decoder that closes the file.
    let (byteCount, overflow) = plan.byteCount.addingReportingOverflow(2 * stage.byteCount)
    return renderer.workers.runWhenIdle(byteCount: overflow ? .max : byteCount, clock: clock) {
      isInterrupted -> Painting in
      // Stays set: somebody may come back after a decoder has seen it, and before the error is here.
      let cancellation = Cancellation()
      let isCancelled: @Sendable () -> Bool = {
        if isInterrupted() || !isWanted { cancellation.set() }
        return cancellation.isSet
      }
      do {
        guard let bytes = arrival.copy(0..<stage.byteCount) else {
          throw ImageDecodingError.truncated
        }
        var request = renderer.decoding.request(plan, isCancelled)
        // They agree in these.
        request.settings = want.wishes.first?.request.conditions.decoderSettings ?? [:]
        let decoded = try opened.decoder.decodePreview(bytes, at: stage, request)
        if let newPart = decoded.part, newPart <= want.part { return .failed }
        let bitmap = decoded.bitmap
        let isSettled = request.isSettled(bitmap, at: stage, of: opened.header.size)
        let drawn = try want.wishes.map { wish in
          let request = wish.request
          let slot = try renderer.drawing.draw(
            request, bitmap, of: opened.header.size, isPreview: true, isCancelled
          ).get()
          return DrawnPreview(
            key: request.key, image: request.table.privateImage(slot), isSettled: isSettled)
        }
        return .painted(drawn, part: decoded.part)
      } catch {
        // There is no preview then: the bytes prove themselves when all are there.
        return isCancelled() ? .interrupted : .failed
      }
    } then: { painting in
      switch painting {
      case .painted(let drawn, let part):
        if !progress.show(drawn, of: stage, part: part, in: fetch) { giveBack() }
      case .interrupted: giveBack()
      case .failed: break
      }
    }
  }

  /// What an idle job hands from its computing to its end.
  private enum Painting: Sendable {
    case painted([DrawnPreview], part: Double?)
    case interrupted
    /// The bytes make no image, or none that shows more than the one before.
    case failed
  }
}
