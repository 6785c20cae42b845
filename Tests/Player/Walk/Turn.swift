import FastImageCache
import Locking
import TestSupport

/// One step that is done: what it is done with, and where its answers are compared.
struct Turn: Sendable {
  let number: Int
  let step: Step
  let world: World
  let session: Session
  let finds: Finds
  let watch: Watch
  let coverage: Coverage
  let host: (any PlayHost)?
  let entity: PlayEntity
  let format: ImageFormat
  private let (troubleCount, sweepCount): (Int, Int)
  private let random: Lock<SplitMix64>

  init(
    number: Int, _ step: Step, in walk: Walk, _ session: Session, _ entity: PlayEntity,
    _ format: ImageFormat, seed: UInt64
  ) {
    (self.number, self.step, self.session) = (number, step, session)
    (world, finds, watch, coverage) = (walk.world, walk.finds, walk.watch, walk.coverage)
    host = walk.host
    (self.entity, self.format) = (entity, format)
    (troubleCount, sweepCount) = (session.troubleCount, session.sweepCount)
    random = Lock(SplitMix64(state: seed))
  }

  var cache: ImageCache { session.cache }
  var model: Model { session.model }
  var plant: Plant? { world.plant }
  var hasOriginals: Bool { session.plan.hasOriginals }

  /// Whether errors of the disk are right.
  var isTroubled: Bool { session.isTroubled(since: troubleCount) }

  /// Whether other steps may have removed any image.
  var isSwept: Bool { session.isSwept(since: sweepCount) }

  /// Whether what the turn has stored is still in its table, as far as other steps let it.
  var isCalm: Bool { !isTroubled && !isSwept }

  // MARK: Chance

  func roll(_ count: Int) -> Int { random.withLock { Int.random(in: 0..<count, using: &$0) } }
  func chance(_ one: Int, in count: Int) -> Bool { roll(count) < one }
  func pick<Element>(_ elements: [Element]) -> Element { elements[roll(elements.count)] }

  /// Lets others go first, now and then.
  func rest() async { for _ in 0..<roll(12) { await Task.yield() } }

  // MARK: Oracles

  /// Compares an answer; false is reported.
  func expect(
    _ isRight: Bool, _ kind: Finds.Kind, _ text: @autoclosure () -> String
  ) {
    if coverage.hears(isRight, of: step.name, isAnswer: true) { return }
    finds.report(kind, "\(self): \(text())")
  }

  /// There is no answer to compare; the step is not read by it.
  func nothing() { finds.count("answers that were not there") }

  func expect(_ isRight: Bool, _ text: @autoclosure () -> String) {
    expect(isRight, .wrongAnswer, text())
  }

  /// Compares a picture that was shown; returns what it shows.
  @discardableResult func see(
    _ image: CachedImage, of entity: PlayEntity? = nil, since horizon: Model.Horizon,
    _ context: @autoclosure () -> String = ""
  ) -> Mark? {
    finds.count("pictures")
    let entity = entity ?? self.entity
    let mark = Mark(image)
    let objection = model.objection(to: mark, of: entity, since: horizon)
    expect(objection == nil, .wrongPicture, "\(objection ?? "") \(entity) \(context())")
    return objection == nil ? mark : nil
  }

  func horizon(of entity: PlayEntity? = nil, _ format: ImageFormat? = nil) -> Model.Horizon {
    model.horizon(of: entity ?? self.entity, format ?? self.format, hasOriginals: hasOriginals)
  }

  /// Runs one call of the library, which must end.
  func call<Answer>(
    _ name: String, _ body: () async throws -> Answer
  ) async rethrows -> Answer {
    let id = watch.begin(name, of: "\(self)")
    defer { watch.end(id) }
    finds.count("calls")
    return try await body()
  }

  /// Compares an error with what may go wrong.
  func note(
    _ error: any Error, of entity: PlayEntity? = nil, _ options: LoadOptions = LoadOptions(),
    isCancelled: Bool = false
  ) {
    let entity = entity ?? self.entity
    let isRight =
      switch error as? ImageCacheError {
      case .cancelled: isCancelled
      case .closed: session.isClosing
      case .timedOut: options.timeout != nil
      case .notCached:
        options.scope == .cache || options.scope == .local && entity.subject.scheme == .http
      case .sourceFailed, .undecodable, .imageTooLarge: !entity.subject.isSteady
      case .storageUnavailable, .diskFull, .originalsUnavailable: isTroubled
      default: false
      }
    finds.count("errors")
    if coverage.hears(isRight, of: step.name, isAnswer: false) { return }
    finds.report(.wrongAnswer, "\(self): \(entity): \(error) \(options)")
  }
}

extension Turn: CustomStringConvertible {
  var description: String {
    "step \(number) \(step.name), \(entity), \(format.name), \(session.plan.wiring)"
      + (hasOriginals ? " with originals" : "")
  }
}
