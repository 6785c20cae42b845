#if canImport(Darwin)
  import Dispatch
  import Foundation
  import ImageViewing

  extension ImagePlace {
    /// Creates a place whose answers come through the main queue, and which asks again for what failed
    /// when the network is back.
    ///
    /// - Parameter show: Puts on screen what it is given.
    convenience init(show: @escaping @MainActor (Sight) -> Void) {
      NetworkWatch.begin()
      self.init(
        deliver: { job in DispatchQueue.main.async { MainActor.assumeIsolated { job() } } },
        show: show)
    }

    /// The time of a tick, by the clock that all toolkits share; a player survives its being set.
    static func time(of date: Date) -> Duration { .seconds(date.timeIntervalSinceReferenceDate) }
  }
#endif
