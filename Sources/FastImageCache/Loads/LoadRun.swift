import Foundation
import ImageSources
import Pixels

/// Runs a load, from its first request to its last answer, straight down:
///
///     entity ──> kept original ──> source ──> decode ──> hook ──> draw ──> store ──> answer ──> frames ──> family
///
/// It has no state but the variables of its functions: its ``Load`` remembers, and asks the registry.
struct LoadRun: Sendable {
  let load: Load
  let steps: LoadSteps

  /// Serves the load until no request of it is left.
  func run() async {
    defer { load.permit.close() }
    var original: OriginalAccess?
    do { try await serve(keeping: &original) } catch {
      load.fail(with: ImageCacheError(loadEndedBy: error, url: load.url))
    }
    // The load holds its permit as long as its bytes are in memory.
    await original?.write?.value
  }

  /// Serves the requests of one address after the other; as a rule all have one.
  ///
  /// - Parameter original: The load's part in the store of originals, for its write to be awaited.
  private func serve(keeping original: inout OriginalAccess?) async throws {
    var requests = try await askEntities(load.take())
    repeat {
      while requests.isEmpty {
        if load.retire() { return }
        requests = try await askEntities(load.take())
      }
      var others: [ImageRequest] = []
      if let url = requests[0].url {
        await original?.write?.value
        original = await steps.planner.beginOriginal(of: requests[0], for: load)
        try await serve(requests, at: url, &others, original)
      } else {
        try await refuse(requests, at: nil, &others) {
          .noSourceURL(entity: $0.key.entity, format: $0.key.format)
        }
      }
      if !others.isEmpty { load.noteMoved() }
      // Requests that were given up meanwhile ask for nothing.
      requests = others.filter { load.isWanted(for: $0.key) }
    } while !requests.isEmpty || load.isUnderWay
  }

  /// Serves the requests of one address.
  ///
  /// - Parameter others: Requests that joined with another address, for which this one is of no use.
  private func serve(
    _ requests: [ImageRequest], at url: URL, _ others: inout [ImageRequest],
    _ original: OriginalAccess?
  ) async throws {
    var requests = requests
    let plan = steps.planner.plan(load, for: requests[0], at: url)

    var known: KnownOriginal?
    if let original, let use = plan.original {
      let isAnswered = try await answerFromKept(
        use, &requests, at: url, &others, plan, original, &known)
      if isAnswered { return }
    }

    // All bytes are asked for anew where those of earlier loads turn out to be no image.
    for isAnew in [false, true] where plan.asks {
      // Before the load waits: the load that asks may hold up all others.
      try load.checkCycle(.source(url), for: requests[0])
      // Most requests that are given up wait here: what asking needs is made behind it.
      let start = load.progress.now
      try await load.permit.acquire(plan.need)
      load.progress.measure(\.wait, since: start)
      let asked = try await ask(
        &requests, at: url, &others, plan, original, &known, isAnew: isAnew)
      if asked == .answered { return }
      if asked == .outOfReach { break }
    }

    let isLocked = original?.isLocked == true
    try await refuse(requests, at: url, &others) {
      isLocked
        ? .originalsLocked : .notCached(entity: $0.key.entity, format: $0.key.format)
    }
  }

  /// Serves the requests with the kept original, where it answers without its server.
  ///
  /// - Parameter known: The original that the source may call unchanged.
  // Inlined, it would have its variables in the frame of each load that waits for its permit.
  @inline(never)
  private func answerFromKept(
    _ use: LoadPlan.OriginalUse, _ requests: inout [ImageRequest], at url: URL,
    _ others: inout [ImageRequest], _ plan: LoadPlan, _ original: OriginalAccess,
    _ known: inout KnownOriginal?
  ) async throws -> Bool {
    guard let kept = try await read(original) else { return false }
    if use == .read, kept.isOfVersion,
      kept.terms.mayAnswerRequest(requests[0].conditions.headers)
    {
      for request in requests { request.whenLoading?() }
      guard let image = try await original.image(of: kept, steps.renderer.decoding, url: url)
      else { return false }
      var fetched = FetchedImage(image, of: kept, isStale: plan.showsStale)
      return try await answer(&requests, at: url, &others, with: &fetched, plan, original)
    }
    let mayBeConfirmed = await original.mayBeConfirmed(
      kept, steps.renderer.decoding, url: url, headers: requests[0].conditions.headers)
    if mayBeConfirmed { known = kept }
    return false
  }

