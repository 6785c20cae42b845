/// The right of flights to store and keep.
extension FlightBoard {
  /// Whether this flight's picture for `key` may be stored: not if it was removed meanwhile, not if
  /// the flight has ended, and not over a younger request's picture.
  ///
  /// To be called right before the store, in the order of the stores: a yes keeps other flights from
  /// storing older requests' pictures of other versions, unless this one is a placeholder.
  mutating func storesResult(
    _ key: ImageKey, of id: FlightID, isPlaceholder: Bool = false
  ) -> Bool {
    guard let request = requestStored(by: key, of: id) else { return false }
    for index in flights.indices where ids[index] != id && !isPlaceholder {
      flights[index]?.noteStored(key, for: request)
    }
    if look(at: id, { $0.policy }) != .normal {
      changeOthers(of: id) { other, isOlder in
        // A placeholder keeps no real picture out.
        if isPlaceholder, other.isForReal { return }
        if isOlder || other.showsKept { other.isOutdated = true }
      }
    }
    return true
  }

  private func requestStored(by key: ImageKey, of id: FlightID) -> Int? {
    guard isUnderWay(id) else { return nil }
    return flights[id.index]?.requestStored(by: key, isWaiting: isWaiting)
  }

  /// Forbids flights under way to store the pictures of a removal, or of a store by hand.
  ///
  /// - Parameter andJoining: Whether later requests for these pictures start flights of their own.
  mutating func forbidStoring(_ removal: Removal, andJoining: Bool) {
    for index in flights.indices {
      flights[index]?.forbidStoring(removal, andJoining: andJoining)
    }
  }

  /// Decides whether this flight's picture for `key`, of a request for a placeholder, is one: unless a waiter
  /// for it wants the real one (invariant 11).
  mutating func settlesAsPlaceholder(_ key: ImageKey, of id: FlightID) -> Bool {
    look(at: id) { $0.settlesAsPlaceholder(key) } ?? true
  }

  /// Decides whether this flight's original is a placeholder: unless a waiter of the flight wanted a real
  /// picture (invariant 11).
  mutating func keepsAsPlaceholder(_ id: FlightID) -> Bool {
    look(at: id) { $0.keepsAsPlaceholder() } ?? true
  }

  /// Notes that a flight asks its source now.
  mutating func noteAsked(_ id: FlightID) { look(at: id) { $0.hasAsked = true } }

  /// Whether this flight's original may be kept as that of an entity: not if that of any entity of the
  /// flight was removed meanwhile, not if the flight has ended, and not over that of a younger flight.
  ///
  /// To be called right before the original is held, in the order of the holds: a yes keeps older
  /// flights from keeping theirs, unless this one is a placeholder and theirs is not.
  mutating func keepsOriginal(of entity: ImageID, _ id: FlightID) -> Bool {
    guard look(at: id, { $0.mayKeepOriginal(of: entity) }) == true else { return false }
    let isReal = look(at: id) { $0.isForReal } == true
    changeOthers(of: id) { other, isOlder in
      if isOlder, isReal || !other.isForReal { other.keepsOriginal = false }
    }
    return true
  }

  /// Whether another flight may revalidate what this one has shown: not if its picture or its original
  /// may be stored no more, since then nothing is left to be revalidated. Changes nothing.
  func mayBeRevalidated(_ key: ImageKey, _ entity: ImageID, of id: FlightID) -> Bool {
    requestStored(by: key, of: id) != nil
      && flights[id.index]?.mayKeepOriginal(of: entity) == true
  }

  /// Changes the other flights of the same source.
  private mutating func changeOthers(
    of id: FlightID, _ change: (_ other: inout Flight, _ isOlder: Bool) -> Void
  ) {
    guard let origin = look(at: id, { $0.origin }) else { return }
    for index in flights.indices {
      guard let other = ids[index], other != id,
        flights[index]?.origin.hasSource(of: origin) == true
      else { continue }
      look(at: other) { change(&$0, other.number < id.number) }
    }
  }
}
