import Foundation
import ImageCodecs
import ImageSources
import LoadQueue
import Pixels

/// Makes images of a source's bytes or pixels: decode, hook, drawings, and what becomes of those, on one worker.
struct ImageRenderer: Sendable {
  let decoding: ImageDecoding
  let hook: StoreHook?
  let drawing: RequestDrawing
  let workers: WorkerPool

  /// Has a decoder look for frames behind the first, on a worker, once, if a request's format keeps them.
  func lookForFrames(
    in image: inout SourceImage, for requests: [ImageRequest], _ urgency: Urgency
  ) async throws(ImageCacheError) {
    guard image.motion == nil, requests.contains(where: \.wantsFrames) else { return }
    do throws(JobError<ImageCacheError>) {
      image.motion = try await workers.run(urgency: urgency) {
        [image] _ throws(ImageCacheError) in decoding.motion(of: image)
      }
    } catch {
      throw ImageCacheError(error) { $0 }
    }
  }

  /// Draws each request, after a decode if the one that is there does not suffice for all.
  ///
  /// Where one decode for all would be too large, each request gets its own; its result is an error if
  /// that is too large as well.
  ///
  /// Invariant: all requests are drawn before the results are taken. A load that has answered one
  /// request is not cancelled when the others leave, and would draw their images for nobody.
  ///
  /// - Parameters:
  ///   - family: Requests that will be drawn later; the decode is large enough for them, if it can be.
  ///   - finish: Takes the decode, if there is one, and the results in the order of the requests, on a thread of the
  ///     worker, and may block that.
  /// - Throws: ``ImageCacheError`` when there is nothing to draw from, or when the calling task was
  ///   cancelled.
  func draw<Value: Sendable>(
    _ requests: [ImageRequest], besides family: [ImageRequest] = [],
    from image: inout SourceImage, urgency: Urgency, progress: LoadProgress? = nil,
    then finish: @escaping @Sendable (SourceImage, [DrawnResult]) -> Value
  ) async throws(ImageCacheError) -> Value {
    let plans = plans(for: requests, besides: family, of: image)
    return try await work(
      on: &image, plans, urgency, progress,
      { image, isCancelled throws(ImageCacheError) in
        try draw(plans, from: &image, progress, isCancelled)
      }, then: finish)
  }

  private func draw(
    _ plans: [DecodePlan], from image: inout SourceImage, _ progress: LoadProgress?,
    _ isCancelled: @escaping @Sendable () -> Bool
  ) throws(ImageCacheError) -> [DrawnResult] {
    var results: [DrawnResult] = []
    for plan in plans {
      do throws(ImageCacheError) {
        results += try draw(plan, from: &image, progress, isCancelled)
      } catch {
        let isTooLarge = if case .imageTooLarge = error { true } else { false }
        if isCancelled() || plans.count == 1 && !isTooLarge { throw error }
        if plan.requests.count > 1 {
          // The decoder takes more than it has told.
          let apart = plan.requests.map { self.plan([$0], of: image) }
          results += try draw(apart, from: &image, progress, isCancelled)
        } else {
          // The others have their images, or their own errors.
          results.append(.failure(error))
        }
      }
    }
    return results
  }

  private func draw(
    _ plan: DecodePlan, from image: inout SourceImage, _ progress: LoadProgress?,
    _ isCancelled: @escaping @Sendable () -> Bool
  ) throws(ImageCacheError) -> [DrawnResult] {
    if let refusal = plan.refusal { return plan.requests.map { _ in .failure(refusal) } }
    let bitmap = try decoding.decode(&image, plan, progress, isCancelled)
    try hook?.ask(about: &image, bitmap, plan, isCancelled)
    progress?.report(.drawing)
    let start = ThreadTime.now
    let results = plan.requests.map { drawing.draw($0, from: image, bitmap, isCancelled) }
    let drawn = ThreadTime.now - start
    progress?.measureOnWorker { $0.draw += drawn }
    return results
  }

