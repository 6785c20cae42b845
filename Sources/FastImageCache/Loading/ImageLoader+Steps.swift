import Foundation
import ImageCodecs
import TableStore

/// The steps of a load's plan: reading what is kept, asking the source, and keeping its answer.
extension ImageLoader {
  /// Takes the plan's steps until one brings the picture.
  ///
  /// - Parameter requests: Those that wait; others may have joined or left when this returns.
  /// - Returns: `nil` at the end of the plan: the requests may go no further.
  func fetch(
    _ url: URL, for requests: inout [ImageRequest], on course: LoadCourse, _ flight: Flight
  ) async throws -> StepResult? {
    while let step = course.plan.next() {
      switch step {
      case .read:
        if let result = try await readPicture(url, for: requests, on: course, flight) {
          return result
        }
      case .recall:
        try await recall(url, on: course, flight)
      case .ask:
        requests = withoutRings(requests, url, flight)
        while requests.isEmpty {
          // Nobody is left to ask for.
          if flight.retire() { throw CancellationError() }
          let joined = try await askEntities(flight.take(), flight, course)
          requests = withoutRings(joined, url, flight)
        }
        // Out here, since a request that is given up mostly waits at a gate: asking takes memory, and looking
        // into its error time.
        flight.progress.begin()
        try await flight.permit.pass(course.plan.need)
        flight.progress.end(\.wait)
        do {
          return try await ask(url, for: requests, on: course, flight)
        } catch {
          guard error is OutOfReach || restarts(after: error, on: course) else { throw error }
        }
      }
    }
    return nil
  }

  /// The picture of the kept original.
  private func readPicture(
    _ url: URL, for requests: [ImageRequest], on course: LoadCourse, _ flight: Flight
  ) async throws -> StepResult? {
    guard let kept = try await readKept(course, flight) else { return nil }
    guard kept.terms.mayAnswerRequest(course.options.headers) else {
      await take(kept, url, on: course)
      return nil
    }
    for request in requests { request.whenLoading?() }
    let picture = try await keptPicture(kept, course, url)
    return picture.map {
      StepResult(
        picture: $0, origin: .kept, byteOrigin: .original, isStale: course.plan.showsStale,
        keptBody: kept.body)
    }
  }

  /// Takes the kept original along, for the source to be asked about.
  private func recall(
    _ url: URL, on course: LoadCourse, _ flight: Flight
  ) async throws {
    if let kept = try await readKept(course, flight) { await take(kept, url, on: course) }
  }

  /// Has the source asked about a kept original.
  private func take(_ kept: KnownOriginal, _ url: URL, on course: LoadCourse) async {
    // No source is asked about bytes that it could only call unchanged in vain.
    guard kept.body != nil, kept.terms.mayBeConfirmed(to: course.options.headers),
      (try? await keptPicture(kept, course, url)) != nil
    else { return }
    course.known = kept
  }

  /// The kept original, at the local gate.
  private func readKept(
    _ course: LoadCourse, _ flight: Flight
  ) async throws -> KnownOriginal? {
    guard let originals = planner.originals, let query = course.query else { return nil }
    flight.progress.begin()
    try await flight.permit.pass(.local)
    flight.progress.end(\.wait)
    flight.progress.begin()
    defer { flight.progress.end(\.fetch) }
    do throws(OriginalsLocked) {
      guard let kept = try await originals.read(query, urgency: flight.urgency) else { return nil }
      var known = KnownOriginal(terms: kept.terms, bytes: kept.bytes, isWhole: true)
      known.body = kept.body
      return known
    } catch {
      course.isLocked = true
      return nil
    }
  }

  /// The picture of kept bytes; `nil`, and the bytes are dropped, if they are none: the source is asked
  /// then as if nothing had been kept.
  ///
  /// - Throws: An error that does not blame the bytes, which are as good as before.
  private func keptPicture(
    _ kept: KnownOriginal, _ course: LoadCourse, _ url: URL
  ) async throws(ImageCacheError) -> SourcePicture? {
    do { return try maker.picture(from: .encoded(kept.bytes), url: url, isEarlier: true) } catch {
      guard error.blamesBytes else { throw error }
      if let name = course.name, let body = kept.body {
        await planner.originals?.drop(name, body: body)
      }
      return nil
    }
  }

