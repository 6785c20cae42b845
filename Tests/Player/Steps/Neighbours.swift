import FastImageCache
import Foundation

extension Step {
  /// Another process on the folder, while the walk's own cache owns the tables.
  static let neighbours: [Step] = [
    Step("neighbour", [], need: .entity(\.takesPlainOptions), needsHost: true) { turn in
      guard let host = turn.host, let port = turn.world.port, turn.session.beginsAlone() else {
        return turn.nothing()
      }
      defer { turn.session.endAlone() }
      // The tables are there, and owned.
      try await turn.call("flush before a neighbour") { try await turn.cache.flush() }
      let plan = Session.Plan.all.firstIndex { $0 == turn.session.plan } ?? 0
      let neighbour = try host.startNeighbour(
        NeighbourStart(folder: turn.world.folder, port: port, plan: plan))
      var guest = GuestPlay(turn, neighbour)
      try await guest.run()
    }
  ]
}

/// What a guest does: it looks at the owner's images, of which it stores none, and has one of its own.
///
/// The owner sees what a guest stored when it takes the guest's file in: after the guest's end, at `flush()`.
private struct GuestPlay {
  private let turn: Turn
  private let neighbour: any PlayNeighbour
  private let format: ImageFormat
  private let own: NeighbourEntity
  /// What the guest was told to do with its own image, and acknowledged last; `nil` once that is unknown.
  private var last: State? = State.none

  private enum State {
    case none
    case hand(Mark)
    case source(since: Int)
  }

  init(_ turn: Turn, _ neighbour: any PlayNeighbour) {
    (self.turn, self.neighbour) = (turn, neighbour)
    let wiring = turn.session.plan.wiring
    let subjects = Subject.all.filter {
      [.http, .play].contains($0.scheme) && wiring.serves($0.scheme) && $0.isSteady
        && !$0.isAnimated
    }
    own = NeighbourEntity(number: turn.number, subject: turn.pick(subjects), world: turn.world)
    format = turn.pick([PlayFormats.row, PlayFormats.large, PlayFormats.gray, PlayFormats.best])
  }

  mutating func run() async throws {
    for _ in 0..<3 + turn.roll(6) {
      if turn.chance(1, in: 2) { await glance() } else { await change() }
      await turn.rest()
    }
    if turn.chance(1, in: 3) {
      let isClosed = await turn.call("a neighbour's close") { await neighbour.close() }
      turn.expect(isClosed, "a neighbour that did not close")
    } else {
      let (neighbour, pause) = (neighbour, turn.roll(3_000))
      async let lived = Task.sleep(for: .microseconds(pause))
      if turn.chance(1, in: 2) {
        async let isOver: Void = change()
        _ = try? await lived
        turn.expect(await neighbour.kill(), "a neighbour that had ended")
        await isOver
      } else {
        _ = try? await lived
        turn.expect(await neighbour.kill(), "a neighbour that had ended")
      }
      turn.finds.count("kills of a guest")
    }
    try await turn.call("flush after a neighbour") { try await turn.cache.flush() }
    let image = turn.cache.cachedImage(for: own, format: format)
    compare(image.flatMap { Mark($0) }, hasImage: image != nil, "taken in")
    try await turn.call("removal of a neighbour's image") {
      try await turn.cache.removeImages(for: own)
    }
    turn.expect(
      turn.cache.cachedImage(for: own, format: format) == nil, .wrongPicture, "\(own), removed")
  }

  /// Compares a shared image, which an owner's removals reach at once.
  private func glance() async {
    let entity = turn.model.present(turn.entity)
    let horizon = turn.model.horizon(
      of: entity, turn.format, hasOriginals: turn.hasOriginals, countsMarks: false)
    let command = NeighbourCommand(
      turn.chance(1, in: 2) ? .glance : .look, entity, turn.format, in: turn.world)
    guard let answer = await ask(command) else {
      return turn.expect(false, "a neighbour has ended by itself")
    }
    guard answer.hasImage else {
      let isRight = answer.error == nil || !entity.subject.isSteady
      return turn.expect(isRight, "a neighbour: \(answer.error ?? "")")
    }
    let objection = turn.model.objection(to: answer.mark, of: entity, since: horizon)
    turn.expect(
      objection == nil, .wrongPicture, "a neighbour, \(command.kind): \(objection ?? "")")
  }

  /// Changes or shows its own image.
  private mutating func change() async {
    let kind = turn.pick([
      NeighbourCommand.Kind.request, .reload, .storeBitmap, .storeData, .removeImage,
      .removeImages, .look,
    ])
    if turn.chance(1, in: 3) { try? turn.world.change(own.subject) }
    var template = turn.entity
    template = turn.model.present(
      PlayEntity.all(in: turn.world).first { $0.subject == own.subject } ?? template)
    var command = NeighbourCommand(kind, template, format, in: turn.world)
    command.own = own.number
    var hand: Mark?
    if kind == .storeBitmap || kind == .storeData {
      let mark = turn.world.timeline.makeHand(of: own.subject.number)
      (hand, command.hand) = (mark, mark.revision)
    }
    let (time, former) = (turn.world.timeline.tick(), last)
    // Until it is acknowledged, it may have been done or not.
    if kind != .look { last = nil }
    guard let answer = await ask(command) else { return }
    turn.expect(answer.error == nil, "a neighbour, \(kind): \(answer.error ?? "")")
    guard answer.error == nil else { return }
    switch kind {
    case .storeBitmap, .storeData:
      turn.expect(
        answer.mark == hand, .wrongPicture, "a neighbour stored \(String(describing: hand))")
      last = hand.map { .hand($0) }
    case .removeImage, .removeImages: last = State.none
    case .look: compare(answer.mark, hasImage: answer.hasImage, "looked at")
    case .reload:
      last = .source(since: time)
      compare(answer.mark, hasImage: answer.hasImage, "reloaded")
    default:
      // Of a table, or an original, or the source.
      last = answer.isFetched ? .source(since: time) : former
      let isRight = answer.mark?.subject == own.subject.number
      turn.expect(isRight, .wrongPicture, "a neighbour's request of \(own)")
      if answer.isFetched { compare(answer.mark, hasImage: answer.hasImage, "fetched") }
    }
  }

  private func ask(_ command: NeighbourCommand) async -> NeighbourAnswer? {
    turn.finds.count("calls of neighbours")
    return await turn.call("a neighbour's \(command.kind)") {
      await neighbour.answer(command.sent(in: turn.world))
    }
  }

  /// Compares the neighbour's own image with what was acknowledged last.
  private func compare(_ mark: Mark?, hasImage: Bool, _ context: String) {
    guard let last else { return turn.nothing() }
    let isRight =
      switch last {
      case .none: !hasImage
      case .hand(let hand): mark == hand || !hasImage && turn.isSwept
      case .source(let since):
        mark.map {
          $0.subject == own.subject.number && (turn.world.timeline.end(of: $0) ?? 0) > since
        } ?? (!hasImage && turn.isSwept)
      }
    turn.expect(
      isRight, .wrongPicture,
      "\(own), \(context): \(mark.map { "\($0)" } ?? "nothing"), after \(last)")
  }
}