  private enum Asked {
    case answered
    /// The bytes of earlier loads were no image.
    case again
    case outOfReach
  }

  /// Asks the source, and serves the requests with its answer.
  @inline(never)  // As `answerFromKept`.
  private func ask(
    _ requests: inout [ImageRequest], at url: URL, _ others: inout [ImageRequest],
    _ plan: LoadPlan, _ original: OriginalAccess?, _ known: inout KnownOriginal?, isAnew: Bool
  ) async throws -> Asked {
    let download = await steps.source.begin(requests, load, original, isAnew: isAnew)
    defer { download.end() }
    var fetched: FetchedImage
    do {
      fetched = try await steps.source.image(
        at: url, for: requests, load, plan, known: known, original, into: download)
    } catch is OutOfReach {
      return .outOfReach
    } catch let error as ImageCacheError where error.refusesAddress {
      download.end()
      try await refuse(requests, at: url, &others) { _ in error }
      return .answered
    } catch let error as ImageCacheError where error.blamesBytes {
      download.finish()
      guard download.known != nil, !isAnew else { throw error }
      return .again
    }
    let isAnswered = try await answer(
      &requests, at: url, &others, with: &fetched, plan, original, download, mayAskAgain: !isAnew)
    if isAnswered { return .answered }
    known = nil
    return .again
  }

  /// The kept original, under a permit of the local limiter.
  private func read(_ original: OriginalAccess) async throws -> KnownOriginal? {
    let start = load.progress.now
    try await load.permit.acquire(.local)
    let permitted = load.progress.now
    load.progress.measure(\.wait, since: start)
    defer { load.progress.measure(\.fetch, since: permitted) }
    return await original.read(urgency: load.urgency)
  }

  /// Decodes an image and serves the requests with it, those that join, and their families.
  ///
  /// - Parameters:
  ///   - requests: Left as they are when an error is thrown, some of them perhaps answered.
  ///   - others: Requests of other addresses for which the image is too small.
  ///   - download: The source's bytes; `nil` for a kept original.
  /// - Returns: False if bytes of earlier loads turned out to be no image.
  private func answer(
    _ requests: inout [ImageRequest], at url: URL, _ others: inout [ImageRequest],
    with fetched: inout FetchedImage, _ plan: LoadPlan, _ original: OriginalAccess?,
    _ download: Download? = nil, mayAskAgain: Bool = true
  ) async throws -> Bool {
    load.progress.measure { [isStale = fetched.isStale] in $0.source.isStale = isStale }
    load.progress.report(.arrived(fetched.byteOrigin))
    do {
      // Requests that joined while the bytes arrived share the decode that comes now.
      requests += try await askEntities(
        load.take(), unchanged: fetched.isUnchanged ? original : nil)
      try await drawAll(&requests, at: url, &others, from: &fetched, plan, original, download)
      return true
    } catch {
      // Whole bytes are worth keeping only where nobody waited for their end.
      if !Task.isCancelled { download?.finish() }
      guard (error as? ImageCacheError)?.blamesBytes == true,
        fetched.origin == .kept || fetched.isContinued
      else { throw error }
      if let body = fetched.keptBody { await original?.drop(body) }
      guard mayAskAgain else { throw error }
      return false
    }
  }

