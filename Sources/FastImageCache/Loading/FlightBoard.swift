package import Foundation

/// What a load is for: one entity, one version of its picture, one format.
package struct ImageKey: Hashable, Sendable {
  package let entity: ImageID
  package let source: ImageID
  package let format: String

  package init(entity: ImageID, source: ImageID, format: String) {
    self.entity = entity
    self.source = source
    self.format = format
  }
}

/// What loads are joined by: the source's URL, or the entity itself where there is none.
package enum FlightOrigin: Hashable, Sendable {
  case url(URL)
  case entity(ImageID)
}

/// What a removal takes away.
package enum Removal: Hashable, Sendable {
  case entity(ImageID, format: String?)
  case format(String)
  case everything

  package func covers(_ key: ImageKey) -> Bool {
    switch self {
    case .entity(let entity, let format):
      key.entity == entity && (format == nil || key.format == format)
    case .format(let format): key.format == format
    case .everything: true
    }
  }
}

/// One load, never used again after it ended.
package struct FlightID: Hashable, Sendable {
  package let number: Int
}

/// One caller waiting for one picture.
package struct WaiterID: Hashable, Sendable {
  package let number: Int
}

/// Decides which requests share a load and what the end of each one's interest means.
///
/// A pure state machine: it neither waits nor resumes nor loads. ``InFlightRegistry`` applies an
/// event and then does what the answer says.
///
/// Invariants, true between any two calls:
/// 1. Each waiter stands in exactly one product of one flight, from `join` until the call that
///    returns it.
/// 2. A flight that has delivered nothing has at least one waiter; when the last one leaves, the
///    flight leaves the board in the same call.
/// 3. A product has at least one waiter; it is forgotten with its last one, or when it is finished.
/// 4. `current[origin]` is the newest flight of its origin; older ones finish for their own waiters
///    but nobody joins them any more.
/// 5. A flight's priority is the highest among its waiters, or the last it had when none is left.
package struct FlightBoard {
  private struct Product {
    var waiters: [WaiterID: TaskPriority] = [:]
    var isTaken = false
    var storesResult = true
  }

  private struct Flight {
    let origin: FlightOrigin
    var priority: TaskPriority
    var products: [ImageKey: Product] = [:]
    var order: [ImageKey] = []
    /// All that was ever asked of this flight, by entity: it tells newer versions from older ones
    /// even when nobody waits for the older one any more.
    var asked: [ImageID: Set<ImageKey>] = [:]
    var hasDelivered = false
    /// What was removed while this flight was under way, which matters for the rest of a family.
    var removals: [Removal] = []
    /// How many wait at each priority; counted, so that neither joining nor leaving looks at the
    /// other waiters, of whom there may be thousands.
    var waiterCounts: [UInt8: Int] = [:]

    mutating func count(_ change: Int, at waiterPriority: TaskPriority) {
      let level = waiterPriority.rawValue
      waiterCounts[level, default: 0] += change
      if waiterCounts[level] == 0 { waiterCounts[level] = nil }
      priority = waiterCounts.keys.max().map { TaskPriority(rawValue: $0) } ?? priority
    }
  }

  /// What `join` did.
  package struct Joined: Equatable {
    /// The flight that the waiter now belongs to.
    package let flight: FlightID
    /// Whether that flight has to be started.
    package let isNewFlight: Bool
    /// Whether nobody had asked this flight for this picture before.
    package let isNewProduct: Bool
    /// The flight's new priority, if the waiter raised it.
    package let raisedPriority: TaskPriority?
  }

  /// What `leave` did.
  package struct Left: Equatable {
    /// The flight that the waiter belonged to.
    package let flight: FlightID
    /// Whether that flight has left the board and must be cancelled.
    package let cancelsFlight: Bool
  }

  private var flights: [FlightID: Flight] = [:]
  private var current: [FlightOrigin: FlightID] = [:]
  private var places: [WaiterID: (flight: FlightID, key: ImageKey)] = [:]
  private var lastFlight = 0

  package init() {}

  package var flightCount: Int { flights.count }
  package var waiterCount: Int { places.count }

  /// Adds a waiter to the newest flight of its origin, or to a new one.
  ///
  /// - Parameter version: The waiter's own idea of the source version of its entity in a format. It
  ///   joins a flight only if that idea agrees with all that the flight was asked for.
  package mutating func join(
    _ waiter: WaiterID, key: ImageKey, origin: FlightOrigin, priority: TaskPriority,
    version: (_ format: String) -> ImageID?
  ) -> Joined {
    precondition(places[waiter] == nil, "A waiter joins once.")
    let (id, isNewFlight) = flight(for: key, origin: origin, priority: priority, version: version)
    places[waiter] = (id, key)
    let priorityBefore = flights[id]?.priority
    let isNewProduct = flights[id]?.products[key] == nil
    if isNewProduct {
      flights[id]?.order.append(key)
      flights[id]?.asked[key.entity, default: []].insert(key)
    }
    flights[id]?.products[key, default: Product()].waiters[waiter] = priority
    flights[id]?.count(+1, at: priority)
    let isRaised = priorityBefore.map { priority > $0 } ?? false
    return Joined(
      flight: id, isNewFlight: isNewFlight, isNewProduct: isNewProduct,
      raisedPriority: isRaised ? priority : nil)
  }

  private mutating func flight(
    for key: ImageKey, origin: FlightOrigin, priority: TaskPriority,
    version: (_ format: String) -> ImageID?
  ) -> (FlightID, isNew: Bool) {
    if let id = current[origin] {
      let asked = flights[id]?.asked[key.entity] ?? []
      if asked.allSatisfy({ version($0.format) == $0.source }) { return (id, false) }
    }
    lastFlight += 1
    let id = FlightID(number: lastFlight)
    flights[id] = Flight(origin: origin, priority: priority)
    current[origin] = id
    return (id, true)
  }

  /// Ends a waiter's interest; `nil` if it has been answered already.
  package mutating func leave(_ waiter: WaiterID) -> Left? {
    guard let (id, key) = places.removeValue(forKey: waiter) else { return nil }
    guard let priority = flights[id]?.products[key]?.waiters.removeValue(forKey: waiter) else {
      return nil
    }
    flights[id]?.count(-1, at: priority)
    // A picture that nobody waits for is forgotten, so that whoever asks for it next is handed out
    // anew instead of waiting for work that was skipped.
    if flights[id]?.products[key]?.waiters.isEmpty == true { removeProduct(key, of: id) }
    let isAbandoned = flights[id].map { $0.waiterCounts.isEmpty && !$0.hasDelivered } ?? false
    if isAbandoned { remove(id) }
    return Left(flight: id, cancelsFlight: isAbandoned)
  }

  /// The pictures that somebody waits for and that were not handed out yet, oldest wish first.
  package mutating func take(_ id: FlightID) -> [ImageKey] {
    guard let flight = flights[id] else { return [] }
    let wanted = flight.order.filter { key in
      flight.products[key]?.isTaken == false
    }
    for key in wanted { flights[id]?.products[key]?.isTaken = true }
    return wanted
  }

  /// Whether this flight's result for `key` may be stored: not if it was removed meanwhile, nor if
  /// the flight was cancelled.
  package func storesResult(_ key: ImageKey, of id: FlightID) -> Bool {
    guard let flight = flights[id] else { return false }
    return flight.products[key]?.storesResult ?? !flight.removals.contains { $0.covers(key) }
  }

  /// Whether somebody waits for a picture of the flight that was not handed out.
  package func hasRequests(_ id: FlightID) -> Bool {
    flights[id]?.products.values.contains { !$0.isTaken } ?? false
  }

  /// Forbids flights under way to store pictures that are being removed now.
  package mutating func forbidStoring(_ removal: Removal) {
    for id in Array(flights.keys) {
      flights[id]?.removals.append(removal)
      for key in flights[id]?.order ?? [] where removal.covers(key) {
        flights[id]?.products[key]?.storesResult = false
      }
    }
  }

  /// The priority of a flight's hottest waiter.
  package func priority(of id: FlightID) -> TaskPriority? { flights[id]?.priority }

  /// Ends one picture of a flight, and says who has to be answered.
  package mutating func finish(_ key: ImageKey, of id: FlightID) -> [WaiterID] {
    guard let product = removeProduct(key, of: id) else { return [] }
    flights[id]?.hasDelivered = true
    for priority in product.waiters.values { flights[id]?.count(-1, at: priority) }
    return release(product)
  }

  /// Ends one picture in every flight, because it was stored by hand: says who has to be answered,
  /// and which flights left the board since nobody wants anything else of them.
  package mutating func supersede(_ key: ImageKey) -> (waiters: [WaiterID], flights: [FlightID]) {
    var waiters: [WaiterID] = []
    var abandoned: [FlightID] = []
    for id in flights.keys.sorted(by: { $0.number < $1.number }) {
      guard let product = removeProduct(key, of: id) else { continue }
      for priority in product.waiters.values { flights[id]?.count(-1, at: priority) }
      waiters += release(product)
      if flights[id].map({ $0.waiterCounts.isEmpty && !$0.hasDelivered }) ?? false {
        remove(id)
        abandoned.append(id)
      }
    }
    return (waiters, abandoned)
  }

  /// Takes a flight off the board unless somebody waits for a picture that was not handed out.
  package mutating func retire(_ id: FlightID) -> Bool {
    if hasRequests(id) { return false }
    remove(id)
    return true
  }

  /// Takes a failed flight off the board, and says who has to be told.
  package mutating func fail(_ id: FlightID) -> [WaiterID] {
    guard let flight = flights[id] else { return [] }
    remove(id)
    return flight.order.flatMap { key in flight.products[key].map { release($0) } ?? [] }
  }

  /// Takes everything off the board, and says which flights have to be cancelled and who told.
  package mutating func failAll() -> (flights: [FlightID], waiters: [WaiterID]) {
    let ids = flights.keys.sorted { $0.number < $1.number }
    return (ids, ids.flatMap { fail($0) })
  }

  @discardableResult
  private mutating func removeProduct(_ key: ImageKey, of id: FlightID) -> Product? {
    flights[id]?.order.removeAll { $0 == key }
    return flights[id]?.products.removeValue(forKey: key)
  }

  private mutating func release(_ product: Product) -> [WaiterID] {
    for waiter in product.waiters.keys { places[waiter] = nil }
    return product.waiters.keys.sorted { $0.number < $1.number }
  }

  private mutating func remove(_ id: FlightID) {
    guard let flight = flights.removeValue(forKey: id) else { return }
    if current[flight.origin] == id { current[flight.origin] = nil }
  }
}
