import FastImageCache
import Foundation
import TestSupport

/// A session that another process plays while the walk's own cache is closed: it owns the tables, and is killed or closes.
/// The walk's next session opens what it left.
struct ChildSession {
  private let walk: Walk
  private let model: Model
  private let host: any PlayHost
  private let index: Int
  private let plan: Session.Plan
  private var random: SplitMix64
  /// Whether it is killed in the end. Originals are written when there is time, so those of one that is killed may be as
  /// they were before.
  private let isKilled: Bool

  init?(_ index: Int, _ walk: Walk, _ models: (Model, Model)) {
    guard let host = walk.host else { return nil }
    (self.walk, self.host) = (walk, host)
    let plans = Session.Plan.all.indices.filter { Session.Plan.all[$0].place != .memory }
    self.index = plans[index % plans.count]
    plan = Session.Plan.all[self.index]
    model = plan.hasOriginals ? models.0 : models.1
    random = SplitMix64(state: walk.options.seed ^ UInt64(index + 1))
    isKilled = Int.random(in: 0..<3, using: &random) > 0
  }

  mutating func run() async throws {
    guard let port = walk.world.port else { return }
    let neighbour = try host.startNeighbour(
      NeighbourStart(folder: walk.world.folder, port: port, plan: index))
    let entities = walk.entities.filter {
      $0.subject.isSteady && $0.takesPlainOptions && plan.wiring.serves($0.subject.scheme)
    }
    for _ in 0..<Int.random(in: 5...40, using: &random) {
      guard await ask(neighbour, entities) else {
        return walk.finds.report(.wrongAnswer, "\(self): a neighbour has ended by itself, or hangs")
      }
    }
    guard isKilled else {
      return expect(await neighbour.close(), .wrongAnswer, "it did not close")
    }
    // It is in the midst of something.
    let pause = Int.random(in: 0..<4_000, using: &random)
    async let lived = Self.kill(neighbour, after: pause)
    _ = await ask(neighbour, entities)
    expect(await lived, .wrongAnswer, "it did not live until its end")
    walk.finds.count("kills of an owner")
  }

  private static func kill(_ neighbour: any PlayNeighbour, after microseconds: Int) async -> Bool {
    try? await Task.sleep(for: .microseconds(microseconds))
    return await neighbour.kill()
  }

  /// Has one step done, and lets the model learn what was acknowledged; false where there was no answer.
  private mutating func ask(
    _ neighbour: any PlayNeighbour, _ entities: [PlayEntity]
  ) async -> Bool {
    var kinds = NeighbourCommand.Kind.allCases + [.request, .request, .reload, .storeData]
    if !plan.hasOriginals {
      kinds.removeAll {
        [.removeOriginal, .removeEntitysOriginals, .removeAllOriginals, .signOut].contains($0)
      }
    }
    let kind = kinds[Int.random(in: 0..<kinds.count, using: &random)]
    let entity = model.present(entities[Int.random(in: 0..<entities.count, using: &random)])
    let format = PlayFormats.all[Int.random(in: 0..<PlayFormats.all.count, using: &random)]
    let timeline = walk.world.timeline
    if Int.random(in: 0..<3, using: &random) == 0, entity.subject.scheme != .data {
      try? walk.world.change(entity.subject)
    }
    var command = NeighbourCommand(kind, entity, format, in: walk.world)
    var hand: Mark?
    if kind == .storeBitmap || kind == .storeData {
      let mark = timeline.makeHand(of: entity.subject.number)
      model.willStore(mark, for: entity, keepsOriginal: kind == .storeData && entity.keepsHands)
      (hand, command.hand) = (mark, mark.revision)
    }
    defer { if let hand { timeline.endHand(hand) } }
    var horizon = model.horizon(of: entity, format, hasOriginals: plan.hasOriginals)
    let time = timeline.tick()
    if kind == .reload { horizon = horizon.asking(at: time) }
    walk.finds.count("calls of neighbours")
    guard let answer = await neighbour.answer(command.sent(in: walk.world)) else { return false }
    let context = "\(self), \(kind) of \(entity) in \(format.name)"
    expect(answer.error == nil, .wrongAnswer, "\(context): \(answer.error ?? "")")
    guard answer.error == nil else { return true }
    if let hand {
      expect(answer.mark == hand, .wrongPicture, "\(context): stored \(hand)")
    } else if answer.hasImage {
      walk.finds.count("pictures of neighbours")
      let objection = model.objection(to: answer.mark, of: entity, since: horizon)
      expect(objection == nil, .wrongPicture, "\(context): \(objection ?? "")")
      if objection != nil { return true }
    }
    learn(command, answer, of: entity, format, at: time)
    return true
  }

  private func learn(
    _ command: NeighbourCommand, _ answer: NeighbourAnswer, of entity: PlayEntity,
    _ format: ImageFormat, at time: Int
  ) {
    let keeps = plan.hasOriginals && !isKilled
    switch command.kind {
    case .request, .reload, .storeBitmap, .storeData:
      guard let mark = answer.mark, answer.isStored || command.hand != nil else { return }
      model.shown(
        mark, of: entity, format, keepsOriginal: keeps && answer.isFetched)
      if command.kind == .reload {
        model.asked(for: entity, [format], at: time, keepsOriginal: keeps, by: "a reload")
      }
    case .removeImage: model.removeImages(of: entity, [format], at: time)
    case .removeImages:
      model.removeOriginals(ofEntity: entity, at: time)
      model.removeImages(of: entity, PlayFormats.all, at: time)
    case .removeAllInFormat: model.removeAllImages([format], at: time)
    case .refresh:
      guard entity.subject.scheme != .own else { return }
      let formats = PlayFormats.all.filter { answer.formats.contains($0.name) }
      model.asked(for: entity, formats, at: time, keepsOriginal: keeps, by: "refresh")
    case .removeOriginal, .removeEntitysOriginals:
      model.removeOriginals(ofEntity: entity, at: time)
    case .removeAllOriginals: model.removeAllOriginals(at: time)
    case .signOut:
      if entity.account > 0 { model.removeOriginals(ofAccount: entity.account, at: time) }
    case .markStale, .look, .glance, .flush: break
    }
  }

  private func expect(_ isRight: Bool, _ kind: Finds.Kind, _ text: @autoclosure () -> String) {
    if !isRight { walk.finds.report(kind, text()) }
  }
}

extension ChildSession: CustomStringConvertible {
  var description: String {
    "a neighbour alone, \(plan.wiring)" + (plan.hasOriginals ? " with originals" : "")
  }
}

extension NeighbourCommand {
  init(_ kind: Kind, _ entity: PlayEntity, _ format: ImageFormat, in world: World) {
    self.init(
      kind: kind,
      entity: [entity.number, entity.generation, entity.version, entity.revision],
      format: format.name,
      revisions: Subject.all.map { world.timeline.revision(of: $0.number) },
      seconds: world.passedSeconds)
  }

  /// As it is sent: a planted fault sends no removals.
  func sent(in world: World) -> NeighbourCommand {
    var command = self
    if world.plant == .deafNeighbour, kind.rawValue.hasPrefix("remove") { command.kind = .flush }
    return command
  }
}

extension PlayNeighbour {
  func answer(_ command: NeighbourCommand) async -> NeighbourAnswer? {
    guard let data = try? JSONEncoder().encode(command), let line = await answer(to: data) else {
      return nil
    }
    return try? JSONDecoder().decode(NeighbourAnswer.self, from: line)
  }
}