  private func drawAll(
    _ requests: inout [ImageRequest], at url: URL, _ others: inout [ImageRequest],
    from fetched: inout FetchedImage, _ plan: LoadPlan, _ original: OriginalAccess?,
    _ download: Download?
  ) async throws {
    var family = LoadFamily(replaces: fetched.origin == .changed)
    var animations: [FrameDrawing] = []
    repeat {
      if load.policy != .useCache, fetched.isUnchanged {
        requests.removeAll { original?.isYounger(than: $0) != true && answerFromTable($0) }
      }
      others += takeOut(&requests, at: url, coveredBy: fetched.image.fullSize)
      // Answered with the others, by the drawing that is under way.
      requests.removeAll { $0.key.isAnimation && animations.contains($0.key.image) }
      family.add(
        requests.filter { $0.url == url && load.settleStorage(for: $0) == .all }, of: load,
        isKept: fetched.byteOrigin == .original)
      let frames = try await draw(
        requests, besides: family.requests, from: &fetched.image, first: keeping(fetched, original))
      if let frames { animations.append(frames) }
      if case .refused(let error)? = fetched.image.motion { await drop(fetched, error, original) }
      if let first = requests.first {
        // Whole and decoded: nothing is left to be continued.
        if fetched.image.decoded != nil { download?.finish() }
        if plan.revalidatesInBackground, fetched.byteOrigin == .original, let original,
          load.storage > .none
        {
          steps.refresher.revalidate(first, original, shownBy: load)
        }
      }
      // One by one, until somebody waits for something.
      while !load.hasRequests {
        if !animations.isEmpty {
          let result = try await drawSome(of: &animations[0])
          if case .failed(let error) = result { await drop(fetched, error, original) }
          if case .goesOn = result { continue }
          animations.removeFirst()
        } else if let sibling = family.next(from: fetched.image) {
          let frames = try await draw([sibling], from: &fetched.image)
          if let frames { animations.append(frames) }
        } else {
          break
        }
      }
      requests = try await askEntities(load.take(), unchanged: fetched.isUnchanged ? original : nil)
    } while try await !isOver(requests, others, family.isEmpty && animations.isEmpty)
  }

  /// Makes the closure that hands the fetched original to the store, before the first answer.
  private func keeping(
    _ fetched: FetchedImage, _ original: OriginalAccess?
  ) -> (@Sendable (SourceImage) -> Void)? {
    guard let original, fetched.original != nil || fetched.origin == .changed else { return nil }
    // Without bytes, only the former one goes.
    let terms = fetched.original?.terms ?? ResponseMetadata(received: Date())
    let bytes = (bytes: fetched.original?.bytes, terms: terms)
    return { [load, download = fetched.download] image in
      // Where every decode was refused as too large, nothing proves that the bytes are an image.
      if image.decoded == nil || load.storage == .none { return }
      original.keep(
        bytes, of: image, from: download, isPlaceholder: load.isPlaceholder,
        for: load.originalLifetime
      ) {
        // Of the entity that named the original: requests of others share the load.
        load.keepsOriginal(of: original.owner.entity)
      }
    }
  }

  /// Draws images, stores them and answers the requests that wait for them.
  ///
  /// - Parameters:
  ///   - family: Images that will be drawn from the same decode afterwards.
  ///   - keep: Called on the worker before the first answer.
  /// - Returns: The frames that are left to be drawn of those that move.
  func draw(
    _ requests: [ImageRequest], besides family: [ImageRequest] = [],
    from image: inout SourceImage, first keep: (@Sendable (SourceImage) -> Void)? = nil
  ) async throws -> FrameDrawing? {
    guard !requests.isEmpty else { return nil }
    try await steps.renderer.lookForFrames(
      in: &image, for: requests + family, load.urgency)
    // Those that want frames come first, as the renderer plans them.
    let distinct = requests.withoutAnimationsOfImages
    let requests = distinct.filter(\.wantsFrames) + distinct.filter { !$0.wantsFrames }
    let isFetched = image.url != nil
    let items = try await steps.renderer.draw(
      requests, besides: family, from: &image, urgency: load.urgency, progress: load.progress
    ) { image, results in
      // Before the original is kept: a request that joins later and wants it gets a load of its own.
      let storages = requests.map(load.settleStorage)
      keep?(image)
      var items: [FrameDrawing.Item] = []
      for ((request, storage), drawn) in zip(zip(requests, storages), results) {
        let motion = (try? drawn.get())?.motion ?? .still
        let (outcome, isStored) = steps.store.store(drawn, for: request, of: load, as: storage)
        let facts = AnswerFacts(side: isFetched ? .load : .entity, isStored: isStored)
        if request.wantsFrames {
          let item = answer(
            request, with: outcome, isStored ? motion : motion.unkept, image, facts)
          if let item { items.append(item) }
        }
        load.finish(request.key.image, isFetched: isFetched, with: consume outcome, facts)
      }
      return items
    }
    guard !items.isEmpty, case .frames(let frames) = image.motion else { return nil }
    return FrameDrawing(items, frames, limits: steps.renderer.decoding.limits)
  }