  /// Asks the source, whose gate the load has passed.
  ///
  /// - Throws: ``OutOfReach``, and ``ImageCacheError/sourceFailed(_:underlying:)``.
  private func ask(
    _ url: URL, for requests: [ImageRequest], on course: LoadCourse, _ flight: Flight
  ) async throws -> StepResult {
    for request in requests { request.whenLoading?() }
    flight.noteAsked()
    course.hasAsked = true
    let first = requests[0]
    // Bytes that turned out to be no picture are continued no more.
    let isAnew = flight.policy == .reload || course.download != nil
    // Given up before the next one is begun.
    course.download = nil
    defer { flight.progress.endFetch() }
    course.download = await beginDownload(of: first, course, isAnew: isAnew, flight)
    let request = sourceRequest(url, for: requests, course, flight)
    note(isAskedFor: course.known, flight)
    let start = flight.progress.clock.now
    let content: ImageSourceContent
    do {
      defer { flight.progress.end(\.fetch) }
      content = try await flight.ask(.source(url), of: requests) {
        // Not the flight: a source may keep the closure, and the flight leads to the source.
        try await planner.source.load(request) { [progress = flight.progress] step in
          progress.report(ImageProgress(step))
        }
      }
    } catch {
      receive(course.download?.arrivals.receivedByteCount ?? 0, flight)
      if error is OutOfReach { throw error }
      if let known = course.knownAnswer, course.plan.answers(error),
        let picture = try await keptPicture(known, course, url)
      {
        return StepResult(
          picture: picture, origin: .kept, byteOrigin: .original, isStale: true,
          keptBody: known.body)
      }
      await note(refusal: error, to: requests, on: course, flight)
      throw ImageCacheError.sourceFailed(url, underlying: CircularPictureError(in: error) ?? error)
    }
    let byteCount = max(
      course.download?.arrivals.receivedByteCount ?? 0,
      content.byteCount - content.earlierByteCount)
    receive(byteCount, flight)
    note(content, flight)
    let result = try await answer(content, url, on: course, flight)
    recorder.fetched(url, byteCount: byteCount, in: flight.progress.clock.now - start)
    return result
  }

  /// Notes for the load's report that the source is asked now, perhaps about a kept original.
  private func note(isAskedFor known: KnownOriginal?, _ flight: Flight) {
    let knowsOriginal = known != nil
    flight.progress.measure { $0.ask(knowsOriginal: knowsOriginal) }
    flight.progress.begin()
  }

  /// Notes for the load's report what the source has answered.
  private func note(_ content: ImageSourceContent, _ flight: Flight) {
    let need = flight.permit.need
    flight.progress.measure { $0.source.note(content, need: need) }
  }

  private func receive(_ byteCount: Int, _ flight: Flight) {
    recorder.received(byteCount: byteCount)
    flight.progress.measure { $0.fetchedByteCount += byteCount }
  }

  private func beginDownload(
    of request: ImageRequest, _ course: LoadCourse, isAnew: Bool, _ flight: Flight
  ) async -> Download {
    var disk: OriginalDownload?
    if let load = course.original, let record = record(on: course) {
      disk = planner.originals?.download(record, load)
    }
    return await Download.begin(
      of: request.originalQuery(in: planner.namespace).name, for: course.owner,
      with: course.options.headers,
      on: partials, and: disk, isAnew: isAnew, painter: painter(for: flight))
  }

  /// Draws previews until the fetch ends; `nil` where a hook may make something else of the picture.
  private func painter(for flight: Flight) -> PreviewPainter? {
    guard maker.willStore == nil else { return nil }
    let progress = flight.progress
    return PreviewPainter(
      maker: maker, clock: progress.clock, progress: progress, fetch: progress.beginFetch())
  }

  private func sourceRequest(
    _ url: URL, for requests: [ImageRequest], _ course: LoadCourse, _ flight: Flight
  ) -> ImageSourceRequest {
    var request = ImageSourceRequest(
      url: url, urgency: flight.urgency, byteCountLimit: encodedByteLimit, permit: flight.permit,
      firstEntity: requests.first?.key.entity)
    (request.audience, request.reach) = (course.options.audience, course.options.reach)
    (request.headers, request.avoids) = (course.options.headers, course.options.avoids)
    // A partial is younger than a kept original, whose server sent it as another one.
    request.known = course.download?.known ?? course.known
    request.arrivals = course.download?.arrivals
    if flight.policy == .reload,
      !request.headers.keys.contains(where: { $0.lowercased() == "cache-control" })
    {
      // For the caches on the way: RFC 9111 section 5.2.1.4.
      request.headers["Cache-Control"] = "no-cache"
    }
    return request
  }

