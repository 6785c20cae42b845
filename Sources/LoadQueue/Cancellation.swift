import Synchronization

/// A flag that goes up once.
package final class Cancellation: Sendable {
  private let flag = Atomic(false)

  package init() {}

  package var isSet: Bool { flag.load(ordering: .acquiring) }

  package func set() { flag.store(true, ordering: .releasing) }
}
