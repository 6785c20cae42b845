import FastImageCache
package import Foundation
import Locking
import TestSupport

/// A random walk over the public face of the library, on real files and a real server, against a model.
///
/// Invariants:
/// 1. The steps of a seed are the same in each run, with the same entities and formats. How they meet, and which
///    revisions they show, depends on the system.
/// 2. A step is drawn among those that were drawn least, for each kind of source that it can meet.
/// 3. A session ends when all of its steps have, and its cache is closed and compared then.
package final class Walk: Sendable {
  package struct Options: Sendable {
    package var seed: UInt64
    /// The length in real time; steps that have begun then go on to their ends.
    package var duration: Duration
    /// The last step.
    package var until = Int.max
    /// Steps, kinds of sources and wirings that are left out.
    package var without: Set<String> = []
    package var plant: Plant?
    /// The steps whose comparisons are taken for true.
    package var deaf: Set<String> = []
    /// Whether each comparison of an answer is taken for false: a step that is not found then is read by no oracle. Ends
    /// when all are found.
    package var lies = false
    /// Whether the first find ends the walk.
    package var endsAtFirstFind = false
    package var prints = false
    /// The steps of a session, after which the cache is opened in another way.
    package var sessionLength = 240
    /// How long a call may take.
    package var patience: Duration = .seconds(10)

    package init(seed: UInt64, duration: Duration) {
      (self.seed, self.duration) = (seed, duration)
    }
  }

  private struct Cell: Hashable {
    let step: Int
    let kind: String
  }

  private struct State {
    var random: SplitMix64
    var number = 0
    var drawn: [Cell: Int] = [:]
  }

  /// The kinds of sources that the coverage has columns for.
  package static let kinds = Wiring.kinds + ["-"]

  private static let laneCount = 4

  let options: Options
  let world: World
  let watch: Watch
  let host: (any PlayHost)?
  package let finds: Finds
  package let coverage: Coverage
  let entities: [PlayEntity]
  /// Bodies without rows at the end of the session before.
  let strays = Lock<Set<String>>([])
  private let state: Lock<State>
  private let begin = ContinuousClock.now
  /// What the folder with originals and the one without may show.
  private let models: (Model, Model)

  /// - Parameter folder: Empty, and the walk's own.
  package init(
    in folder: URL, _ options: Options, _ finds: Finds, host: (any PlayHost)? = nil
  ) throws {
    (self.options, self.finds, self.host) = (options, finds, host)
    world = try World(
      folder: folder, seed: options.seed, plant: options.plant, patience: options.patience)
    watch = Watch(limit: options.patience)
    coverage = Coverage(deaf: options.deaf, lies: options.lies)
    state = Lock(State(random: SplitMix64(state: options.seed)))
    entities = PlayEntity.all(in: world)
    models = (Model(world.timeline, entities), Model(world.timeline, entities))
  }

  private var isOver: Bool {
    Task.isCancelled || .now - begin > options.duration
      || state.withLock { $0.number } >= options.until
      || options.endsAtFirstFind && finds.total > 0
      || options.lies && options.deaf.isEmpty && unread.isEmpty
  }

  /// The steps that the walk can do, and whose answers no oracle has read.
  package var unread: [String] {
    Step.all.filter {
      (host != nil || !$0.needsHost) && !options.without.contains($0.name)
        && !coverage.isRead($0.name)
    }.map(\.name)
  }

  /// Walks until the time is over, or a call hangs.
  package func run() async throws {
    let plans = Session.Plan.all.filter { !options.without.contains($0.wiring.rawValue) }
    for index in 0... {
      if isOver { break }
      let plan = plans[index % plans.count]
      let model =
        switch plan.place {
        case .memory: Model(world.timeline, entities)
        default: plan.hasOriginals ? models.0 : models.1
        }
      guard try await endsAll(of: plan, model) else { break }
      model.endSession()
      if index % 3 == 0, plan.place != .memory, var child = ChildSession(index / 3, self, models) {
        try await child.run()
      }
      world.asked.withLock { $0 = nil }
      if options.plant == .leftDescriptor { world.leaveDescriptor() }
      await SessionEnd.lookForFiles(of: self)
    }
    world.end()
  }

  /// Plays one session; false where a call hangs.
  private func endsAll(of plan: Session.Plan, _ model: Model) async throws -> Bool {
    let session = try await Session(plan, in: world, model)
    finds.count("sessions")
    let (ends, end) = AsyncStream<Bool>.makeStream()
    let lanes = Task {
      await withTaskGroup(of: Void.self) { group in
        let last = state.withLock { $0.number } + options.sessionLength
        for _ in 0..<Self.laneCount {
          group.addTask {
            while !self.isOver, let turn = self.draw(in: session, until: last) {
              await self.run(turn)
            }
          }
        }
      }
      await SessionEnd(session, self).check()
      end.yield(true)
    }
    let watching = Task {
      while (try? await Task.sleep(for: .milliseconds(250))) != nil {
        let late = watch.overdue()
        if late.isEmpty { continue }
        for call in late { finds.report(.hung, call) }
        // What waits is asked of a cache that may hang as well.
        let asking = Task { finds.tell(await self.waiting(in: session)) }
        try? await Task.sleep(for: .seconds(1))
        asking.cancel()
        end.yield(false)
      }
    }
    // There is none where the walk itself is given up: its last session is played to its end then.
    let hasEnded = await ends.first { _ in true } ?? true
    watching.cancel()
    if !hasEnded {
      lanes.cancel()
      return false
    }
    // Both hold the session.
    await lanes.value
    await watching.value
    return true
  }

  /// What waits for what.
  private func waiting(in session: Session) async -> String {
    let statistics = await session.cache.statistics()
    let loads = (try? await session.cache.inspect())?.loads ?? []
    let lines = loads.map { load in
      "  load of \(load.url?.absoluteString.prefix(60) ?? "an entity"), \(load.requestCount) requests for "
        + load.images.map { "\($0.imageID) \($0.format)" }.joined(separator: ", ")
    }
    let permits = [LoadNeed.network, .local].map { need in
      "  permits of \(need): \(session.resources[need].counts)"
    }
    return
      ([
        "  \(statistics.pendingRequests) requests wait, \(statistics.activeLoads) loads work",
        "  calls: " + watch.runningNames.joined(separator: ", "),
      ] + permits + lines).joined(separator: "\n")
  }

  private func run(_ turn: Turn) async {
    if options.prints { finds.tell("\(turn) at \(world.timeline.tick())") }
    finds.count("steps")
    do { try await turn.step.run(turn) } catch { turn.note(error) }
  }

  // MARK: Drawing

  private func draw(in session: Session, until last: Int) -> Turn? {
    state.withLock { state in
      guard state.number < min(last, options.until) else { return nil }
      let cells = cells(in: session).map { cell in
        let weight = Step.all[cell.step].weight
        return (cell, met: (state.drawn[cell] ?? 0) / weight)
      }
      guard let least = cells.map(\.met).min() else { return nil }
      let candidates = cells.filter { $0.met == least }.map(\.0)
      let cell = candidates[Int.random(in: 0..<candidates.count, using: &state.random)]
      state.drawn[cell, default: 0] += 1
      state.number += 1
      let step = Step.all[cell.step]
      let meant = entities.filter { step.isMeant($0, as: cell.kind, in: session.plan) }
      let entity = meant.randomElement(using: &state.random) ?? entities[0]
      let format = PlayFormats.all.randomElement(using: &state.random) ?? PlayFormats.row
      coverage.meet(step.name, cell.kind)
      return Turn(
        number: state.number, step, in: self, session, session.model.present(entity), format,
        seed: state.random.next())
    }
  }

  private func cells(in session: Session) -> [Cell] {
    Step.all.enumerated().flatMap { index, step -> [Cell] in
      if options.without.contains(step.name) || step.needsHost && host == nil { return [] }
      return step.kinds(in: session.plan, entities)
        .filter { $0 == "-" || !options.without.contains($0) }
        .map { Cell(step: index, kind: $0) }
    }
  }

  /// The cells of steps and of options that no plan and no entity can meet.
  package var emptyCells: [(name: String, kind: String)] {
    let met = Step.all.map { step in
      (step.name, Set(Session.Plan.all.flatMap { step.kinds(in: $0, entities) }))
    }
    let conditions: [(String, (PlayEntity) -> Bool)] = [
      ("account", { $0.account > 0 }), ("headers", \.hasHeaders),
      ("decoderSettings", \.hasDecoderSettings), ("allows…NetworkAccess", \.savesNetwork),
    ]
    let options = conditions.map { name, isMet in
      let schemes = entities.filter(isMet).map(\.subject.scheme)
      return (
        name,
        Set(
          Wiring.allCases.flatMap { wiring in
            schemes.filter(wiring.serves).map(wiring.kind)
          })
      )
    }
    return (met + options).filter { $0.1 != ["-"] }.flatMap { name, kinds in
      Wiring.kinds.filter { !kinds.contains($0) }.map { (name, $0) }
    }
  }
}