  /// The meaning of the source's answer for the load.
  private func answer(
    _ content: ImageSourceContent, _ url: URL, on course: LoadCourse, _ flight: Flight
  ) async throws -> StepResult {
    // Otherwise the source was told of the partial.
    if course.download?.known == nil, let known = course.known, known.isWhole,
      let newer = content.newerTerms(of: known)
    {
      var terms = known.terms.confirmed(by: newer)
      terms.recordRequest(course.options.headers)
      if let name = course.name, let body = known.body {
        await planner.originals?.note(terms, of: name, body: body, for: course.original)
      }
      // Sent whole once more, it has arrived for nothing.
      course.download?.finish()
      course.tablesAnswer = true
      return StepResult(
        picture: try maker.picture(from: .encoded(known.bytes), url: url, isEarlier: true),
        origin: .kept, byteOrigin: .unchanged, keptBody: known.body)
    }
    // Another request's answer may differ without a change.
    let mayDiffer = course.knownAnswer != nil || flight.policy != .normal
    var (original, isContinued) = (content.original, content.isContinued)
    var earlierByteCount = content.earlierByteCount
    if let whole = course.download?.known, whole.isWhole, let newer = content.newerTerms(of: whole)
    {
      // An earlier load had all bytes, and ended before they were decoded.
      (original, isContinued) = ((whole.bytes, whole.terms.confirmed(by: newer)), true)
      if case .unchanged = content { earlierByteCount = whole.bytes.count }
    }
    let picture = try maker.picture(
      from: isContinued ? original.map { .encoded($0.bytes) } ?? content : content, url: url,
      isEarlier: isContinued)
    original?.terms.recordRequest(course.options.headers)
    // Files and data URLs are as near as a store is.
    let isKept = flight.permit.need == .network
    return StepResult(
      picture: picture, origin: mayDiffer ? .changed : .source,
      byteOrigin: earlierByteCount == 0
        ? .source
        : .resumed(after: earlierByteCount, of: max(earlierByteCount, content.byteCount)),
      isContinued: isContinued, original: isKept ? original : nil,
      download: content.download)
  }

  /// Whether the source is asked for all bytes, since those that it continued do not begin as a picture
  /// does.
  private func restarts(after error: any Error, on course: LoadCourse) -> Bool {
    guard (error as? ImageCacheError)?.blamesBytes == true, let download = course.download else {
      return false
    }
    download.finish()
    return download.known != nil && course.plan.askOnceMore()
  }

  /// Whether the load goes on with its plan, since bytes of earlier loads turned out to be no picture.
  func rejects(
    _ result: StepResult, for error: any Error, on course: LoadCourse
  ) async -> Bool {
    // Whole bytes are worth keeping only where nobody waited for their end.
    if !Task.isCancelled { course.download?.finish() }
    guard (error as? ImageCacheError)?.blamesBytes == true,
      result.origin == .kept || result.isContinued
    else { return false }
    course.known = nil
    if let body = result.keptBody, let name = course.name {
      await planner.originals?.drop(name, body: body)
    }
    // Without a step to go on with, and an answer of the source, the plan ends as if nothing had been kept.
    return !course.plan.steps.isEmpty || course.plan.askOnceMore() || !course.hasAsked
  }

  /// Makes what has the store hold a step's original, and write it beside the load's other pictures.
  ///
  /// A worker calls it after the decode and the hook, before it answers the first waiters: no later request fetches
  /// the original again, and a closing store finds it. A damaged file is not kept, and drops what it supersedes. An
  /// original of which the hook refuses a picture is not kept, whatever it says of other entities.
  func keeping(
    _ result: StepResult, on course: LoadCourse, _ flight: Flight
  ) -> (@Sendable (SourcePicture) -> Void)? {
    guard !course.isLocked, let originals = planner.originals, let original = result.original,
      var record = record(on: course, byteCount: original.bytes.count, original.terms)
    else { return nil }
    record.isPlaceholder = flight.isPlaceholder
    // That of the name: requests of other entities share the load.
    let entity = course.owner.entity
    return { [record, held = course.held, load = course.original, download = result.download] in
      let picture = $0
      if picture.isRefused { return held.refuse { await originals.drop(record.name, body: $0) } }
      held.keep { () -> (body: UInt64, write: Task<Void, Never>)? in
        var record = record
        record.size = picture.fullSize
        let bytes = picture.decoded?.isDamaged == true ? nil : original.bytes
        let body = originals.hold(record, bytes, for: load, from: download) {
          flight.keepsOriginal(of: entity)
        }
        return body.map { [name = record.name] body in
          // The load awaits the task before it leaves its gate. A cancellation of the load does not reach it.
          (body, Task(name: "original") { await originals.write(name) })
        }
      }
    }
  }

