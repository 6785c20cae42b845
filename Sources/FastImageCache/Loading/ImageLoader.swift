import Foundation

/// Runs one flight, straight down: entity, the steps of its plan, decode, hook, draw, store, answer, then
/// the rest of the family.
///
///     plan ──> read what is kept (local gate) ──> ask the source (the gate of its need) ──> decode …
///
/// The loader has no state. Its flight remembers, and asks the registry, which the loader does not know.
struct ImageLoader: Sendable {
  let planner: LoadPlanner
  let maker: PictureMaker
  let recorder: CacheRecorder
  let encodedByteLimit: Int
  let partials: PartialShelf
  let refresher = Refresher()

  /// Serves a flight until no request of it is left.
  func run(_ flight: Flight) async {
    defer { flight.permit.close() }
    var keeping: Task<Void, Never>?
    do { try await lead(flight, &keeping) } catch {
      flight.fail(with: ImageCacheError(flightEndedBy: error, url: flight.url))
    }
    // The load holds its permit as long as its bytes are in memory.
    await keeping?.value
  }

  private func lead(
    _ flight: Flight, _ keeping: inout Task<Void, Never>?
  ) async throws {
    var requests = try await askEntities(flight.take(), flight)
    guard let url = flight.url else {
      return try await refuse(requests, flight) {
        .noSourceURL(entity: $0.key.entity, format: $0.key.format)
      }
    }
    while requests.isEmpty {
      if flight.retire() { return }
      requests = try await askEntities(flight.take(), flight)
    }
    let course = await beginCourse(of: flight, for: requests[0], at: url)
    defer { keeping = course.held.write }
    while var result = try await fetch(url, for: &requests, on: course, flight) {
      if try await settle(&requests, with: &result, on: course, flight) { return }
    }
    try await refuse(requests, flight) {
      course.isLocked
        ? .originalsLocked : .notCached(entity: $0.key.entity, format: $0.key.format)
    }
  }

  /// Serves the requests with the picture that a step brought; false if its bytes turned out to be none,
  /// and the plan goes on.
  private func settle(
    _ requests: inout [ImageRequest], with result: inout StepResult, on course: LoadCourse,
    _ flight: Flight
  ) async throws -> Bool {
    flight.progress.measure { [isStale = result.isStale] in $0.source.isStale = isStale }
    flight.progress.report(.arrived(result.byteOrigin))
    do {
      // Requests that joined while the bytes arrived share the decode that comes now.
      requests += try await askEntities(flight.take(), flight, course)
      try await serveAll(&requests, from: &result, on: course, flight)
      return true
    } catch {
      guard await rejects(result, for: error, on: course) else { throw error }
      return false
    }
  }

  /// Serves the requests, those that join, and their families.
  ///
  /// - Parameter requests: Left as they were when the error is thrown, some of them perhaps answered.
  private func serveAll(
    _ requests: inout [ImageRequest], from result: inout StepResult, on course: LoadCourse,
    _ flight: Flight
  ) async throws {
    let replaces = result.origin == .changed
    var family: [ImageRequest] = []
    var redrawn: Set<ImageKey> = []
    repeat {
      if flight.policy != .normal, course.tablesAnswer {
        requests.removeAll { answerFromTable($0, flight) }
      }
      family += requests.flatMap { $0.siblings() }
      if replaces {
        // The pictures of the same source in other formats show what it was before.
        family += requests.flatMap { $0.outdated() }
        let asked = Set(requests.map(\.key))
        family.removeAll { asked.contains($0.key) || redrawn.contains($0.key) }
        redrawn.formUnion(asked)
      }
      let keep = keeping(result, on: course, flight)
      try await draw(
        requests, besides: family, from: &result.picture, flight, willAnswer: keep)
      if let first = requests.first { finish(first, result, on: course, flight) }
      redrawn.formUnion(
        try await serveFamily(&family, from: &result.picture, replacing: replaces, flight))
      requests = try await askEntities(flight.take(), flight, course)
    } while try await !isOver(flight, requests, family)
  }

  /// Does what can wait until the first requests are answered: has a stale original revalidated.
  private func finish(
    _ request: ImageRequest, _ result: StepResult, on course: LoadCourse, _ flight: Flight
  ) {
    // Whole and decoded: nothing is left to be continued.
    if result.picture.decoded != nil { course.download?.finish() }
    if course.plan.revalidatesBehind, !course.hasAsked, let name = course.name {
      refresher.revalidate(request, name, of: course.owner.entity, shownBy: flight)
    }
  }

  /// Whether nothing is left to do; the flight has left the board then.
  private func isOver(
    _ flight: Flight, _ requests: [ImageRequest], _ family: [ImageRequest] = []
  ) async throws -> Bool {
    guard requests.isEmpty else { return false }
    try Task.checkCancellation()
    // A request that was served by its entity, or by the table, has interrupted the family only.
    return family.isEmpty && flight.retire()
  }

  /// Serves the requests whose picture is in the table, or comes from the entity, and returns the
  /// others; none if no waiter is left, since all may leave while an entity works on its answer.
  func askEntities(
    _ requests: [ImageRequest], _ flight: Flight, _ course: LoadCourse? = nil
  ) async throws -> [ImageRequest] {
    let tablesAnswer = course?.tablesAnswer ?? (flight.policy == .normal)
    var served: Set<ImageKey> = []
    for request in requests {
      // Its family's load stored the picture a moment before the request joined.
      if tablesAnswer, answerFromTable(request, flight) {
        served.insert(request.key)
        continue
      }
      // No source will be asked.
      if flight.url == nil { request.whenLoading?() }
      do {
        guard let answer = try await askEntity(of: request, flight) else {
          if course?.hasAsked == true, let url = flight.url {
            try flight.checkRing(.source(url), for: request)
          }
          continue
        }
        try await serve(request, with: answer, flight)
      } catch {
        try Task.checkCancellation()
        fail(request, with: error, flight)
      }
      served.insert(request.key)
    }
    return flight.isWanted ? requests.without(served) : []
  }