  /// Decodes for the formats of an entity that has no id yet, and has the hook look at the image.
  func name(
    by hook: StoreHook, _ image: inout SourceImage, for request: ImageRequest,
    _ urgency: Urgency
  ) async throws(ImageCacheError) -> (id: ImageID?, answer: HookAnswer) {
    let plan = plans(for: [request], besides: request.family(), of: image)[0]
    if let refusal = plan.refusal { throw refusal }
    return try await work(on: &image, [plan], urgency, nil) {
      image, isCancelled throws(ImageCacheError) in
      let bitmap = try decoding.decode(&image, plan, nil, isCancelled)
      return try hook.name(image, bitmap, plan, isCancelled)
    } then: {
      $1
    }
  }

  /// One decode for all; if that is too large, one without the family, and else one for each request. Requests for
  /// stills have one of their own beside those that want frames.
  private func plans(
    for requests: [ImageRequest], besides family: [ImageRequest], of image: SourceImage
  ) -> [DecodePlan] {
    if image.frames(for: requests + family) != nil {
      let stills = requests.filter { !$0.wantsFrames }
      let moving = requests.filter(\.wantsFrames)
      if stills.isEmpty || moving.isEmpty {
        let siblings = family.filter { $0.wantsFrames == stills.isEmpty }
        if siblings.count < family.count {
          return plans(for: requests, besides: siblings, of: image)
        }
      } else {
        return [moving, stills].flatMap { plans(for: $0, besides: [], of: image) }
      }
    }
    let shared = plan(requests, besides: family, of: image)
    if shared.refusal == nil { return [shared] }
    if !family.isEmpty { return plans(for: requests, besides: [], of: image) }
    return requests.count == 1 ? [shared] : requests.map { plan([$0], of: image) }
  }

  private func plan(
    _ requests: [ImageRequest], besides family: [ImageRequest] = [], of image: SourceImage
  ) -> DecodePlan {
    decoding.plan(requests, besides: family, of: image, isWhole: hook != nil)
  }

  /// Works with an image on a worker that has the memory for plans, one after the other.
  private func work<Work: Sendable, Value: Sendable>(
    on image: inout SourceImage, _ plans: [DecodePlan], _ urgency: Urgency,
    _ progress: LoadProgress?,
    _ body:
      @escaping @Sendable (inout SourceImage, @escaping @Sendable () -> Bool)
      throws(ImageCacheError) -> Work,
    then finish: @escaping @Sendable (SourceImage, Work) -> Value
  ) async throws(ImageCacheError) -> Value {
    let byteCounts = plans.filter { $0.refusal == nil }.map {
      hook?.byteCount(of: $0, image, within: workers.byteBudget) ?? $0.byteCount
    }
    let queued = progress?.clock.now
    do throws(JobError<ImageCacheError>) {
      let (worked, value) = try await workers.run(
        urgency: urgency, byteCount: byteCounts.max() ?? 0
      ) { [image] isCancelled throws(ImageCacheError) in
        // From here on the process keeps memory that it could give back.
        MemoryPressureWatch.shared.start()
        if let progress, let queued {
          let waited = progress.clock.now - queued
          progress.measureOnWorker { $0.wait += waited }
        }
        var image = image
        let work = try body(&image, isCancelled)
        return (image, work)
      } then: { (image: SourceImage, work: Work) in
        (image, finish(image, work))
      }
      image = worked
      return value
    } catch {
      throw ImageCacheError(error, url: image.url) { $0 }
    }
  }
}

extension ImageCacheError {
  /// Why a job of a worker has no result. Only jobs that draw declare memory, and so can be refused.
  init<Failure>(
    _ error: JobError<Failure>, url: URL? = nil, _ failure: (Failure) -> ImageCacheError
  ) {
    self =
      switch error {
      case .cancelled: .cancelled
      case .refused(let refusal): .imageTooLarge(url, "\(refusal)")
      case .failed(let error): failure(error)
      }
  }
}