  private func record(
    on course: LoadCourse, byteCount: Int = 0, _ terms: OriginalTerms? = nil
  ) -> OriginalRecord? {
    course.query.map { query in
      OriginalRecord(
        query.name, version: query.version, owner: course.owner, byteCount: byteCount,
        terms: terms ?? OriginalTerms(received: Date()))
    }
  }

  /// Takes a server's refusal to say whether a kept original is still the present one: gone, it is dropped; for
  /// another account, it answers once the server allows it. Tables keep its pictures as stale ones.
  private func note(
    refusal error: any Error, to requests: [ImageRequest], on course: LoadCourse, _ flight: Flight
  ) async {
    guard flight.policy != .normal || course.known != nil, let status = error.refusingStatus,
      let originals = planner.originals, let query = course.query
    else { return }
    var body = course.known?.body
    if body == nil { body = (try? await originals.read(query, urgency: flight.urgency))?.body }
    guard let body else { return }
    if [404, 410].contains(status) {
      await originals.drop(query.name, body: body)
    } else {
      await originals.note(nil, of: query.name, body: body, for: course.original)
    }
    for request in requests {
      for table in request.tables.all {
        // A table that cannot be marked keeps its picture.
        _ = try? await table.write { store throws(TableError) in
          try store.markStale(request.key.entity.tableID)
        }
      }
    }
  }

}

extension ImageSourceContent {
  /// The bytes, to be kept, with their terms.
  ///
  /// None where something stands beside the pixels: the next picture of the same bytes would lack it.
  fileprivate var original: (bytes: Data, terms: OriginalTerms)? {
    switch self {
    case .encoded(let bytes): (bytes, OriginalTerms(received: Date()))
    case .arrived(let arrival): (arrival.bytes, arrival.terms)
    case .bitmap, .unchanged, .annotated: nil
    }
  }

  /// The terms of an answer that says, or shows by its bytes, that an original is the present one.
  fileprivate func newerTerms(of known: KnownOriginal) -> OriginalTerms? {
    if case .unchanged(let terms) = self { return terms }
    return original.flatMap { $0.bytes == known.bytes ? $0.terms : nil }
  }

  /// What may be on disk already.
  fileprivate var download: OriginalDownload? {
    if case .arrived(let arrival) = self { arrival.download } else { nil }
  }

  /// Whether some of the bytes are of an earlier answer.
  fileprivate var isContinued: Bool {
    switch self {
    case .arrived(let arrival): arrival.isContinued
    case .annotated(let content, _): content.isContinued
    case .encoded, .bitmap, .unchanged: false
    }
  }

  /// How many of the first bytes earlier loads have left.
  fileprivate var earlierByteCount: Int {
    switch self {
    case .arrived(let arrival): arrival.earlierByteCount
    case .annotated(let content, _): content.earlierByteCount
    case .encoded, .bitmap, .unchanged: 0
    }
  }

  /// The bytes that are there.
  fileprivate var byteCount: Int {
    switch self {
    case .encoded(let bytes): bytes.count
    case .arrived(let arrival): arrival.byteCount
    case .annotated(let content, _): content.byteCount
    case .bitmap, .unchanged: 0
    }
  }
}

extension Error {
  /// The status of a server that has the original no more, or not for this account.
  fileprivate var refusingStatus: Int? {
    if let failure = self as? ImageSourceChain.Failure {
      return failure.errors.last?.refusingStatus
    }
    guard case .httpStatus(let status)? = self as? ImageSourceError else { return nil }
    return [401, 403, 404, 410].contains(status) ? status : nil
  }
}

extension LoadPlan {
  /// Whether the recalled original answers after this error of the source.
  ///
  /// Of a chain the last source's error counts: the others had nothing.
  fileprivate func answers(_ error: any Error) -> Bool {
    if let failure = error as? ImageSourceChain.Failure {
      return failure.errors.last.map(answers) ?? false
    }
    return switch error as? ImageSourceError {
    case .network, .networkRefused, .offline, .timedOut: answersFailures || answersUnreachable
    // The server, or one between, failed: RFC 5861 section 4.
    case .httpStatus(500), .httpStatus(502...504), .truncatedBody: answersFailures
    default: false
    }
  }
}