  /// Answers the requests of one address, whose images are not to be had, and those that have joined them.
  ///
  /// The load serves a request that joins after an answer anew: the source may have the image by now.
  private func refuse(
    _ requests: [ImageRequest], at url: URL?, _ others: inout [ImageRequest],
    with error: (ImageRequest) -> ImageCacheError
  ) async throws {
    func answer(_ requests: [ImageRequest]) {
      var requests = requests
      others += takeOut(&requests, at: url)
      for request in requests {
        if let other = load.takeAlternate(for: request.key) {
          others.append(other)
        } else {
          load.finish(request.key, isFetched: false, with: .failure(error(request)))
        }
      }
    }
    let joined = load.take()
    // Of a request that was given up and made again the new one counts, perhaps with another address.
    answer(requests.filter { request in !joined.contains { $0.key == request.key } })
    answer(try await askEntities(joined))
  }

  /// Takes out the requests of other addresses, but for those that an image has enough pixels for.
  private func takeOut(
    _ requests: inout [ImageRequest], at url: URL?, coveredBy size: PixelSize? = nil
  ) -> [ImageRequest] {
    func stays(_ request: ImageRequest) -> Bool {
      guard let url, let other = request.url, other != url,
        steps.planner.address(of: other) != steps.planner.address(of: url)
      else { return true }
      return size.map(request.isCovered) ?? false
    }
    if requests.allSatisfy(stays) { return [] }
    defer { requests.removeAll { !stays($0) } }
    return requests.filter { !stays($0) }
  }

  /// Whether nothing is left to do at an address; the load has left the registry then, unless others are left.
  private func isOver(
    _ requests: [ImageRequest], _ others: [ImageRequest], _ familyIsDrawn: Bool
  ) async throws -> Bool {
    guard requests.isEmpty else { return false }
    try Task.checkCancellation()
    // A request that was served by its entity, or by the table, has interrupted the family only.
    return familyIsDrawn && (!others.isEmpty || load.retire())
  }
}

/// Requests that need no source: their images are in a table, or their entities have images of their own.
extension LoadRun {
  /// Serves the requests whose image is in the table, or comes from the entity.
  ///
  /// - Parameter original: What the source has called unchanged, and with it the images in tables that were drawn from it.
  /// - Returns: The other requests; none if no request is left to be answered, since all may leave while an entity
  ///   works on its answer.
  func askEntities(
    _ requests: [ImageRequest], unchanged original: OriginalAccess? = nil
  ) async throws -> [ImageRequest] {
    // Where the source has to be asked, not before it has called the table's images unchanged.
    let tablesAnswer = load.policy == .useCache || original != nil
    var served: Set<ImageKey> = []
    // They are drawn when all of these requests are answered.
    var animations: [FrameDrawing] = []
    for request in requests.imagesFirst {
      // Answered along with its image.
      if request.key.isAnimation,
        animations.contains(request.key.image) || !load.isWanted(for: request.key)
      {
        served.insert(request.key)
        continue
      }
      // Its family's load stored the image a moment before the request joined.
      if tablesAnswer, original?.isYounger(than: request) != true, answerFromTable(request) {
        served.insert(request.key)
        continue
      }
      // No source will be asked.
      if load.url == nil { request.whenLoading?() }
      do {
        guard let answer = try await askEntity(of: request) else { continue }
        if let frames = try await draw(request, from: answer) { animations.append(frames) }
      } catch {
        try Task.checkCancellation()
        let failure = ImageCacheError(loadEndedBy: error, url: nil)
        load.finish(request.key, isFetched: false, with: .failure(failure))
      }
      served.insert(request.key)
    }
    for frames in animations { try await drawAll(of: frames) }
    return load.isWanted ? requests.without(served) : []
  }

