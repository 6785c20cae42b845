import ImageSources

/// Remembers the sources that had no image, so that the next requests are refused without asking them; pure.
///
/// Invariants:
/// 1. A failure counts for all that a load may be shared by: one address, one version, and one set of conditions.
/// 2. Only definite errors are remembered: those that the same request would meet again.
/// 3. No load that began before something was forgotten leaves a failure.
/// 4. At most ``limit`` failures are kept, each for at most ``limit`` entities. The one that ends first makes room.
struct FailureMemory: Sendable {
  struct Name: Hashable, Sendable {
    let loadKey: LoadKey
    let version: ImageID
  }

  private struct Failure {
    let error: ImageCacheError
    let end: ContinuousClock.Instant
    /// Those whose requests it has answered.
    var entities: Set<ImageID>
  }

  let duration: Duration
  private let limit: Int
  private var failures: [Name: Failure] = [:]
  private var lastForgotten = -1

  /// - Parameter duration: How long a failure counts.
  init(for duration: Duration, limit: Int = 1024) {
    (self.duration, self.limit) = (duration, limit)
  }

  var count: Int { failures.count }

  /// The error that answers a request of an entity; `nil` if the source is to be asked.
  mutating func refusal(
    of name: Name, for entity: ImageID, at now: ContinuousClock.Instant
  ) -> ImageCacheError? {
    guard var failure = failures.removeValue(forKey: name), now < failure.end else { return nil }
    failure.entities.insert(entity)
    // Asked anew: else an address that everything has would never be forgotten by a removal.
    guard failure.entities.count <= limit else { return nil }
    failures[name] = failure
    return failure.error
  }

  /// Notes the error of a load.
  ///
  /// - Parameter load: Its number.
  mutating func note(
    _ error: ImageCacheError, of name: Name, for entity: ImageID, load: Int,
    at now: ContinuousClock.Instant
  ) {
    guard error.isDefinite, load > lastForgotten else { return }
    var entities = failures[name]?.entities ?? []
    entities.insert(entity)
    failures[name] = Failure(error: error, end: now + duration, entities: entities)
    guard failures.count > limit else { return }
    failures = failures.filter { now < $0.value.end }
    if failures.count > limit, let first = failures.min(by: { $0.value.end < $1.value.end }) {
      failures[first.key] = nil
    }
  }

  /// Forgets one failure, since its source is asked again in any case.
  ///
  /// - Parameter number: The asking request's.
  mutating func forget(_ name: Name, at number: Int) {
    // The request's own load may have the same number.
    lastForgotten = max(number - 1, lastForgotten)
    failures[name] = nil
  }

  /// Forgets the failures that an entity's requests met, or all.
  ///
  /// - Parameter number: That of the removal, store or call.
  mutating func forget(_ entity: ImageID?, at number: Int) {
    lastForgotten = max(number, lastForgotten)
    failures =
      entity.map { entity in failures.filter { !$0.value.entities.contains(entity) } } ?? [:]
  }
}

extension Removal {
  /// The entity whose images or originals are removed; `nil` for those of all.
  var entity: ImageID? {
    switch self {
    case .entity(let id, _), .originals(let id): id
    case .format: nil
    }
  }
}

extension ImageCacheError {
  /// Whether the same request would meet this error again: its source has nothing, or no image.
  var isDefinite: Bool {
    if case .sourceFailed(_, let error) = self { error.isDefinite } else { blamesBytes }
  }
}

extension Error {
  /// Whether a source would answer so again. Of a chain the last error of a source that knows such addresses counts.
  fileprivate var isDefinite: Bool {
    if let failure = self as? ImageSourceChain.Failure {
      let known = failure.errors.last {
        if case .unsupportedScheme = $0 as? ImageSourceError { false } else { true }
      }
      return (known ?? failure.errors.last)?.isDefinite == true
    }
    return switch self as? ImageSourceError {
    // 401, 403 and 407 want another account; 408, 421, 423, 425 and 429 another time.
    case .httpStatus(let status): [400, 404, 405, 406, 410, 414, 415, 451].contains(status)
    case .notFound, .invalidDataURL, .unsupportedScheme: true
    default: false
    }
  }
}
