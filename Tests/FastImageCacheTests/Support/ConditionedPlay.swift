import Foundation
import Locking
import TestSupport

@testable import FastImageCache

/// Kinds of requests that share no load, each with an entity of its own: whoever gets the image of
/// another kind has joined where it must not.
enum Kind: Int, CaseIterable {
  case plain, account, otherAccount, fields, unconstrained, inexpensive, local, kept

  init(_ request: ImageSourceRequest) {
    let scope = (request.permit as? ReachingPermit)?.scope
    switch (request.account, request.headers["X-Kind"], request.avoids, scope) {
    case (AccountID("a"), nil, [], .network): self = .account
    case (AccountID("b"), nil, [], .network): self = .otherAccount
    case (nil, "1", [], .network): self = .fields
    case (nil, nil, .constrained, .network): self = .unconstrained
    case (nil, nil, [.constrained, .expensive], .network): self = .inexpensive
    case (nil, nil, [], .local): self = .local
    case (nil, nil, [], .cache): self = .kept
    default: self = .plain
    }
  }

  var options: LoadOptions {
    var options = LoadOptions()
    switch self {
    case .plain: break
    case .account: options.account = AccountID("a")
    case .otherAccount: options.account = AccountID("b")
    case .fields: options.headers = ["X-Kind": "1"]
    case .unconstrained: options.avoids = .constrained
    case .inexpensive: options.avoids = [.constrained, .expensive]
    case .local: options.scope = .local
    case .kept: options.scope = .cache
    }
    return options
  }

  func photo(_ number: Int = 0) -> Photo {
    Photo(ImageID("\(rawValue) \(number)"), url: "test:/\(number)")
  }

  /// What the source draws for the kind.
  func pixelNumber(_ number: Int = 0) -> Int { 1 + rawValue + 16 * number }
}

/// The plainest bookkeeping of who waits for which load, while no load has asked its source.
struct ConditionedModel {
  enum Urgent {
    case holding(RequestPriority)
    case chosen(Priority)

    var priority: Priority {
      switch self {
      case .holding(let level): Priority(level.value)
      case .chosen(let priority): priority
      }
    }
  }
  struct Flight {
    let kind: Kind
    let policy: LoadOptions.CachePolicy
    var waiters: [Int: Urgent] = [:]

    var priority: Priority? { waiters.values.map(\.priority).max() }
  }

  private(set) var flights: [Int: Flight] = [:]
  private var current: [Kind: Int] = [:]
  private var lastFlight = 0

  var waiters: [Int: Kind] {
    flights.values.reduce(into: [:]) { all, flight in
      for number in flight.waiters.keys { all[number] = flight.kind }
    }
  }

  mutating func join(
    _ number: Int, _ kind: Kind, _ policy: LoadOptions.CachePolicy, _ urgent: Urgent
  ) {
    // What waits for no source waits for nothing.
    if kind == .kept { return }
    if let newest = current[kind], let flight = flights[newest], policy <= flight.policy {
      flights[newest]?.waiters[number] = urgent
      return
    }
    lastFlight += 1
    flights[lastFlight] = Flight(
      kind: kind, policy: policy, waiters: [number: urgent])
    current[kind] = lastFlight
  }

  mutating func leave(_ number: Int) {
    guard let found = flights.first(where: { $0.value.waiters[number] != nil })?.key else { return }
    flights[found]?.waiters[number] = nil
    guard let flight = flights[found], flight.waiters.isEmpty else { return }
    flights[found] = nil
    if current[flight.kind] == found { current[flight.kind] = nil }
  }
}

/// Lets requests of all conditions join and leave a cache whose only gate is taken, and its model.
final class ConditionedPlay: Sendable {
  struct Call: Hashable {
    let kind: Kind
    let priority: Priority
  }

  let fixture: Fixture
  private let door = CancellableGate()
  private let source: EncodedSource
  private let resources = LoadResources(localWidth: 1)
  private let answers = Lock<[Int: [InFlightRegistry.Outcome]]>([:])
  private let hanging: Task<CachedImage, any Error>
  private let waiters = Lock<[Int: WaiterID]>([:])

  init() async throws {
    let source = EncodedSource(need: .local) { [door] request, call in
      if call == 1 { try await door.pass() }
      return .encoded(try solid(Kind(request).pixelNumber()).pngData())
    }
    let fixture = try await Fixture(from: source) { [resources] in $0.resources = resources }
    (self.source, self.fixture) = (source, fixture)
    hanging = Task { try await fixture.cache.image(for: Photo("door"), format: .row) }
    await source.started.reaches(1)
  }

  private var gate: AdmissionQueue { resources[.local] }
  private var registry: InFlightRegistry { fixture.cache.registry }

  func join(
    _ number: Int, _ kind: Kind, _ policy: LoadOptions.CachePolicy,
    _ urgent: ConditionedModel.Urgent
  ) throws {
    var options = kind.options
    options.cachePolicy = policy
    if case .holding(let level) = urgent { options.priority = level }
    let request = try fixture.cache.request(for: kind.photo(), format: .row, options: options)
    // Another one where the request holds its own.
    let priority = if case .chosen(let priority) = urgent { priority } else { Priority.high }
    waiters.withLock { $0[number] = request.waiter }
    registry.join([request], priority) { [answers] _, outcome in
      let outcome = copy outcome
      answers.withLock { $0[number, default: []].append(outcome) }
    }
  }

  func leave(_ number: Int) {
    if let waiter = waiters.withLock({ $0[number] }) { registry.leave(waiter) }
  }

  /// Waits until those who wait for no source are answered, and all loads of the model wait at the gate.
  ///
  /// - Returns: False if there are other loads.
  func settles(_ model: ConditionedModel) async -> Bool {
    let (flightCount, waiterCount) = (model.flights.count, model.waiters.count + 1)
    while registry.load.waiters > waiterCount, !Task.isCancelled { await Task.yield() }
    guard registry.load == (flightCount + 1, waiterCount) else { return false }
    while gate.counts.waiting < flightCount, !Task.isCancelled { await Task.yield() }
    return true
  }

  /// Opens the gate; the order in which the source was called.
  func run() async throws -> [Call] {
    door.open()
    _ = try await hanging.value
    await fixture.quiet()
    return source.requests.dropFirst().map {
      Call(kind: Kind($0), priority: $0.urgency.priority)
    }
  }

  /// What a request was answered, if it was answered once.
  func answer(_ number: Int) -> InFlightRegistry.Outcome? {
    let all = answers.withLock { $0[number] ?? [] }
    return all.count == 1 ? all[0] : nil
  }

  var isFree: Bool { registry.load == (0, 0) && gate.counts == (0, 0) }
}