  private func fail(_ request: ImageRequest, with error: any Error, _ flight: Flight) {
    let failure = ImageCacheError(flightEndedBy: error, url: nil)
    flight.finish(request.key, isFetched: false, with: .failure(failure))
  }

  private func serve(
    _ request: ImageRequest, with answer: ImageSourceContent, _ flight: Flight
  ) async throws {
    request.whenLoading?()
    var picture = try maker.picture(from: answer, url: nil)
    try await draw([request], besides: [], from: &picture, flight)
  }

  /// The entity's own picture.
  ///
  /// - Throws: The entity's error, and ``CircularPictureError``.
  private func askEntity(
    of request: ImageRequest, _ flight: Flight
  ) async throws -> ImageSourceContent? {
    let subject = ReentrancyContext.Subject.picture(request.key)
    try flight.checkRing(subject, for: request)
    flight.progress.begin()
    let answer = try await flight.ask(subject, of: CollectionOfOne(request)) {
      try await request.entity.picture(for: request.format)
    }
    if answer != nil { flight.progress.end(\.fetch) }
    return answer
  }

  /// Ends a flight whose pictures are not to be had.
  private func refuse(
    _ requests: [ImageRequest], _ flight: Flight, with error: (ImageRequest) -> ImageCacheError
  ) async throws {
    var requests = requests
    repeat {
      for request in requests {
        flight.finish(request.key, isFetched: false, with: .failure(error(request)))
      }
      requests = try await askEntities(flight.take(), flight)
    } while try await !isOver(flight, requests)
  }

  /// Draws the pictures that somebody waits for, stores them and answers.
  ///
  /// - Parameters:
  ///   - family: Pictures that will be drawn from the same decode afterwards.
  ///   - willAnswer: Called on the worker, with the decode, before the first answer.
  private func draw(
    _ requests: [ImageRequest], besides family: [ImageRequest], from picture: inout SourcePicture,
    _ flight: Flight, willAnswer: (@Sendable (SourcePicture) -> Void)? = nil
  ) async throws {
    guard !requests.isEmpty else { return }
    let isFetched = picture.url != nil
    _ = try await maker.draw(
      requests, besides: family, from: &picture, urgency: flight.urgency,
      progress: flight.progress, willDeliver: willAnswer
    ) { request, drawn in
      let (outcome, isKept) = keep(drawn, for: request, flight)
      flight.finish(
        request.key, isFetched: isFetched, with: consume outcome,
        AnswerFacts(side: isFetched ? .load : .entity, isStored: isKept))
    }
  }

  /// Draws and stores the rest of the family, one by one, until somebody waits for something.
  ///
  /// - Parameter replacing: Whether pictures are drawn that their tables have.
  /// - Returns: The keys of the pictures that were drawn.
  private func serveFamily(
    _ family: inout [ImageRequest], from picture: inout SourcePicture, replacing: Bool,
    _ flight: Flight
  ) async throws -> [ImageKey] {
    var drawn: [ImageKey] = []
    while let sibling = family.first, !flight.hasRequests {
      family.removeFirst()
      let isWanted = replacing ? !drawn.contains(sibling.key) : !sibling.isStored
      guard isWanted, picture.mayBeStored(for: sibling.key.entity) else { continue }
      _ = try await maker.draw(
        [sibling], from: &picture, urgency: flight.urgency, progress: flight.progress
      ) { request, drawn in
        _ = keep(drawn, for: request, flight)
      }
      drawn.append(sibling.key)
    }
    return drawn
  }

  /// Stores a drawn picture, on the worker's thread; the picture is private where that fails.
  private func keep(
    _ drawn: DrawnResult, for request: ImageRequest, _ flight: Flight
  ) -> (outcome: InFlightRegistry.Outcome, isStored: Bool) {
    var isKept = false
    let outcome = drawn.map { drawn in
      let slot = drawn.slot
      guard drawn.mayBeStored else {
        recorder.refused(request.key)
        return request.table.privateImage(slot)
      }
      if let refusal = request.table.refusal(of: drawn.metadata, for: request.key) {
        // A later hit would lack the metadata.
        recorder.notStored(request.key, reason: refusal.description)
        return request.table.privateImage(slot)
      }
      let start = flight.progress.clock.now
      defer { flight.progress.measure(\.store, since: start) }
      let stored = try? request.table.store(
        slot, for: request.key, recorder,
        StoreOrder(
          begun: flight.id.number, request: request.generation,
          outdatesOthers: flight.policy != .normal),
        oldest: { flight.registry.oldest }, if: { flight.isUnderWay })
      isKept = stored?.isStored == true
      // The recorder has the reason.
      return stored?.image ?? request.table.privateImage(slot)
    }
    return (outcome, isKept)
  }
}

extension ImageCacheError {
  /// The answer for the waiters of a flight that an error has ended.
  ///
  /// Never a cancellation: a cancelled flight has left the board, and an entity that throws a
  /// cancellation of its own has failed its waiters.
  fileprivate init(flightEndedBy error: any Error, url: URL?) {
    switch error {
    case ImageCacheError.cancelled: self = .sourceFailed(url, underlying: error)
    case let error as ImageCacheError: self = error
    default: self = .sourceFailed(url, underlying: error)
    }
  }
}

extension [ImageRequest] {
  /// The requests for other pictures; most often all, and then nothing is allocated.
  func without(_ keys: Set<ImageKey>) -> [ImageRequest] {
    keys.isEmpty ? self : filter { !keys.contains($0.key) }
  }
}
