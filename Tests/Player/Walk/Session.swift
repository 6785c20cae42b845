import Foundation
import Locking
import TableStore

@testable import FastImageCache

/// One opening of a cache, from its first step to its close.
final class Session: Sendable {
  /// How a cache is opened.
  struct Plan: Hashable, Sendable {
    enum Place: String, CaseIterable, Sendable {
      /// `init`, which waits for the tables.
      case folder
      /// `open`, which does not.
      case soon
      case memory
    }

    var place = Place.folder
    var wiring = Wiring.urls
    var hasOriginals = true
    var resumes = true

    /// The folder of the tables. Those that knew no store of originals hold nothing that was drawn from one.
    func folder(in world: World) -> URL {
      world.folder.appending(path: hasOriginals ? "tables" : "tables alone")
    }

    /// The plans of a walk, one after the other.
    static let all = [
      Plan(),
      Plan(wiring: .chain, hasOriginals: false),
      Plan(place: .soon, wiring: .closure),
      Plan(wiring: .chain, resumes: false),
      Plan(place: .memory, wiring: .chain),
      Plan(place: .soon, wiring: .urls, hasOriginals: false),
    ]
  }

  static let namespace = "walk"

  let plan: Plan
  let cache: ImageCache
  let originals: OriginalStore?
  let model: Model
  let tally: EventTally
  let resources: LoadResources
  private let closing = Lock(false)
  private let alone = Lock(false)
  /// Images that a planted fault does not let go.
  private let kept = Lock<[CachedImage]>([])
  private let sweeps = Lock((current: 0, begun: 0))
  private let troubles = Lock((current: 0, begun: 0))

  init(_ plan: Plan, in world: World, _ model: Model) async throws {
    self.plan = plan
    self.model = model
    // Its model is as new as the tables are.
    if plan.place == .memory {
      try? FileManager.default.removeItem(at: Self.originalsFolder(in: world, plan.place))
    }
    let configuration = Self.configuration(plan, in: world)
    originals = configuration.originals
    resources = configuration.resources ?? LoadResources()
    switch plan.place {
    case .folder:
      cache = try await ImageCache(
        namespace: Self.namespace, formats: PlayFormats.all, configuration: configuration)
    case .soon:
      cache = try ImageCache.open(
        namespace: Self.namespace, formats: PlayFormats.all, configuration: configuration)
    case .memory:
      cache = try ImageCache.inMemory(formats: PlayFormats.all, configuration: configuration)
    }
    tally = EventTally(of: cache, world.plant)
    world.asked.withLock { [cache] in $0 = cache }
  }

  static func configuration(_ plan: Plan, in world: World) -> ImageCache.Configuration {
    var configuration = ImageCache.Configuration()
    configuration.directory = plan.folder(in: world)
    configuration.source = plan.wiring.source(
      in: world, .played(resumes: plan.resumes, patience: world.sourcePatience))
    // Narrow, so that loads wait.
    configuration.resources = LoadResources(
      decodeWidth: 2, networkWidth: 4, localWidth: 2, previewLoad: 1)
    configuration.now = { [weak world] in world?.now ?? Date() }
    configuration.failureMemory = nil
    configuration.damagedImages = .refuse
    configuration.requiresStorage = plan.place == .folder
    configuration.device = .all
    configuration.limits = DecodingLimits()
    configuration.decoders = ImageDecoders.standard
    configuration.willStore = { image in
      // What is stored without an entity is named by what it shows.
      if image.origin == .storedByHand, image.imageID == nil, let mark = Mark(image.bitmap) {
        image.imageID = ImageID("content \(mark.revision)")
      }
    }
    if plan.hasOriginals {
      configuration.originals = Self.store(in: world, plan.place)
    }
    return configuration
  }

  static func originalsFolder(in world: World, _ place: Plan.Place) -> URL {
    world.folder.appending(path: place == .memory ? "originals of memory" : "originals")
  }

  private static func store(in world: World, _ place: Plan.Place) -> OriginalStore {
    var lifetime = OriginalStore.Lifetime()
    lifetime.respectsServer = true
    lifetime.servesStale = true
    lifetime.renewsOnUse = false
    lifetime.maximumAge = .seconds(30 * 86_400)
    lifetime.defaultFreshness = .seconds(600)
    return OriginalStore(
      originalsFolder(in: world, place), 16 << 20, lifetime, system: .live
    ) { [weak world] in Int64((world?.now ?? Date()).timeIntervalSince1970 * 1_000_000) }
  }

  /// Whether errors of a closed cache are right.
  var isClosing: Bool { closing.withLock { $0 } }
  func keep(_ image: CachedImage) { kept.withLock { $0.append(image) } }
  func beginClosing() { closing.withLock { $0 = true } }

  /// Whether errors of the disk are right that a step gets which began after so many troubles: calls fail at present, or
  /// the tables and the store are suspended, or were since.
  func isTroubled(since count: Int) -> Bool {
    troubles.withLock { $0.current > 0 || $0.begun > count }
  }

  /// Whether images of all entities are removed at present, or were by steps that began later than so many.
  func isSwept(since count: Int) -> Bool {
    sweeps.withLock { $0.current > 0 || $0.begun > count }
  }

  var sweepCount: Int { sweeps.withLock { $0.begun } }

  /// Runs what removes images of all entities.
  func sweeping<Answer>(_ body: () async throws -> Answer) async rethrows -> Answer {
    sweeps.withLock { $0 = ($0.current + 1, $0.begun + 1) }
    // A step that began before the end was met by it too.
    defer { sweeps.withLock { $0 = ($0.current - 1, $0.begun + 1) } }
    return try await body()
  }

  /// Whether a step may suspend the tables, have a neighbour or let calls fail: one at a time.
  func beginsAlone() -> Bool {
    alone.withLock { isAlone in
      defer { isAlone = true }
      return !isAlone
    }
  }

  func endAlone() { alone.withLock { $0 = false } }

  var troubleCount: Int { troubles.withLock { $0.begun } }

  /// Runs what makes calls of other steps fail.
  func troubling<Answer>(_ body: () async throws -> Answer) async rethrows -> Answer {
    troubles.withLock { $0 = ($0.current + 1, $0.begun + 1) }
    defer { troubles.withLock { $0 = ($0.current - 1, $0.begun + 1) } }
    return try await body()
  }
}
