import Foundation

/// Runs one flight, straight down: entity, gate, source, decode, hook, draw, store, answer, then the rest
/// of the family.
///
/// The loader has no state. Its flight remembers, and asks the registry, which the loader does not know.
struct ImageLoader: Sendable {
  let source: any ImageSource
  let maker: PictureMaker
  let recorder: CacheRecorder
  let encodedByteLimit: Int
  let hook: StoreHook?

  /// Serves a flight until no request of it is left.
  func run(_ flight: Flight) async {
    defer { flight.permit.close() }
    do {
      var requests = try await askEntities(flight.take(), flight)
      guard let url = flight.url else {
        repeat {
          refuse(requests, flight)
          requests = try await askEntities(flight.take(), flight)
        } while try await !isOver(flight, requests)
        return
      }
      while requests.isEmpty {
        if flight.retire() { return }
        requests = try await askEntities(flight.take(), flight)
      }
      try await flight.permit.pass(source.need(for: url))
      for request in requests { request.whenLoading?() }
      var picture = try await fetch(url, for: requests, flight)
      // Requests that joined while the bytes arrived share the decode that comes now.
      requests += try await askEntities(flight.take(), flight)
      var family: [ImageRequest] = []
      repeat {
        family += requests.flatMap { $0.siblings() }
        try await serve(requests, besides: family, from: &picture, flight)
        try await serveFamily(&family, from: &picture, flight)
        requests = try await askEntities(flight.take(), flight)
      } while try await !isOver(flight, requests)
    } catch {
      flight.fail(with: ImageCacheError(flightEndedBy: error, url: flight.url))
    }
  }

  /// Whether nothing is left to do; the flight has left the board then.
  private func isOver(
    _ flight: Flight, _ requests: [ImageRequest]
  ) async throws -> Bool {
    guard requests.isEmpty else { return false }
    try Task.checkCancellation()
    return flight.retire()
  }

  /// Serves the requests whose picture is in the table, or comes from the entity, and returns the
  /// others; none if no waiter is left, since all may leave while an entity works on its answer.
  private func askEntities(
    _ requests: [ImageRequest], _ flight: Flight
  ) async throws -> [ImageRequest] {
    var others: [ImageRequest] = []
    for request in requests {
      // Its family's load stored the picture a moment before the request joined.
      if let image = request.table.cachedImage(for: request.key) {
        recorder.hitLate()
        flight.finish(request.key, isFetched: false, with: .success(consume image))
        continue
      }
      // No source will be asked.
      if flight.url == nil { request.whenLoading?() }
      do {
        guard let content = try await askEntity(of: request, flight) else {
          if let url = flight.url { try flight.checkRing(.source(url), for: request) }
          others.append(request)
          continue
        }
        request.whenLoading?()
        var picture = try maker.picture(from: content, url: nil)
        try await serve([request], besides: [], from: &picture, flight)
      } catch {
        try Task.checkCancellation()
        let failure = ImageCacheError(flightEndedBy: error, url: nil)
        flight.finish(request.key, isFetched: false, with: .failure(failure))
      }
    }
    return flight.isWanted ? others : []
  }

  /// The entity's own picture.
  ///
  /// - Throws: The entity's error, and ``CircularPictureError``.
  private func askEntity(
    of request: ImageRequest, _ flight: Flight
  ) async throws -> ImageSourceContent? {
    let subject = ReentrancyContext.Subject.picture(request.key)
    try flight.checkRing(subject, for: request)
    if hook != nil { try flight.checkRing(.willStore(request.key.entity), for: request) }
    return try await flight.ask(subject, of: [request]) {
      try await request.entity.picture(for: request.format)
    }
  }

  private func refuse(
    _ requests: [ImageRequest], _ flight: Flight
  ) {
    for request in requests {
      let error = ImageCacheError.noSourceURL(
        entity: request.key.entity, format: request.key.format)
      flight.finish(request.key, isFetched: false, with: .failure(error))
    }
  }