  @inline(never)  // As `answerFromKept`.
  private func draw(
    _ request: ImageRequest, from answer: ImageSourceResponse
  ) async throws -> FrameDrawing? {
    request.whenLoading?()
    var image = try steps.renderer.decoding.image(from: answer, url: nil)
    return try await draw([request], from: &image)
  }

  @inline(never)  // As `answerFromKept`.
  private func drawAll(of frames: FrameDrawing) async throws {
    var frames = frames
    while case .goesOn = try await drawSome(of: &frames) {}
  }

  /// The entity's own image.
  ///
  /// - Throws: The entity's error, and that of ``Load/ask(_:for:_:)``.
  private func askEntity(of request: ImageRequest) async throws -> ImageSourceResponse? {
    let start = load.progress.now
    let answer = try await load.ask(.image(request.key), for: request) {
      try await request.entity.providedImage(for: request.format)
    }
    if answer != nil { load.progress.measure(\.fetch, since: start) }
    return answer
  }

  /// Answers a request with the image that its table has; false if the table has none.
  func answerFromTable(_ request: ImageRequest) -> Bool {
    guard let image = request.storedImage() else { return false }
    steps.recorder.hitLate()
    var animation: CachedAnimation?
    if request.key.isAnimation {
      animation = steps.animation(of: request, first: image)
      if animation == nil { return false }
    }
    // Under another policy the source has called it unchanged before.
    let side = load.policy == .useCache ? AnswerSide.table : .load
    load.finish(
      request.key, isFetched: false, with: .success(consume image),
      AnswerFacts(side: side, isStored: true), animation: animation)
    return true
  }
}

extension [ImageRequest] {
  /// The requests for other images; most often all, and then nothing is allocated.
  func without(_ keys: Set<ImageKey>) -> [ImageRequest] {
    keys.isEmpty ? self : filter { !keys.contains($0.key) }
  }
}

/// The steps that the loads of a cache share; without state of a load.
final class LoadSteps: Sendable {
  let planner: LoadPlanner
  let source: SourceFetch
  let renderer: ImageRenderer
  let store: ImageStoring
  let recorder: CacheRecorder
  let playing: PlayingAnimations
  let refresher = Refresher()

  init(
    planner: LoadPlanner, renderer: ImageRenderer, recorder: CacheRecorder, encodedByteLimit: Int,
    partials: PartialDownloads, playing: PlayingAnimations
  ) {
    (self.planner, self.renderer, self.recorder) = (planner, renderer, recorder)
    self.playing = playing
    store = ImageStoring(recorder: recorder)
    source = SourceFetch(
      source: planner.source, namespace: planner.namespace, renderer: renderer, recorder: recorder,
      encodedByteLimit: encodedByteLimit, partials: partials)
  }
}

extension ImageCacheError {
  /// The answer for the requests of a load that an error has ended.
  ///
  /// Never a cancellation: a cancelled load has left the registry, and an entity that throws a
  /// cancellation of its own has failed its requests.
  init(loadEndedBy error: any Error, url: URL?) {
    switch error {
    case ImageCacheError.cancelled: self = .sourceFailed(url, underlying: error)
    case let error as ImageCacheError: self = error
    default: self = .sourceFailed(url, underlying: error)
    }
  }

  /// Whether a server has refused the address, which another one may lead to as well.
  fileprivate var refusesAddress: Bool {
    guard case .sourceFailed(_, let error) = self else { return false }
    return [401, 403].contains(error.refusingStatus)
  }
}