  private func fetch(
    _ url: URL, for requests: [ImageRequest], _ flight: Flight
  ) async throws -> SourcePicture {
    let start = ContinuousClock.now
    let request = ImageSourceRequest(
      url: url, urgency: flight.urgency, byteCountLimit: encodedByteLimit, permit: flight.permit,
      firstEntity: requests.first?.key.entity)
    let content: ImageSourceContent
    do {
      content = try await flight.ask(.source(url), of: requests) {
        // Not the flight: a source may keep the closure, and the flight leads to the source.
        try await source.load(request) { [progress = flight.progress] step in
          progress.report(ImageProgress(step))
        }
      }
    } catch {
      throw ImageCacheError.sourceFailed(url, underlying: CircularPictureError(in: error) ?? error)
    }
    let picture = try maker.picture(from: content, url: url)
    recorder.fetched(url, byteCount: picture.encodedByteCount, in: ContinuousClock.now - start)
    return picture
  }

  /// Draws the pictures that somebody waits for, stores them and answers.
  ///
  /// - Parameter family: Pictures that will be drawn from the same decode afterwards.
  private func serve(
    _ requests: [ImageRequest], besides family: [ImageRequest], from picture: inout SourcePicture,
    _ flight: Flight
  ) async throws {
    guard !requests.isEmpty else { return }
    guard let hook else {
      return try await draw(requests, besides: family, from: &picture, flight)
    }
    var others: [ImageRequest] = []
    for request in requests {
      if var answer = picture.answers.removeValue(forKey: request.key) {
        try await draw([request], besides: [], from: &answer, flight)
      } else {
        others.append(request)
      }
    }
    for var batch in try await ask(hook, for: others, besides: family, from: &picture, flight) {
      try await draw(batch.requests, besides: [], from: &batch.picture, flight)
    }
  }

  private func draw(
    _ requests: [ImageRequest], besides family: [ImageRequest], from picture: inout SourcePicture,
    _ flight: Flight
  ) async throws {
    let (isFetched, metadata, isStored) = (picture.url != nil, picture.metadata, picture.isStored)
    _ = try await maker.draw(
      requests, besides: family, from: &picture, urgency: flight.urgency,
      report: flight.progress.report
    ) { request, drawn in
      flight.finish(
        request.key, isFetched: isFetched,
        with: keep(drawn, metadata, isStored, for: request, flight))
    }
  }

  /// Draws and stores the rest of the family, one by one, until somebody waits for something.
  private func serveFamily(
    _ family: inout [ImageRequest], from picture: inout SourcePicture, _ flight: Flight
  ) async throws {
    while let sibling = family.first, !flight.hasRequests {
      family.removeFirst()
      let isThere = sibling.table.contains(sibling.key)
      if hook != nil {
        guard var answer = picture.answers.removeValue(forKey: sibling.key), !isThere else {
          continue
        }
        try await drawSibling(sibling, from: &answer, flight)
      } else if !isThere {
        try await drawSibling(sibling, from: &picture, flight)
      }
    }
  }

  private func drawSibling(
    _ sibling: ImageRequest, from picture: inout SourcePicture, _ flight: Flight
  ) async throws {
    let metadata = picture.metadata
    _ = try await maker.draw(
      [sibling], from: &picture, urgency: flight.urgency, report: flight.progress.report
    ) { request, drawn in
      _ = keep(drawn, metadata, true, for: request, flight)
    }
  }

  /// Stores a drawn picture, on the worker's thread; the picture is private where that fails.
  private func keep(
    _ drawn: DrawnResult, _ metadata: Data, _ isStored: Bool, for request: ImageRequest,
    _ flight: Flight
  ) -> InFlightRegistry.Outcome {
    drawn.map { slot in
      guard isStored else {
        recorder.refused(request.key)
        return request.table.privateImage(slot)
      }
      if let refusal = request.table.refusal(of: metadata, for: request.key) {
        // A later hit would lack the metadata.
        recorder.notStored(request.key, reason: refusal.description)
        return request.table.privateImage(slot)
      }
      let stored = try? request.table.store(slot, for: request.key, recorder) {
        flight.storesResult(request.key)
      }
      // The recorder has the reason.
      return stored ?? request.table.privateImage(slot)
    }
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
